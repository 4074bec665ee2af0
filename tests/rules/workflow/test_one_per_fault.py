"""One fault, one finding: what follows from a fault is not told beside it."""

from __future__ import annotations

import pytest

from loop_ls.index.document import Document
from loop_ls.rules.engine.checker import Checker
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import document_of, findings_of, workspace_of

HEAD = "steps:\n  - name: research\n    run: 'Find {{input}}'\n"


def rules(text: str) -> list[tuple[str, str]]:
    return [(one.rule, one.message) for one in findings_of(read_fixture(text))["flow.yaml"]]


@pytest.mark.parametrize(
    "written",
    ["    modle: [", "    mod el: 'x", "    tem:{", "      x", "    x: y: z", "    run2: {"],
)
def test_a_line_that_cannot_be_read_is_told_once(written: str) -> None:
    assert [rule for rule, _ in rules(f"{HEAD}{written}\n")] == ["WF001"]


def test_other_lines_of_a_broken_file_keep_their_findings() -> None:
    found = rules(f"{HEAD}    modle: x\n    timeout: 'x\n")
    assert [rule for rule, _ in found] == ["WF006", "WF001"]


def test_a_misspelt_need_is_not_missed_as_well() -> None:
    last = "  - name: report\n    needs: [{}]\n    run: 'Report on {{{{research}}}}'\n"
    assert [rule for rule, _ in rules(HEAD + last.format("reserach"))] == ["WF301"]
    assert [rule for rule, _ in rules(HEAD + last.format("other"))] == ["WF301", "WF304"]


@pytest.mark.parametrize(("written", "meant"), [("templ", "template"), ("conse", "consensus"), ("retr", None)])
def test_WF006_a_key_that_was_begun_is_the_one_that_goes_on_like_it(written: str, meant: str | None) -> None:
    told = [message for rule, message in rules(f"{HEAD}    {written}: x\n") if rule == "WF006"]
    assert (f"did you mean `{meant}`?" if meant else "expected `name`") in told[0]


def test_of_two_reasons_at_one_place_it_is_always_the_same() -> None:
    text = "execution: {provider: ollac: *x\n  *x : [ama, model: llama3.2}\n"
    assert len({tuple(rules(HEAD + text)) for _ in range(20)}) == 1


LOOP = "loops:\n  - name: polish\n    workflow: flow\n    max_iterations: 3\n    until: The reply says READY\n"


@pytest.mark.parametrize(
    ("written", "emptied", "rule"),
    [
        ("until: The reply says READY", "until:", "WF405"),
        ("max_iterations: 3", "max_iterations:", "WF403"),
        ("workflow: flow", "workflow:", "WF402"),
        ("until: The reply says READY", "mode: iterate\n    items:", "WF406"),
    ],
)
def test_an_empty_value_that_is_asked_for_is_told_once(written: str, emptied: str, rule: str) -> None:
    text = LOOP.replace(written, emptied)
    told = [one for one in rules(text) if one[0] not in ("WF604", "WF417")]
    assert [code for code, _ in told] == [rule]
    assert told[0][1].startswith("Empty `")


def test_an_empty_value_that_nobody_asks_for_is_told() -> None:
    assert ("WF009", "`timeout` is empty") in rules(f"{HEAD}    timeout:\n")
    assert "WF009" not in [rule for rule, _ in rules("steps:\n  - name: research\n    run:\n")]


@pytest.mark.parametrize(
    ("mode", "rule"),
    [
        ("template: flow", "WF007"),
        ("run: [text]", "WF007"),
        ("run: {{input}}", "WF007"),
        ("loop: text", "WF007"),
        ("run: ''", "WF203"),
        ("template: {}", "WF205"),
    ],
)
def test_WF215_nobody_misses_the_result_of_a_step_that_cannot_be_read(mode: str, rule: str) -> None:
    steps = "steps:\n  - name: first\n    {}\n  - {{name: last, run: '{{{{input}}}}'}}\n"
    assert [code for code, _ in rules(steps.format(mode))] == [rule]
    assert [code for code, _ in rules(steps.format("run: '{{input}}'"))] == ["WF215"]


@pytest.mark.parametrize("key", ["needs", "servers", "skills"])
def test_a_dash_with_nothing_behind_it_is_told(key: str) -> None:
    text = f"{HEAD}  - name: report\n    run: '{{{{research}}}}'\n    {key}:\n      - research\n      -\n"
    assert ("WF009", f"Empty entry in `{key}`") in rules(text)
    assert "WF009" not in [rule for rule, _ in rules(text.removesuffix("      -\n"))]


def test_a_dash_of_mappings_with_nothing_behind_it_is_told() -> None:
    written = "    providers:\n      -\n      - {provider: ollama, model: llama3.2}\n"
    assert ("WF009", "Empty entry in `providers`") in rules(HEAD + written)


CALL = (
    "loops:\n  - {{name: polish, workflow: draft, max_iterations: 3, until: '{}', with: {{text: '{}'}}}}\n"
    "#- draft.yaml\nsteps:\n  - {{name: improve, run: 'Improve {{{{text}}}}, write READY below it'}}\n"
)
LAST = "{{loop.last.output}}"


@pytest.mark.parametrize(
    ("until", "rule"),
    [
        ("{{loop.last.outputs}} says READY", "WF503"),
        ("{{polish.output}} says READY", "WF503"),
        ("{{last.output}} says READY", "WF503"),
        ("{{loop.current}} says READY", "WF507"),
        ("{{loop.output}} says READY", "WF702"),
    ],
)
def test_a_variable_of_a_condition_is_told_of_once(until: str, rule: str) -> None:
    told = [code for code, _ in rules(CALL.format(until, LAST)) if code != "WF417"]
    assert told == [rule]


@pytest.mark.parametrize("text", ["{{loop.last.outputs}}", "{{last.output}}", "{{polish.output}}", "{{Loop.history}}"])
def test_a_misspelt_variable_hands_over_what_it_means(text: str) -> None:
    """WF706 would be a consequence."""
    told = [code for code, _ in rules(CALL.format("It says READY", text)) if code != "WF417"]
    assert told == ["WF503"]
    told = [code for code, _ in rules(CALL.format("It says READY", "{{input}}")) if code != "WF417"]
    assert told == ["WF706"]


def test_the_own_output_of_a_step_is_not_proposed_for_itself() -> None:
    told = rules("steps:\n  - {name: a, run: '{{input}} {{a.output}}'}\n")
    assert [code for code, _ in told] == ["WF503"]
    assert "did you mean" not in told[0][1]


@pytest.mark.parametrize("name", ["01_setup", "a/b", "a\u200bb", "a:b", "a b", "a.b"])
def test_WF217_what_cannot_stand_in_braces(name: str) -> None:
    text = f'steps:\n  - {{name: "{name}", run: "{{{{input}}}}"}}\n'
    assert [rule for rule, _ in rules(text)] == ["WF217"]
    assert rules(text.replace(name, "überblick-2_a")) == []


@pytest.mark.parametrize("written", ["env.", "step.", "research..text", "loop.output.", " research. "])
def test_WF504_a_dot_too_many_is_told(written: str) -> None:
    text = f"{HEAD}  - {{name: report, needs: [research], run: 'On {{{{{written}}}}}'}}\n"
    assert [rule for rule, _ in rules(text) if rule != "WF215"] == ["WF504"]


@pytest.mark.parametrize("written", [".Names", ".Values.image", "Names.", "..."])
def test_dots_of_other_languages_are_left_alone(written: str) -> None:
    assert rules(f"steps:\n  - {{name: report, run: 'On {{{{{written}}}}} {{{{input}}}}'}}\n") == []


def test_a_name_whose_signs_nobody_sees_is_not_proposed() -> None:
    text = "steps:\n  - name: |\n      st\n    run: x\n  - name: b\n    needs: [st]\n    run: 'On {{input}}'\n"
    assert [message for rule, message in rules(text) if rule == "WF301"] == ["Unknown step or loop `st` in `needs`"]


@pytest.mark.parametrize(
    "written", ["needs: [research, q", "needs: [q", "needs: [q, zz, ", "needs: [research]\n    servers: [a, {b: c"]
)
def test_behind_an_open_bracket_nothing_is_judged(written: str) -> None:
    last = f"  - name: report\n    {written}\n    run: 'Report on {{{{research}}}}'\n"
    assert [rule for rule, _ in rules(HEAD + last)] == ["WF001"]
    assert "WF301" in [rule for rule, _ in rules(HEAD + last.replace(written, "needs: [q]"))]


@pytest.mark.parametrize(
    "text",
    [
        "steps:\n  - name: a\n\u00a0\u00a0  run: x {{input}}\n",
        "steps:\n\u00a0\u00a0- name: a\n\u00a0\u00a0\u00a0\u00a0run: x {{input}}\n",
        "steps:\n  - name: a\n    run:\u00a0x {{input}}\n",
        "env:\n\u00a0 A: b\nsteps:\n  - name: a\n    run: x {{env.A}}\n",
        "steps:\n  - name: a\n\u3000\u3000\u3000\u3000run: x {{input}}\n",
        "steps:\n  - name: a\n\u200b    run: x {{input}}\n",
        "steps:\n  - name: a\n    run: x {{input}}\n\u00a0\n",
    ],
)
def test_what_looks_like_a_blank_and_is_none_is_named_and_mended(text: str) -> None:
    found = findings_of(read_fixture(text))["flow.yaml"]
    assert [(one.rule, one.span.end > one.span.start) for one in found] == [("WF001", True)]
    assert "U+" in found[0].message
    document = Document.open("file:///ws/flow.yaml", read_fixture(text).main.text)
    assert [element.name for element in document.elements] == ["a"]
    mended = document.text
    for edit in reversed(found[0].fixes[0].edits(document)):
        mended = mended.edit(edit.span, edit.text)
    assert findings_of(read_fixture(str(mended)))["flow.yaml"] == ()


def test_a_no_break_space_in_a_text_is_no_fault() -> None:
    assert rules("steps:\n  - name: a\n    run: |\n      10\u00a0EUR\n      \u00a0and {{input}}\n") == []


def test_needs_that_is_no_list_is_told_once() -> None:
    last = "  - name: report\n    needs: research\n    run: 'Report on {{research}}'\n"
    assert [rule for rule, _ in rules(HEAD + last)] == ["WF007"]
    parallel = "execution: {provider: ollama, model: llama3.2, parallel: true}\n"
    assert [rule for rule, _ in rules(parallel + HEAD + last)] == ["WF007"]


def test_constants_of_an_env_that_is_no_mapping_are_not_missed() -> None:
    assert [rule for rule, _ in rules("env:\n  - A=b\nsteps:\n  - {name: a, run: 'x {{env.A}}'}\n")] == ["WF007"]


def test_keys_stand_where_a_dash_without_a_space_has_them() -> None:
    text = "steps:\n  -name: a\n   run: x {{input}}\n   timeout: 5s\n  - name: b\n    run: y {{a}}\n    needs: [a]\n"
    assert [rule for rule, _ in rules(text)] == ["WF001"]


@pytest.mark.parametrize(
    ("written", "mended"),
    [
        ("run: {{input}} please", 'run: "{{input}} please"'),
        ("run: Summarise this: {{input}}", 'run: "Summarise this: {{input}}"'),
        ("run: @{{input}} # why", 'run: "@{{input}}" # why'),
        ('run: say: "{{input}}"', 'run: "say: \\"{{input}}\\""'),
        ("run: say: {{input}}\n      and more", None),
    ],
)
def test_quotes_that_are_missing_are_put_around_the_text(written: str, mended: str | None) -> None:
    text = f"steps:\n  - name: a\n    {written}\n"
    fixture = read_fixture(text)
    workspace = workspace_of(fixture)
    document = document_of(workspace, "flow.yaml")
    [one] = Checker().findings(workspace, document)
    edits = one.fixes[0].edits(document)
    after = document.text
    for edit in edits:
        after = after.edit(edit.span, edit.text)
    if mended is None:
        assert str(after) == fixture.main.text
    else:
        assert str(after) == fixture.main.text.replace(written, mended)
        assert findings_of(read_fixture(str(after)))["flow.yaml"] == ()


@pytest.mark.parametrize(("written", "better"), [("30", "30s"), ("5 m", "5m"), ("1m 30s", "1m30s"), ("1 day", None)])
def test_WF008_what_was_probably_meant(written: str, better: str | None) -> None:
    [one] = findings_of(read_fixture(f"{HEAD}    timeout: {written}\n"))["flow.yaml"]
    assert [fix.title for fix in one.fixes] == ([f"Change to `{better}`"] if better else [])


@pytest.mark.parametrize("text", ["{{#if x}} y {{/if}}", "## Part {#intro}", "a{#b}c", "{#}"])
def test_WF505_other_braces_are_no_tags(text: str) -> None:
    assert rules(f"steps:\n  - name: a\n    run: |\n      {{{{input}}}} {text}\n") == []


@pytest.mark.parametrize(
    "text", ["{% if x %}", "{# a remark with {{input}} #}", "{# a remark\n      that ends here #}"]
)
def test_WF505_tags(text: str) -> None:
    assert [rule for rule, _ in rules(f"steps:\n  - name: a\n    run: |\n      {{{{input}}}}\n      {text}\n")] == [
        "WF505"
    ]


@pytest.mark.parametrize(
    ("condition", "rule", "words"),
    [
        ("research == 'x'", "WF214", "names in braces"),
        ("true", "WF214", "always true"),
        ("{{research}} == {{research}} == x", "WF213", "this comparison"),
        ("research && x", "WF213", "`&&` is not supported"),
        ("{{research}} == 'x'", None, ""),
    ],
)
def test_conditions_of_other_languages(condition: str, rule: str | None, words: str) -> None:
    last = f'  - name: report\n    needs: [research]\n    if: "{condition}"\n    run: "On {{{{research}}}}"\n'
    found = rules(HEAD + last)
    assert [code for code, _ in found] == ([rule] if rule else [])
    assert not rule or words in found[0][1]


MISSPELT = """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: Misspelt in every place
execution:
  provider: ollama
  model: llama3.2
env:
  TONE: warm
steps:
  - name: research
    run: "Find {{input}} in a {{env.TONE}} way"
    timeout: 5s
  - name: report
    needs: [research, polish]
    template:
      name: other
      with: {text: "{{research}}", more: "{{drafts}} {{polish}} {{loop.iteration}}"}
loops:
  - name: polish
    workflow: other
    with: {text: "{{research}}", more: "{{loop.last.output}}"}
    max_iterations: 3
    until: The reply says READY
    accumulate: drafts
#- other.yaml
$schema: workflow/v2.0
name: other
version: 1.0.0
description: Is called
execution: {provider: ollama, model: llama3.2}
steps:
  - {name: only, run: "Say READY for {{text}} and {{more}}"}
"""


@pytest.mark.parametrize(
    "line",
    [number for number, line in enumerate(MISSPELT.split("\n")) if number and ":" in line and number < 25],
)
def test_a_misspelt_key_is_told_once_and_counts_as_what_was_meant(line: int) -> None:
    lines = MISSPELT.split("\n")
    key = lines[line].strip().removeprefix("- ").partition(":")[0]
    if key == "TONE":
        return  # a name that somebody chose
    lines[line] = lines[line].replace(f"{key}:", f"{key[:-2]}{key[-1]}{key[-2]}:", 1)
    found = findings_of(read_fixture("\n".join(lines), head=False))
    assert [(one.rule, f"`{key}`" in one.message) for one in found["flow.yaml"]] == [("WF006", True)], lines[line]
    assert found["other.yaml"] == ()


def test_a_fix_of_a_misspelt_key_is_offered_unless_the_right_one_is_there() -> None:
    def titles(text: str) -> list[str]:
        return [fix.title for one in findings_of(read_fixture(text))["flow.yaml"] for fix in one.fixes]

    assert titles(f"{HEAD}    tiemout: 5s\n") == ["Change to `timeout`"]
    assert titles(f"{HEAD}    tiemout: 5s\n    timeout: 6s\n") == []


def test_a_value_whose_key_is_guessed_is_not_judged_but_the_rest_of_its_line_is() -> None:
    last = "  - {name: report, tempalte: {name: nowhere, with: {a: b}}, needs: [research, zz], timeout: 30}\n"
    assert [rule for rule, _ in rules(HEAD + last)] == ["WF006", "WF301", "WF008"]
    assert [rule for rule, _ in rules(HEAD + "  - name: report\n    nedes: [zz]\n    run: 'x {{input}}'\n")] == [
        "WF215",
        "WF006",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("steps:\n  - {name: ' ', run: '{{input}}'}\n", ["WF201"]),
        ("steps:\n  - {name: a, run: ' '}\n", ["WF203"]),
        ("steps:\n  - {name: a, template: {name: ' '}}\n", ["WF205"]),
        (LOOP.replace("workflow: flow", "workflow: ' '"), ["WF402"]),
        (
            LOOP.replace("until: The reply says READY", "until: ' '").replace("workflow: flow", "workflow: other"),
            ["WF405"],
        ),
        (f"version: ' '\n{HEAD}", ["WF102"]),
        (f"description: ' '\n{HEAD}", ["WF103"]),
        (f"name: ' '\n{HEAD}", ["WF101"]),
    ],
)
def test_a_text_of_blanks_is_as_good_as_none(text: str, expected: list[str]) -> None:
    head = "$schema: workflow/v2.0\n" + "".join(
        f"{key}: {value}\n"
        for key, value in (("name", "flow"), ("version", "1.0.0"), ("description", "It writes"))
        if not text.startswith(key)
    )
    head += "execution: {provider: ollama, model: llama3.2}\n"
    called = "#- other.yaml\nsteps:\n  - {name: write, run: '{{input}}'}\n"
    found = findings_of(read_fixture(f"#- flow.yaml\n{head}{text}{called}"))["flow.yaml"]
    assert [one.rule for one in found] == expected


def test_aliases_that_bring_in_too_much_are_told_once() -> None:
    lists = [f"servers: &s{number} [{', '.join([f'*s{number - 1}'] * 9)}]" for number in range(1, 9)]
    steps = "".join(f"  - {{name: n{at}, run: Say it, {one}}}\n" for at, one in enumerate(lists))
    told = rules(f"steps:\n  - {{name: first, run: Say it, servers: &s0 [{', '.join(['x'] * 9)}]}}\n{steps}")
    [message] = [message for code, message in told if code == "WF001"]
    assert "aliases add more than" in message
