"""UP-16: a finding is silenced where it stands, by its code; a comment that silences nothing is told."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from loop_ls.features.actions.suppress import ignoring
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine import suppression
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.registry import Rule, all_rules
from loop_ls.rules.engine.rule_selection import PROFILES
from loop_ls.rules.fixes.apply import fix_document
from loop_ls.testing.fixture import read_fixture
from loop_ls.text.position import Position, Span
from tests.rules.checking import document_of, workspace_of

HEAD = """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: A flow.
execution: {provider: ollama, model: llama3.2}
"""
LOOP = """\
loops:
  - name: refine
    workflow: draft
    max_iterations: 5
{above}    until: "The output {{{{loop.output}}}} is good"{behind}
"""
DRAFT = HEAD.replace("name: flow", "name: draft") + "steps:\n  - {name: write, run: 'Write. Say good.'}\n"


def check(text: str, path: str = "flow.yaml", *disable: str) -> tuple[Document, Workspace, tuple[Finding, ...]]:
    document = Document.open(f"file:///w/{path}", text)
    draft = Document.open("file:///w/draft.yaml", DRAFT)
    workspace = Workspace.of(Roots("/w"), (document, draft))
    return document, workspace, Checker(disable=disable).findings(workspace, document)


def codes(found: tuple[Finding, ...]) -> list[str]:
    return [one.rule for one in found]


def loop(above: str = "", behind: str = "") -> str:
    return HEAD + LOOP.format(above=above, behind=behind)


@pytest.mark.parametrize(
    ("above", "behind"),
    [
        ("", "  # loop-ls: ignore WF702"),
        ("    # loop-ls: ignore WF702\n", ""),
        ("    # loop-ls: ignore WF702\n    # and why\n\n", ""),
        ("# loop-ls: ignore WF702 since the critic repeats it\n", ""),
    ],
)
def test_UP_16_a_comment_on_or_above_the_line_silences_the_rule_it_names(above: str, behind: str) -> None:
    assert "WF702" in codes(check(loop())[2])
    found = codes(check(loop(above, behind))[2])
    assert "WF702" not in found
    assert "unused-ignore" not in found


@pytest.mark.parametrize("comment", ["    # loop-ls: ignore\n", "    # loop-ls: ignore all\n", "    # ignore WF702\n"])
def test_UP_16_nothing_is_silenced_without_its_code(comment: str) -> None:
    assert "WF702" in codes(check(loop(comment))[2])


def test_UP_16_a_comment_that_silences_nothing_is_told_and_goes_by_a_fix() -> None:
    document, workspace, found = check(loop("    # loop-ls: ignore WF702, WF703\n    # loop-ls: ignore WF301\n"))
    told = [one for one in found if one.rule == "unused-ignore"]
    assert [one.message.split(" has")[0] for one in told] == ["`WF703`", "`WF301`"]
    assert all("unnecessary" in one.tags for one in told)
    fixed = fix_document(Checker(), workspace, document).document
    text = str(fixed.text)
    assert "    # loop-ls: ignore WF702\n    until" in text
    assert "WF703" not in text and "WF301" not in text


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("# loop-ls: ignore WF703 since we said so", ""),
        ("# loop-ls: ignore WF703 # and another remark", "# and another remark"),
        ("# loop-ls: ignore WF702, WF703 since we said so", "# loop-ls: ignore WF702 since we said so"),
    ],
)
def test_UP_16_the_reason_goes_with_its_comment(comment: str, left: str) -> None:
    document, workspace, _ = check(loop("", f" {comment}"))
    fixed = str(fix_document(Checker(), workspace, document).document.text)
    assert fixed.rstrip("\n") == loop("", f" {left}" if left else "").rstrip("\n")


def test_UP_16_a_comment_about_a_rule_that_is_off_stays() -> None:
    assert "unused-ignore" not in codes(check(loop("    # loop-ls: ignore WF702\n"), "flow.yaml", "WF702")[2])
    quiet = next(one.code for one in all_rules().values() if one.profile == "pedantic")
    assert "unused-ignore" not in codes(check(loop(f"    # loop-ls: ignore {quiet}\n"))[2])


def test_UP_16_what_looks_like_a_comment_in_a_text_is_text() -> None:
    text = HEAD + "steps:\n  - name: a\n    run: |\n      Write\n      # loop-ls: ignore WF702\n      more\n"
    assert "unused-ignore" not in codes(check(text)[2])


def test_UP_16_what_looks_like_a_comment_in_a_text_of_one_line_is_text() -> None:
    steps = "steps:\n  - {name: a, run: 'Write # loop-ls: ignore WF217 {{input}}'}\n"
    assert "unused-ignore" not in codes(check(HEAD + steps)[2])
    assert "WF217" in codes(check(HEAD + steps.replace("name: a", "name: a b"))[2])


def test_UP_16_a_finding_inside_of_a_block_text_is_silenced_where_the_text_begins() -> None:
    text = HEAD + "steps:\n  - name: a\n    run: |\n      Write\n      {{a | upper}}\n"
    found = check(text)[2]
    [finding] = [one for one in found if one.span.start.line == 9]
    silent = text.replace("    run: |", f"    # loop-ls: ignore {finding.rule}\n    run: |")
    assert finding.rule not in codes(check(silent)[2])


@pytest.mark.parametrize(
    "text",
    [
        loop(),
        loop("    # loop-ls: ignore WF301\n"),
        HEAD + "steps:\n  - name: a\n    run: |\n      Write\n      {{a | upper}}\n  - {name: b, run: '{{x.y}}'}\n",
        HEAD + "steps: [{name: a, run: '{{x.y}}'}]\n",
    ],
)
def test_UP_16_the_action_writes_the_comment_and_changes_nothing_else(text: str) -> None:
    document, _, found = check(text)
    everything = Span(Position(0, 0), document.text.end)
    offered = ignoring(document, found, everything)
    assert {one.title for one in offered} == {f"Ignore {one.rule} here" for one in found if one.rule != "unused-ignore"}
    for action in offered:
        assert action.edits is not None
        [edit] = action.edits()[document.uri]
        changed = document.edit(edit.span, edit.text)
        assert yaml.safe_load(str(changed.text)) == yaml.safe_load(text)
        rule = found[action.findings[0]].rule
        after = check(str(changed.text))[2]
        assert codes(after).count(rule) == codes(found).count(rule) - len(action.findings)


def test_UP_16_json_has_settings_instead() -> None:
    document = Document.open("file:///w/loops/x.json", '{"name": 5}')
    workspace = Workspace.of(Roots("/w"), (document,))
    found = Checker().findings(workspace, document)
    assert found
    assert ignoring(document, found, Span(Position(0, 0), document.text.end)) == ()


@pytest.mark.parametrize(
    ("above", "run", "silent"),
    [
        ("# loop-ls: ignore WF505", "|\n      Write\n      {{a | upper}}", True),
        ("# loop-ls: ignore WF505", ">-\n      Write\n      {{a | upper}}", True),
        ("# loop-ls: ignore WF505", '"Write\n      {{a | upper}}"', True),
        ("# loop-ls: ignore WF505", "Write\n      {{a | upper}}", True),
        ("# loop-ls: ignore WF505", "|\n      {{a | upper}}\n      Write", True),
        ("x: 5  # loop-ls: ignore WF505", "|\n      {{a | upper}}\n      Write", False),
    ],
)
def test_UP_16_a_text_of_several_lines_has_its_comment_above(above: str, run: str, silent: bool) -> None:
    def told(text: str) -> list[str]:
        return codes(check(HEAD + text)[2])

    text = f"steps:\n  - name: a\n    {above}\n    run: {run}\n"
    [rule] = {"WF505", "WF504", "WF506", "WF507", "WF508", "WF512"} & set(told(text.replace(above, "# no")))
    found = told(text.replace("WF505", rule))
    assert (rule not in found) is silent
    assert ("unused-ignore" in found) is not silent


def test_UP_16_a_comment_on_the_last_line_goes_with_nothing_below() -> None:
    for end in ("", "\n"):
        document, workspace, found = check(
            f"{HEAD}steps:\n  - {{name: a, run: '{{{{input}}}}'}}\n# loop-ls: ignore WF301{end}"
        )
        assert codes(found) == ["unused-ignore"]
        text = str(fix_document(Checker(), workspace, document).document.text)
        assert text == f"{HEAD}steps:\n  - {{name: a, run: '{{{{input}}}}'}}\n"


def test_UP_16_a_comment_in_a_json_file_is_none() -> None:
    text = '{\n  // x # loop-ls: ignore RL003\n  "name": 5\n}\n'
    assert "unused-ignore" not in codes(check(text, "loops/x.json")[2])


@pytest.mark.parametrize("rule", [one for one in all_rules().values() if one.page.bad], ids=lambda rule: rule.code)
def test_UP_16_the_action_silences_what_any_rule_says(rule: Rule) -> None:
    fixture = read_fixture(rule.page.bad)
    workspace, checker = workspace_of(fixture), Checker(PROFILES)
    document = document_of(workspace, fixture.main.path)
    found = checker.findings(workspace, document)
    for action in ignoring(document, found, Span(Position(0, 0), document.text.end)):
        assert action.edits is not None
        [edit] = action.edits()[document.uri]
        changed = document.edit(edit.span, edit.text)
        silenced = found[action.findings[0]]
        left = Checker(PROFILES).findings(workspace.with_document(changed), changed)
        said = [one.rule for one in left].count(silenced.rule)
        assert said == codes(found).count(silenced.rule) - len(action.findings), silenced
        assert "unused-ignore" not in codes(left)


def test_UP_16_what_is_said_of_a_file_as_a_whole_is_silenced_in_one_comment() -> None:
    text = "$schema: workflow/v2.0\nsteps: []\n"
    for rules in (["WF101"], ["WF101", "WF102"], ["WF101", "WF102", "WF103"]):
        document, _, found = check(text)
        [action] = [
            one for one in ignoring(document, found, Span(Position(0, 0), Position(0, 1))) if rules[-1] in one.title
        ]
        assert action.edits is not None
        [edit] = action.edits()[document.uri]
        text = str(document.edit(edit.span, edit.text).text)
        assert text == f"# loop-ls: ignore {', '.join(rules)}\n$schema: workflow/v2.0\nsteps: []\n"
        assert not {*rules, "unused-ignore"} & set(codes(check(text)[2]))


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_UP_16_the_comment_ends_its_line_as_the_others_do(eol: str) -> None:
    document, _, found = check(loop().replace("\n", eol))
    [action] = [
        one for one in ignoring(document, found, Span(Position(0, 0), document.text.end)) if "WF702" in one.title
    ]
    assert action.edits is not None
    [edit] = action.edits()[document.uri]
    assert str(document.edit(edit.span, edit.text).text) == loop("    # loop-ls: ignore WF702\n").replace("\n", eol)


def test_UP_16_the_line_below_a_block_text_has_a_comment_of_its_own() -> None:
    text = HEAD + "steps:\n  - name: a\n    # loop-ls: ignore WF301\n    run: |\n      Write\n    needs: [nothing]\n"
    found = codes(check(text)[2])
    assert "WF301" in found
    assert "unused-ignore" in found


@pytest.mark.parametrize(
    ("path", "broken", "code"),
    [
        ("flow.yaml", "steps:\n  - {name: a, run: [}\n", "WF001"),
        ("flow.yaml", "steps:\n\t- a\n", "WF001"),
        (".loop-ls.yaml", "rules: [\n", "LS001"),
        ("loops/x.assistant.yaml", "name: [\n", "AL001"),
        ("flow.yaml", "<<<<<<< ours\nname: a\n=======\nname: b\n>>>>>>> theirs\n", "WF010"),
    ],
)
def test_UP_16_what_cannot_be_read_is_told_whatever_a_comment_says(path: str, broken: str, code: str) -> None:
    text = f"{HEAD if path == 'flow.yaml' else ''}# loop-ls: ignore {code}\n{broken}"
    document, _, found = check(text, path)
    assert code in codes(found)
    [told] = [one for one in found if one.rule == "unused-ignore"]
    assert told.message == f"`{code}` cannot be ignored, so this comment has no effect"
    offered = ignoring(document, found, Span(Position(0, 0), document.text.end))
    assert not [one for one in offered if code in one.title]


def test_the_line_of_a_comment_is_found_without_a_look_at_the_rest_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = "".join(f"  - name: s{number}\n    run: |\n      Say {number}\n" for number in range(300))
    document = Document.open("file:///w/flow.yaml", f"{HEAD}steps:\n{steps}")
    first = HEAD.count("\n") + 1 + 3 * 150
    looked: list[object] = []
    scalars = suppression._scalars

    def counted(node: Any) -> Any:
        looked.append(node)
        return scalars(node)

    monkeypatch.setattr(suppression, "_scalars", counted)
    assert suppression.anchor(document, Position(first + 2, 8)) == first + 1
    assert len(looked) < 10
