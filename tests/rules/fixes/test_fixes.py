"""What a fix makes of a file: the least change, in the style that is there."""

from __future__ import annotations

import pytest

from loop_ls.index.document import Document
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.fixes.apply import applied
from loop_ls.rules.fixes.builders import set_key
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import document_of, findings_of, workspace_of

DRAFT = """
#- draft.yaml
steps:
  - {name: write, run: "Improve {{input}}, write READY below it"}
"""


def fixed(source: str, rule: str, title: str) -> str:
    """The main file after the fix with this title of the first finding of a rule."""
    fixture = read_fixture(source)
    workspace = workspace_of(fixture)
    document = document_of(workspace, fixture.main.path)
    finding = next(one for one in Checker().findings(workspace, document) if one.rule == rule)
    fix = next(fix for fix in finding.fixes if fix.title == title)
    return str(applied(document, fix.edits(document)).text)


@pytest.mark.parametrize(
    ("step", "after"),
    [
        ("{name: b, run: '{{a}}'}", "{name: b, needs: [a], run: '{{a}}'}"),
        ("{name: b, needs: [c], run: '{{a}}'}", "{name: b, needs: [c, a], run: '{{a}}'}"),
        ("{name: b, needs: [], run: '{{a}}'}", "{name: b, needs: [a], run: '{{a}}'}"),
        ("name: b\n    needs:\n      - c   # why\n    run: '{{a}}'", "- c   # why\n      - a\n    run"),
        ("name: b   # note\n    run: '{{a}}'", "name: b   # note\n    needs: [a]\n    run"),
    ],
)
def test_WF304_a_missing_need_is_added_as_the_list_is_written(step: str, after: str) -> None:
    source = f"""
steps:
  - {{name: a, run: "A {{{{input}}}}"}}
  - {{name: c, run: "C {{{{input}}}}"}}
  - {step}
"""
    assert after in fixed(source, "WF304", "Add `a` to `needs`")


@pytest.mark.parametrize(
    ("until", "after"),
    [
        ('"The output {{loop.output}} has a title"', '"The output has a title"'),
        ("'{{ loop.output }} has a title'", "'The output has a title'"),
        ("The output {{loop.output}} names a town", "The output names a town"),
        (">-\n      The text {{loop.output}}\n      has a title", "has a title"),
    ],
)
def test_WF702_the_condition_keeps_its_quotes(until: str, after: str) -> None:
    source = f"""
loops:
  - name: polish
    workflow: draft
    max_iterations: 3
    until: {until}
{DRAFT}"""
    text = fixed(source, "WF702", "Remove `{{loop.output}}` from the condition")
    assert after in text
    assert "loop.output" not in text


@pytest.mark.parametrize(
    ("until", "titles", "preferred"),
    [
        ("{{loop.output}}", ["Write “The output says READY”"], True),
        ("Iteration {{loop.iteration}} of 5 reached", ["Write “The output says READY”"], False),
        ("It repeats {{loop.output}}", ["Write “The output says READY”"], False),
        ("{{write}} is good", ["Write “The output says READY”"], False),
        (
            "{{loop.last.output}} contains READY",
            ["Remove `{{loop.last.output}}` from the condition", "Write “The output says READY”"],
            True,
        ),
    ],
)
def test_WF702_proposes_what_the_called_workflow_is_told_to_write(
    until: str, titles: list[str], preferred: bool
) -> None:
    source = f"""
loops:
  - {{name: polish, workflow: draft, max_iterations: 3, until: "{until}"}}
{DRAFT}"""
    (finding,) = findings_of(read_fixture(source))["flow.yaml"]
    assert [fix.title for fix in finding.fixes] == titles
    assert finding.fixes[0].preferred is preferred
    assert "READY" in fixed(source, "WF702", titles[0])


@pytest.mark.parametrize(
    ("until", "rule", "after"),
    [
        ("{{last.output}} says READY", "WF503", "The output says READY"),
        ("{{Loop.output}} says READY", "WF503", "The output says READY"),
        ("{{polish.output}} says READY", "WF503", "The output says READY"),
        ("{{result}} says READY", "WF502", "The output says READY"),
        ("${{loop.output}} says READY", "WF702", "The output says READY"),
    ],
)
def test_a_variable_that_is_none_leaves_a_condition(until: str, rule: str, after: str) -> None:
    source = f'loops:\n  - {{name: polish, workflow: draft, max_iterations: 3, until: "{until}"}}\n{DRAFT}'
    findings = findings_of(read_fixture(source))["flow.yaml"]
    titles = [fix.title for one in findings if one.rule == rule for fix in one.fixes]
    assert f'until: "{after}"' in fixed(source, rule, titles[0])


def test_WF403_a_missing_limit_is_proposed_in_three_sizes() -> None:
    source = f"""
loops:
  - name: polish
    workflow: draft   # this one
    until: "The reply contains READY"
{DRAFT}"""
    for number, what in ((3, "polishing"), (5, "development"), (10, "exploration")):
        text = fixed(source, "WF403", f"Limit to {number} (suits {what})")
        assert f'READY"\n    max_iterations: {number}\n' in text
    finding = next(one for one in findings_of(read_fixture(source))["flow.yaml"] if one.rule == "WF403")
    assert not finding.fixable


@pytest.mark.parametrize(
    ("execution", "title", "after"),
    [
        ("{provider: ollama, model: m, max_workers: 4}", "Set `parallel: true`", "max_workers: 4, parallel: true}"),
        ("{provider: ollama, model: m, max_workers: 4}", "Remove `max_workers`", "{provider: ollama, model: m}"),
        (
            "\n  provider: ollama\n  model: m\n  parallel: false  # yet\n  max_workers: 4",
            "Set `parallel: true`",
            "parallel: true  # yet",
        ),
        ("\n  provider: ollama\n  max_workers: 4  # gone\n  model: m", "Remove `max_workers`", "ollama\n  model: m"),
    ],
)
def test_WF113_workers_get_parallel_or_go(execution: str, title: str, after: str) -> None:
    source = f"""
execution: {execution}
steps:
  - {{name: a, run: "A {{{{input}}}}"}}
"""
    assert after in fixed(source, "WF113", title)


@pytest.mark.parametrize(
    ("rule", "step", "title", "after"),
    [
        ("WF006", '{name: a, "rum": "A {{input}}"}', "Change to `run`", '{name: a, "run": "A {{input}}"}'),
        ("WF007", "{name: a, needs: x, run: '{{input}}'}", "Change to a list", "needs: [x],"),
        ("WF007", "{name: a, template: draft}", "Change to a mapping", "template: {name: draft}}"),
        ("WF007", "name: a\n    run: {{input}}   # hm", "Add quotes", 'run: "{{input}}"   # hm'),
        ("WF007", "{name: a, temperature: '0.5', run: '{{input}}'}", "Remove the quotes", "temperature: 0.5,"),
        ("WF008", "{name: a, timeout: 30, run: '{{input}}'}", "Change to `30s`", "timeout: 30s,"),
        ("WF209", "{name: a, on_failure: 'contineu', run: '{{input}}'}", "Change to `continue`", "'continue',"),
        ("WF501", "{name: a, run: '{{ inptu }}'}", "Change to `input`", "'{{ input }}'"),
        ("WF601", '{name: a, template: {name: "drafd"}}', "Change to `draft`", '{name: "draft"}'),
        (
            "WF209",
            "name: a\n    on_failure: |\n      halt\n    run: x",
            "Change to `halt`",
            "on_failure: halt\n    run",
        ),
        ("WF007", "name: a\n    temperature: |\n      0.5\n    run: x", "Write it on one line", "temperature: 0.5\n"),
        ("WF217", "name: |\n      a\n    run: x", "Write it on one line", "- name: a\n    run"),
    ],
)
def test_one_word_is_changed_where_it_stands(rule: str, step: str, title: str, after: str) -> None:
    assert after in fixed(f"steps:\n  - {step}\n{DRAFT}", rule, title)


def test_a_fix_of_a_piece_that_is_gone_changes_nothing() -> None:
    fixture = read_fixture("steps:\n  - {name: a, rum: x}\n")
    finding = next(one for one in findings_of(fixture)["flow.yaml"] if one.rule == "WF006")
    other = document_of(workspace_of(fixture), "flow.yaml")
    assert finding.fixes[0].edits(other) == ()


@pytest.mark.parametrize("key", ["schema", "$Schema", "$shema"])
def test_WF002_a_key_that_is_nearly_right_becomes_the_right_one(key: str) -> None:
    source = f"{key}: workflow/v2.0\nname: flow\nversion: 1.0.0\nexecution: {{provider: ollama, model: x}}\nsteps: []\n"
    assert fixed(source, "WF002", "Rename this key to `$schema`").startswith("$schema: workflow/v2.0\nname: flow\n")
    other = source.replace("workflow/v2.0", "config/v1")
    assert fixed(other, "WF002", "Add `$schema: workflow/v2.0`").startswith(f"$schema: workflow/v2.0\n{key}: config")


@pytest.mark.parametrize(
    ("key", "title"),
    [
        ("max_iteration: 3", "Change to `max_iterations`"),
        ("until_: x", "Change to `until`"),
        ("pass_env: {a: b}", None),
        ("workflw: other", None),
        ("colour: red", None),
    ],
)
def test_an_unknown_key_becomes_another_one_only_where_its_value_fits_and_there_is_none(
    key: str, title: str | None
) -> None:
    fixture = read_fixture(f"loops:\n  - {{name: l, workflow: draft, {key}}}\n")
    [unknown] = [one for one in findings_of(fixture)["flow.yaml"] if one.rule == "WF006"]
    assert [fix.title for fix in unknown.fixes] == ([title] if title else [])


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ("    timeout: 5\n", "    timeout: 9s\n"),
        ("    timeout:\n", "    timeout: 9s\n"),
        ("    timeout : # soon\n", "    timeout : 9s # soon\n"),
        ("", "    timeout: 9s\n"),
    ],
)
def test_a_key_gets_its_value_also_where_it_has_none_yet(written: str, after: str) -> None:
    head = "$schema: workflow/v2.0\nsteps:\n  - name: a\n    run: x\n"
    document = Document.open("file:///ws/flow.yaml", head + written)
    [step] = document.elements
    fix = set_key(step.piece, step.block, "timeout", "9s", "Set `timeout`")
    assert str(applied(document, list(fix.edits(document))).text) == head + after
