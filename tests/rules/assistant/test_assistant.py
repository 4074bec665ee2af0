"""Assistant files: what is marked, which rules meet, what is no fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import check_findings, findings_of

PATH = "fixer.assistant.yaml"
HEAD = "name: Fixer\npersona: You repair things.\nmaxBudgetUsd: 0.5\nloopEnabled: true\n"


def found(text: str, path: str = PATH) -> list[tuple[str, str]]:
    """Rule and marked text of every finding."""
    fixture = read_fixture(text, path, head=False)
    lines = fixture.main.text.split("\n")
    marks = []
    for one in findings_of(fixture)[path]:
        (line, column), (_, end) = one.span
        marks.append((one.rule, lines[line][column:end]))
    return marks


def criteria(type_: str, value: str | None = None, more: str = "") -> list[tuple[str, str]]:
    written = "" if value is None else f", value: {value}"
    return found(f"{HEAD}maxIterations: 1\nloopCriteria: {{type: {type_}{written}{more}}}\n")


def pattern(text: str) -> list[str]:
    return [rule for rule, _ in criteria("regex", json.dumps(text))]


def command(text: str) -> list[str]:
    return [rule for rule, _ in criteria("test_pass", json.dumps(text))]


# -- the file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- name: a\n  persona: b\n", [("AL001", "-")]),
        ("just words\n", [("AL001", "j")]),
        ("", [("AL001", "")]),
        ('name: "a\npersona: b\n', [("AL001", '"a')]),
        ("name: a\npersona: b\n---\nname: c\n", [("AL001", "---")]),
    ],
)
def test_what_cannot_be_read_gets_one_finding(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


def test_json_is_read_as_strictly_as_json_is() -> None:
    assert found('{"name": "a", "persona": "b",}', "a.assistant.json") == [("AL001", ",")]
    assert found('{"name": "a", "persona": "b", "maxIterations": 5}', "a.assistant.json") == []
    assert found('{"name": "a", "persona": "b", "maxIterations": "5"}', "a.assistant.json") == [("AL021", '"5"')]


def test_required_keys() -> None:
    assert found("persona: b\n") == [("AL002", "persona")]
    assert found("name: ''\npersona: b\n") == [("AL002", "''")]
    assert found("name: a\npersona:\n") == [("AL002", "persona")]
    assert found(f"name: {'x' * 101}\npersona: b\n") == [("AL002", "x" * 101)]
    assert found("nme: a\npersona: b\n") == [("AL003", "nme")]
    assert found("assistants:\n  - {}\n") == [("AL002", "{")]


def test_several_assistants_stand_alone_in_their_file() -> None:
    assert found("assistants:\n  - {name: a, persona: b}\nname: c\n") == [("AL003", "name")]
    assert found("assistants: nobody\n") == [("AL004", "nobody")]
    assert found("assistants:\n  - nobody\n  - {name: a, persona: b, colour: red}\n") == [
        ("AL004", "nobody"),
        ("AL003", "colour"),
    ]


def test_keys_and_extensions() -> None:
    extensions = "id: a\napprovalTimeoutSeconds: 5\nmaxTotalBudgetUsd: 2\nmaxDurationSeconds: 9\nstallAfter: 3\n"
    extensions += "retry: {attempts: 2, backoffSeconds: 1}\n"
    assert found(f"name: a\npersona: b\n{extensions}") == []
    assert found("name: a\npersona: b\nretry: {tries: 2}\n") == [("AL003", "tries")]
    assert (
        criteria("test_pass", None, ", argv: [sh, -c, 'exit 0'], timeoutSeconds: 5, cwd: x, includeOutput: true") == []
    )


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("purpose: dancing", "dancing"),
        ("purpose: Coding", "Coding"),
        ("provider: nobody", "nobody"),
        ("permissionMode: 5", "5"),
        ("loopEnabled: 'true'", "'true'"),
        ("memoryEnabled: 1", "1"),
        ("memory: ../a.md", "../a.md"),
        ("skills: pytest", "pytest"),
        ("servers: [5]", "5"),
        ("allowedTools: Read", "Read"),
        ("allowedTools: [Read, 5]", "5"),
        ("maxBudgetUsd: '1'", "'1'"),
        ("maxBudgetUsd: -1", "-1"),
        ("description: 5", "5"),
        ("stallAfter: 0", "0"),
        ("retry: 3", "3"),
        ("loopCriteria: regex", "regex"),
    ],
)
def test_values_that_their_keys_do_not_know(line: str, marked: str) -> None:
    assert ("AL004", marked) in found(f"name: a\npersona: b\n{line}\n")


@pytest.mark.parametrize("line", ["model:", "purpose: null", "description: ''", "maxBudgetUsd: 1", "allowedTools: []"])
def test_values_that_are_fine(line: str) -> None:
    assert found(f"name: a\npersona: b\n{line}\n") == []


@pytest.mark.parametrize("value", ["0", "101", "2.5", '"5"', "true", "1e3", "-3", "ten"])
def test_AB_002_iterations_out_of_range(value: str) -> None:
    assert found(f"name: a\npersona: b\nmaxIterations: {value}\n") == [("AL021", value)]


@pytest.mark.parametrize("value", ["1", "100", "0x10"])
def test_AB_003_iterations_in_range(value: str) -> None:
    assert found(f"name: a\npersona: b\nmaxIterations: {value}\n") == []


# -- the loop as a whole --------------------------------------------------------------------------


def test_a_criterion_without_a_loop() -> None:
    off = "name: a\npersona: b\nmaxIterations: 1\n"
    assert found(off + "loopEnabled: false\nloopCriteria: {type: manual}\n") == [("AL022", "loopCriteria")]
    assert found(off + "loopCriteria: null\n") == []


def test_a_loop_without_a_criterion() -> None:
    assert found(HEAD) == [("AL023", "loopEnabled")]
    assert found(HEAD + "loopCriteria:\n") == [("AL023", "loopEnabled")]
    assert found(HEAD + "loopCriteria: {type: max_iterations}\n") == []
    assert found(HEAD + "loop_criteria: {type: manual}\n") == [("AL003", "loop_criteria")]


def test_a_person_is_asked_once() -> None:
    assert found(HEAD + "loopCriteria: {type: manual}\n") == [("AL024", "manual")]
    assert found(HEAD + "loopCriteria: {type: manual}\nmaxIterations: 1\n") == []


def test_a_budget_may_come_from_three_places() -> None:
    loop = "name: a\npersona: b\nloopEnabled: true\nloopCriteria: {type: max_iterations}\n"
    assert found(loop) == [("AL025", "loopEnabled")]
    assert found(loop + "maxTotalBudgetUsd: 3\n") == []
    settings, _ = settings_of({"limits": {"budgetUsd": 5}})
    assert findings_of(read_fixture(loop, PATH, head=False), settings=settings)[PATH] == ()


def test_a_provider_that_is_set_up() -> None:
    text = "name: a\npersona: b\nprovider: openai\n"
    assert found(text) == [("AL027", "openai")]
    for kind in ("openai", "scripted", "agent-cli"):
        settings, _ = settings_of({"providers": {"openai": {"kind": kind}}})
        assert findings_of(read_fixture(text, PATH, head=False), settings=settings)[PATH] == ()


# -- type and value -------------------------------------------------------------------------------


def test_AB_004_an_unknown_type_gets_its_nearest() -> None:
    fixture = read_fixture(HEAD + "loopCriteria: {type: regexp, value: x}\n", PATH, head=False)
    [one] = findings_of(fixture)[PATH]
    assert (one.rule, "`regex`" in one.message) == ("AL005", True)
    assert criteria("Regex", "x") == [("AL005", "Regex")]


def test_a_value_that_is_no_text() -> None:
    for value in ("42", "true", "[a]", "{a: b}"):
        assert [rule for rule, _ in criteria("regex", value)] == ["AL007"]
    assert criteria("regex", "null") == [("AL008", "regex")]


def test_a_value_that_is_missing() -> None:
    assert criteria("test_pass") == [("AL008", "test_pass")]
    assert criteria("manual") == []
    assert [rule for rule, _ in found(HEAD + "loopCriteria: {type: regex, pattern: x}\n")] == ["AL003"]


def test_AB_009_a_value_that_nobody_looks_at() -> None:
    assert criteria("manual", "yes") == [("AL020", "yes")]
    assert criteria("manual", "''") == []


def test_lengths() -> None:
    assert pattern("x" * 501) == ["AL026"]
    assert pattern("x" * 500) == []
    assert [rule for rule, _ in criteria("manual", "x" * 201)] == ["AL020", "AL026"]


# -- patterns -------------------------------------------------------------------------------------


def test_AB_005_a_pattern_that_does_not_compile() -> None:
    assert pattern("(") == ["AL011"]
    assert pattern("(?<=a+)b") == ["AL011"]


def test_AB_006_an_empty_pattern() -> None:
    assert pattern("") == ["AL009"]


@pytest.mark.parametrize("text", ["x*", "(DONE)?", "DONE|", ".*", "$", "^"])
def test_patterns_that_are_found_everywhere(text: str) -> None:
    assert pattern(text) == ["AL010"]


@pytest.mark.parametrize(
    "text", ["DONE", r"^\s*$", r"\d+ passed", "a{2,}", r"\bDONE\b", "^phrase: .+$", "[^a]b", "q+?"]
)
def test_patterns_without_a_finding(text: str) -> None:
    assert pattern(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *(r"(?<n>x)", r"(?P<n>x)", "(?i)x", "(?i:x)", "(?x)x", "(?#c)x", "(?>x)", "x++", "x*+z"),
        *("x[^]", r"\qx", r"\hx", r"x\N", r"\p{L}", r"x\Z", r"\Ax", "xa{,2}"),
    ],
)
def test_what_only_one_of_two_dialects_knows(text: str) -> None:
    assert pattern(text) == ["AL012"]


def test_slashes_are_no_delimiters() -> None:
    assert pattern("/DONE/i") == ["AL013"]
    assert pattern("/usr/bin") == []


def test_a_persona_that_spells_the_pattern() -> None:
    echo = "name: a\npersona: Say DONE at the end.\nmaxBudgetUsd: 1\nloopEnabled: true\n"
    assert found(echo + "loopCriteria: {type: regex, value: done}\n") == [("AL014", "done")]
    assert [rule for rule, _ in found(echo + 'loopCriteria: {type: regex, value: "(done)?"}\n')] == ["AL010"]


def test_repetitions_of_repetitions() -> None:
    assert pattern("(a+)+b") == ["AL015"]
    assert pattern(r"(\w+\s)*END") == []


# -- commands -------------------------------------------------------------------------------------


def test_an_empty_command() -> None:
    assert command("  ") == ["AL016"]
    assert criteria("test_pass", "''", ", argv: [sh]") == []


@pytest.mark.parametrize(
    "text",
    [
        *("sh a && sh b", "sh a || sh b", "sh a | sh b", "sh a; sh b", "sh a > b", "sh a 2>&1", "sh `a`", "sh $HOME"),
        *("sh $(a)", "sh *.sh", "sh ~/a", "A=1 sh a", "sh a?.sh"),
    ],
)
def test_AB_007_what_only_a_shell_understands_is_told_once(text: str) -> None:
    assert command(text) == ["AL017"]


def test_AB_008_quotes() -> None:
    assert command('sh -k "a or b"') == ["AL018"]
    assert command("sh -k 'a|b'") == ["AL018"]
    assert command('sh "$HOME"') == ["AL017", "AL018"]


def test_commands_that_are_fine() -> None:
    for text in ("sh run.sh", "sh -c x:y", "sh http://host/?a=b", "sh HEAD~1", "sh a=b"):
        assert command(text) == []


def test_a_program_that_is_nowhere() -> None:
    assert command("surely-not-installed --all") == ["AL019"]


# -- anchors --------------------------------------------------------------------------------------


def test_a_shared_mapping_is_reported_where_it_is_written() -> None:
    check_findings(
        """
        assistants:
          - name: One
            persona: You wait.
            maxBudgetUsd: 1
            loopEnabled: true
            loopCriteria: &end {type: regex, value: "("}
            #                                       ^^^ error: AL011
          - name: Two
            persona: You wait.
            maxBudgetUsd: 1
            loopEnabled: true
            loopCriteria: *end
        """,
        path=PATH,
    )


def test_merged_keys_count() -> None:
    check_findings(
        """
        assistants:
          - &base
            name: One
            persona: You wait.
            purpose: waiting
            #        ^^^^^^^ error: AL004
          - <<: *base
            name: Two
        """,
        path=PATH,
    )


# -- clauses --------------------------------------------------------------------------------------


def fixes(text: str, rule: str, path: str = PATH) -> list[str]:
    """Titles of what is offered for the first finding of a rule."""
    found = findings_of(read_fixture(text, path, head=False))[path]
    return [fix.title for fix in next(one for one in found if one.rule == rule).fixes]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("purpose: 5", ["Add quotes"]),
        ("purpose: true", ["Add quotes"]),
        ("purpose: [coding]", []),
        ("loopEnabled: 3", []),
        ("loopEnabled: 'true'", ["Remove the quotes"]),
        ("maxBudgetUsd: &five 5\npurpose: *five", []),
    ],
)
def test_AL004_quotes_are_proposed_for_texts_only(keys: str, expected: list[str]) -> None:
    assert fixes(f"name: a\npersona: b\n{keys}\n", "AL004") == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("'1'", ["Remove the quotes"]),
        ("'100'", ["Remove the quotes"]),
        ("'101'", []),
        ("'0'", []),
        ("'٣'", []),
        ("many", []),
        ("[5]", []),
    ],
)
def test_AL021_quotes_go_where_a_number_that_fits_is_in_them(number: str, expected: list[str]) -> None:
    text = f"name: a\npersona: b\nmaxIterations: {number}\n"
    assert fixes(text, "AL021") == expected


@pytest.mark.parametrize(
    ("number", "start"), [(1, "an iteration without"), (2, "up to 2 iterations without"), (100, "up to 100 iterations")]
)
def test_AL025_says_how_many_iterations_cost_something(number: int, start: str) -> None:
    text = f"name: a\npersona: b\nloopEnabled: true\nmaxIterations: {number}\nloopCriteria: {{type: max_iterations}}\n"
    [one] = findings_of(read_fixture(text, PATH, head=False))[PATH]
    assert one.rule == "AL025"
    assert one.message.startswith(start)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("loopCriteria: {type: manual}\nmaxIterations: 1", ["Enable the loop"]),
        ("loopEnabled: false\nloopCriteria: {type: manual}\nmaxIterations: 1", []),
    ],
)
def test_AL022_the_loop_is_switched_on_where_nothing_says_otherwise(keys: str, expected: list[str]) -> None:
    assert fixes(f"name: a\npersona: b\n{keys}\n", "AL022") == expected


def test_what_is_merged_into_an_assistant_is_left_alone() -> None:
    text = """
assistants:
  - name: a
    persona: b
    note: &manual {loopCriteria: {type: manual}, maxIterations: 1}
  - {<<: *manual, name: c, persona: d}
  - name: e
    persona: f
    note: &often {loopEnabled: true, maxBudgetUsd: 1, loopCriteria: {type: manual}, maxIterations: 3}
  - {<<: *often, name: g, persona: h}
"""
    found = findings_of(read_fixture(text, PATH, head=False))[PATH]
    assert [(one.rule, one.fixes) for one in found if one.rule != "AL003"] == [("AL022", ()), ("AL024", ())]


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        ("{type: regex}", ["AL008"]),
        ("{type: regex, argv: [a]}", ["AL008"]),
        ("{type: test_pass}", ["AL008"]),
        ("{type: test_pass, argv: [python3]}", []),
        ("{type: test_pass, value: null}", ["AL008"]),
        ("{type: regex, value: 5}", ["AL007"]),
    ],
)
def test_AL008_exact_words_are_a_command_and_no_pattern(criterion: str, expected: list[str]) -> None:
    assert sorted(rule for rule, _ in found(f"{HEAD}loopCriteria: {criterion}\n")) == sorted(expected)


def test_AL014_words_are_split_where_a_shell_would_do_nothing_else() -> None:
    def offered(command: str) -> list[str]:
        return fixes(f"{HEAD}loopCriteria: {{type: test_pass, value: {json.dumps(command)}}}\n", "AL018")

    assert offered('python3 x.py -k "a or b"') == ["List the exact arguments in `argv`"]
    assert offered('python3 x.py -k "a or b') == []
    assert offered('python3 x.py -k "a" | tail') == []


def test_AL019_a_file_that_is_there_counts_though_nobody_may_run_it() -> None:
    assert command(__file__) == []
    assert command(f"{__file__}.missing") == ["AL019"]


def test_AL024_counts_with_the_limit_of_the_settings() -> None:
    def told(limits: dict[str, int], iterations: str) -> list[str]:
        text = f"{HEAD}{iterations}loopCriteria: {{type: manual}}\n"
        found = findings_of(read_fixture(text, PATH, head=False), settings=settings_of({"limits": limits})[0])[PATH]
        return [one.message for one in found if one.rule == "AL024"]

    end = "Approve and reject both end this loop, so `maxIterations: {}` has no effect"
    assert told({}, "") == [end.format(10)]
    assert told({}, "maxIterations: 4\n") == [end.format(4)]
    assert told({"maxIterations": 3}, "maxIterations: 4\n") == [end.format(3)]
    assert told({"maxIterations": 5}, "maxIterations: 4\n") == [end.format(4)]
    assert told({"maxIterations": 1}, "maxIterations: 4\n") == []
    assert told({"maxIterations": 3}, "maxIterations: many\n") == []


def test_AL026_speaks_of_values_whose_kind_is_known() -> None:
    assert "AL026" in [rule for rule, _ in criteria("test_pass", json.dumps("x" * 201))]
    assert "AL026" not in [rule for rule, _ in criteria("test_pass", json.dumps("x" * 200))]
    told = found(f"{HEAD}maxIterations: 1\nloopCriteria: {{value: {json.dumps('x' * 600)}}}\n")
    assert "AL026" not in [rule for rule, _ in told]


def test_AL027_speaks_of_the_two_services_alone() -> None:
    for provider, told in (("openai", ["AL027"]), ("perplexity", ["AL027"]), ("claude-code", []), ("", [])):
        text = f"name: a\npersona: b\nprovider: {provider}\n"
        assert [rule for rule, _ in found(text) if rule == "AL027"] == told
    settings = settings_of({"providers": {"openai": {"models": ["gpt-own"]}}})[0]
    text = "name: a\npersona: b\nprovider: openai\n"
    assert not findings_of(read_fixture(text, PATH, head=False), settings=settings)[PATH]


def test_AL019_the_command_is_looked_for_where_it_will_run(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "run-it").touch()

    def told(value: str, more: str) -> list[str]:
        text = f"{HEAD}maxIterations: 1\nloopCriteria: {{type: test_pass, value: {value}{more}}}\n"
        document = Document.open(f"file://{tmp_path}/{PATH}", text)
        found = Checker().findings(Workspace.of(Roots(str(tmp_path)), [document]), document)
        return [one.rule for one in found if one.rule == "AL019"]

    assert told("./run-it", ", cwd: app") == []
    assert told("./run-it", "") == ["AL019"]
    assert told("./app/run-it", "") == []
    assert told("./app/run-it", ", cwd: app") == ["AL019"]
    assert told("sh run-it", "") == []


def test_a_command_of_blanks_is_empty_and_nothing_else() -> None:
    assert command("  ") == ["AL016"]
    assert command("no-such-test-runner --all") == ["AL019"]
    argv = criteria("test_pass", '"no-such-test-runner"', ", argv: [sh, -c, 'true']")
    assert "AL019" not in [rule for rule, _ in argv]


def named(tmp_path: Path, text: str, settings: str = "") -> list[tuple[str, str]]:
    documents = [Document.open(f"file://{tmp_path}/{PATH}", f"name: a\npersona: b\n{text}")]
    documents += [Document.open(f"file://{tmp_path}/.loop-ls.yaml", settings)] if settings else []
    workspace = Workspace.of(Roots(str(tmp_path)), documents, settings_of(yaml.safe_load(settings) or {})[0])
    return [(one.rule, one.message) for one in Checker().findings(workspace, documents[0]) if one.rule != "AL022"]


def test_AL028_a_server_that_the_settings_do_not_have_is_an_error(tmp_path: Path) -> None:
    servers = "servers: {tickets: {command: [x]}}\n"
    assert named(tmp_path, "servers: [tickets]\n", servers) == []
    assert named(tmp_path, "servers: [ticket]\n", servers) == [
        ("AL028", "Unknown MCP server `ticket`; did you mean `tickets`?")
    ]
    [(_, told)] = named(tmp_path, "servers: [mail]\n", servers)
    assert told == "Unknown MCP server `mail`; add it under `servers` in `.loop-ls.yaml`"


def test_AL029_a_skill_without_its_file_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "skills/pytest").mkdir(parents=True)
    (tmp_path / "skills/pytest/SKILL.md").write_text("One at a time.")
    (tmp_path / "skills/empty").mkdir()
    assert named(tmp_path, "skills: [pytest]\n") == []
    assert named(tmp_path, "skills: [pytests, empty]\n") == [
        ("AL029", "Unknown skill `pytests`; did you mean `pytest`?"),
        ("AL029", "Unknown skill `empty`; there is no `skills/empty/SKILL.md`"),
    ]


def test_AL028_AL029_a_list_that_two_share_is_told_once(tmp_path: Path) -> None:
    text = "assistants:\n  - {name: a, persona: b, servers: &s [x]}\n  - {name: c, persona: d, servers: *s}\n"
    document = Document.open(f"file://{tmp_path}/{PATH}", text)
    found = Checker().findings(Workspace.of(Roots(str(tmp_path)), [document]), document)
    assert [one.rule for one in found] == ["AL028"]


def test_AL029_where_there_is_no_folder_of_skills_they_are_kept_elsewhere(tmp_path: Path) -> None:
    assert named(tmp_path, "skills: [pytest]\n") == []
    (tmp_path / "skills").mkdir()
    assert named(tmp_path, "skills: [pytest]\n") == [
        ("AL029", "Unknown skill `pytest`; there is no `skills/pytest/SKILL.md`")
    ]
