"""The settings of a project as a file that is checked (LS001 to LS009)."""

from __future__ import annotations

import pytest

from loop_ls.testing.fixture import HEAD, read_fixture
from tests.rules.checking import check_findings, findings_of

PATH = ".loop-ls.yaml"


def codes(text: str) -> list[str]:
    return [one.rule for one in findings_of(read_fixture(text, PATH, head=False))[PATH]]


def test_every_kind_of_fault_at_its_place() -> None:
    check_findings(
        """
        workflowRoots: [../out, nowhere]
        #               ^^^^^^ information: LS007 outside the workspace
        #                       ^^^^^^^ information: LS007 does not match a folder
        rules: {WF115: off, WF9999: off, WF301: loud}
        #                   ^^^^^^ warning: LS005
        #                                       ^^^^ error: LS003
        providers:
          house:
            kind: openapi
            #     ^^^^^^^ error: LS006 openai
            maxConcurrency: 0
            #               ^ error: LS003
            baseurl: http://127.0.0.1
        #   ^^^^^^^ warning: LS002 baseUrl
        limits: {wallClock: 10}
        #                   ^^ error: LS003
        """,
        path=PATH,
    )


def test_names_that_people_choose_are_free() -> None:
    text = """
    providers: {anything: {kind: openai}}
    roles: {critic: {access: readonly}}
    servers: {files: {command: [npx, server], env: {DEPTH: "3"}}}
    enhance: {workflows: {team/review: {enabled: true}}}
    """
    assert codes(text) == []


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "limits:\n", "judge: {provider: a, model: b, local: true}\n"])
def test_little_is_enough(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize("text", ["- a\n", "words\n", "limits: {a: b\n", "a: b\n---\nc: d\n"])
def test_what_cannot_be_read_is_told_alone(text: str) -> None:
    assert codes(text) == ["LS001"]


@pytest.mark.parametrize(
    "text",
    [
        "providers: {a: {apiKey: abc}}",
        "providers: {a: {api_key: abc}}",
        "providers: {a: {token: 12345}}",
        "providers: {a: {apiKeyEnv: sk-abcdefghijklmnopqrstuv}}",
        "servers: {a: {env: {GITHUB_TOKEN: abc}}}",
        "servers: {a: {headers: {X: 'Bearer abcdefghijkl'}}}",
        "servers: {a: {args: [--key, ghp_abcdefghijklmnopqrstuvwx]}}",
        "password: abc",
        "engine: {databaseUrl: 'postgresql://me:secret@host/db'}",
    ],
)
def test_a_secret_is_told_as_nothing_else(text: str) -> None:
    assert codes(text) == ["LS004"]


@pytest.mark.parametrize(
    "text",
    [
        "providers: {a: {apiKeyEnv: OPENAI_API_KEY}}",
        "servers: {a: {env: {GITHUB_TOKEN: '${GITHUB_TOKEN}'}}}",
        "servers: {a: {headers: {Authorization: 'Bearer ${TOKEN}'}}}",
        "engine: {databaseUrl: 'postgresql://host/db'}",
    ],
)
def test_what_only_names_a_variable_is_no_secret(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("judge: yes\n", ["LS003"]),
        ("roles:\n  - critic\n", ["LS003"]),
        ("assist: {model: 4}\n", ["LS003"]),
        ("providers: {a: {kind: [openai]}}\n", ["LS003"]),
        ("engine: {port: 70000}\n", ["LS003"]),
        ("roles: {a: {access: everything}}\n", ["LS003"]),
        ("limits: {maxIterations: 1, maxIterations: 2}\n", ["LS003"]),
        ("enhance: {fallbackPool: [{provider: a, model: b}]}\n", []),
        ("enhance: {fallbackPool: [{provider: a}]}\n", ["LS003"]),
        ("enhance: {workflows: {x: {fallbackPool: [{provider: a, modl: b}]}}}\n", ["LS002"]),
        ("enhance: {fallbackPool: a}\n", ["LS003"]),
        ("providers: {a: {kind: openai, cli: [x]}}\nrules: {rl004: off}\n", ["LS005"]),
    ],
)
def test_values(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("provider: anthropic\n", []),
        ("provider: [anthropic]\n", []),
        ("limit: 5\n", []),
        ("provider: {own: {kind: openai}}\n", ["providers"]),
        ("provider:\n", ["providers"]),
        ("limits: {maxIteration: 5}\n", ["maxIterations"]),
    ],
)
def test_LS002_a_key_becomes_only_one_that_takes_its_value(text: str, better: list[str]) -> None:
    [found] = findings_of(read_fixture(text, PATH, head=False))[PATH]
    assert found.rule == "LS002"
    assert [fix.title for fix in found.fixes] == [f"Change to `{name}`" for name in better]


def test_a_folder_of_workflows_that_exists_is_reached() -> None:
    check_findings(
        """
        #- .loop-ls.yaml
        workflowRoots: [flows, "fl*/sub"]
        #                      ^^^^^^^^^ information: LS007
        #- flows/greet.yaml
        steps:
          - {name: greet, run: "Greet {{input}}"}
        """
    )


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ("{input: -3, output: -15}", ["has a negative `input`", "has a negative `output`"]),
        ("{input: 3}", ["needs `output` too"]),
        ("{input: 3, outptu: 15}", ["did you mean `output`?"]),
        ("{input: 3, output: 15, cached: 1}", ["expected `input` and `output`"]),
        ("{}", ["needs `input` and `output` too"]),
        ("{input: .nan, output: 15}", ["needs an amount in dollars for `input`"]),
        ("{input: 3, output: .inf}", ["needs an amount in dollars for `output`"]),
        ("{input: true, output: 15}", ["needs an amount in dollars for `input`"]),
        ('{input: "3", output: 15}', ["needs an amount in dollars for `input`"]),
        ("3", ["must be a mapping"]),
        ("[3, 15]", ["must be a mapping"]),
    ],
)
def test_a_price_that_would_make_calls_free_is_an_error(price: str, said: list[str]) -> None:
    text = f"providers:\n  house: {{kind: openai, baseUrl: 'https://x.example/v1', price: {price}}}\n"
    found = findings_of(read_fixture(text, PATH, head=False))[PATH]
    assert [(one.rule, str(one.severity)) for one in found] == [("LS008", str(found[0].severity))] * len(said)
    assert [words in one.message for one, words in zip(found, said, strict=True)] == [True] * len(said), found


def test_a_price_may_be_whole_broken_or_nothing() -> None:
    for price in ("{input: 3, output: 15}", "{input: 0.5, output: 0}", "{output: 1e2, input: 0}"):
        assert codes(f"providers: {{house: {{kind: openai, price: {price}}}}}\n") == []


@pytest.mark.parametrize(
    ("keys", "rule", "expected"),
    [
        ("kind: openapi", "LS006", ["Change to `openai`"]),
        ("kind: zzzzzz", "LS006", []),
        ("kind: &kind openapi", "LS006", ["Change to `openai`"]),
        ("kind: openai, apiKey: HOUSE_API_KEY", "LS004", ["Change to `apiKeyEnv`"]),
        ("kind: openai, api_key: HOUSE_API_KEY", "LS004", ["Change to `apiKeyEnv`"]),
        ("kind: openai, apiKeyEnv: OTHER, apiKey: HOUSE_API_KEY", "LS004", []),
        ("kind: openai, apiKey: 0123456789abcdef", "LS004", []),
    ],
)
def test_what_is_proposed_for_a_provider(keys: str, rule: str, expected: list[str]) -> None:
    found = findings_of(read_fixture(f"providers: {{house: {{{keys}}}}}\n", PATH, head=False))[PATH]
    assert [fix.title for fix in next(one for one in found if one.rule == rule).fixes] == expected


def test_LS007_an_entry_without_a_text_leads_nowhere_and_is_another_fault() -> None:
    assert codes("workflowRoots:\n  -\n  - nowhere\n") == ["LS007"]
    assert codes("workflowRoots: nowhere\n") == ["LS003"]
    assert codes("workflowRoots: [{a: b}, nowhere]\n") == ["LS003", "LS007"]


def test_LS005_a_rule_one_letter_away_is_meant_and_no_other() -> None:
    def said(name: str) -> str:
        [finding] = findings_of(read_fixture(f"rules: {{{name}: off}}\n", PATH, head=False))[PATH]
        return finding.message.partition("; ")[2]

    assert [said(name) for name in ("WF115x", "wf115", "wf115x")] == ["did you mean `WF115`?"] * 3
    assert [said(name) for name in ("WF115xy", "wf115xy")] == ["`loop-ls explain --list` shows all"] * 2


def test_LS003_says_which_word_was_meant() -> None:
    def said(level: str) -> str:
        [one] = findings_of(read_fixture(f"rules: {{WF115: {level}}}\n", PATH, head=False))[PATH]
        return one.message

    assert said("hnit").endswith("did you mean `hint`?")
    assert "did you mean" not in said("entirely-else")
    assert codes("rules: {WF115: hint}\n") == []
    assert codes("rules: {WF115: }\n") == []


@pytest.mark.parametrize(
    "path", ["../flow.yaml", "/flow.yaml", "a/../flow.yaml", "~/flow.yaml", "a\\\\b.yaml", "c:b.yaml"]
)
def test_LS009_paths_that_leave_the_workspace(path: str) -> None:
    for text in (f'enhance: {{files: ["{path}"]}}', f'enhance: {{workflows: {{main: {{files: ["{path}"]}}}}}}'):
        assert codes(text) == ["LS009"]


def test_LS009_a_file_that_is_no_workflow_of_the_workspace() -> None:
    told = "enhance:\n  files: [parts/draft.yaml, parts/drfat.yaml, other.yaml]\n"
    flow = f"#- parts/draft.yaml\n{HEAD}steps:\n  - {{name: a, run: Say it}}\n"
    found = findings_of(read_fixture(told + flow, PATH, head=False))[PATH]
    assert [one.rule for one in found] == ["LS009", "LS009"]
    assert "did you mean `parts/draft.yaml`?" in found[0].message
    assert [len(one.fixes) for one in found] == [1, 0]


def test_LS009_leaves_the_patterns_of_protected_files_alone() -> None:
    assert codes('protect: {files: ["golden/**"], allow: [package.json]}\n') == []


def test_LS007_says_whether_a_pattern_leads_out_or_to_nothing() -> None:
    def said(pattern: str) -> str:
        [one] = findings_of(read_fixture(f"workflowRoots: ['{pattern}']\n", PATH, head=False))[PATH]
        return one.message

    for pattern in ("../flows", "a/../flows", "/flows", "..\\flows"):
        assert "is outside the workspace" in said(pattern)
    assert "does not match a folder of the workspace" in said("flows")


def test_values_with_nothing_written_have_no_wrong_type() -> None:
    for text in ("limits: {wallClock: ~}\n", "limits: {maxIterations: }\n", "judge: {provider: ~, model: b}\n"):
        assert "LS003" not in codes(text)
    assert codes("limits: {maxIterations: ''}\n") == ["LS003"]


def test_LS011_a_workflow_that_is_not_there_is_told_where_there_are_some() -> None:
    flow = "#- draft.yaml\n$schema: workflow/v2.0\nname: draft\nversion: 1.0.0\nsteps: [{name: a, run: b}]\n"
    switched = "enhance: {workflows: {NAME: {pauseBetweenRounds: true, budgetCapUsd: 1}}}\n"
    assert codes(switched.replace("NAME", "drfat") + flow) == ["LS011"]
    assert codes(switched.replace("NAME", "draft") + flow) == []
    assert codes(switched.replace("NAME", "drfat")) == [], "they may be written later"
