"""Code actions from findings: which are offered, in which order, and what they change."""

from __future__ import annotations

import random
from typing import Any

import pytest

from loop_ls.features.actions.code_actions import actions, fix_all
from loop_ls.features.answers import ActionKind
from loop_ls.features.line_diff import line_edits
from loop_ls.index.document import Document
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding, Fix, Severity, TextEdit, Tier
from loop_ls.text.lines import Text
from loop_ls.text.position import Span, span

TEXT = "abcdef\nghijkl\n"


def document() -> Document:
    return Document.open("file:///w/a.yaml", TEXT)


def fix(title: str, *edits: tuple[Span, str], tier: Tier = Tier.SAFE, preferred: bool = False) -> Fix:
    changes = tuple(TextEdit(place, text) for place, text in edits)
    return Fix(title, lambda _: changes, tier, preferred)


def finding(place: Span, *fixes: Fix) -> Finding:
    return Finding("WF000", Severity.ERROR, place, "m", fixes=fixes)


A, B = span(0, 0, 0, 2), span(0, 4, 0, 6)


def test_fixes_of_the_findings_at_the_place_preferred_and_safe_ones_first() -> None:
    findings = [
        finding(B, fix("elsewhere")),
        finding(A, fix("review", tier=Tier.REVIEW), fix("safe"), fix("best", preferred=True)),
    ]
    found = actions(document(), findings, span(0, 1, 0, 1))
    assert [action.title for action in found] == ["best", "safe", "review"]
    assert found[0].preferred and found[2].tier is Tier.REVIEW
    assert all(action.kind is ActionKind.QUICKFIX and action.findings == (1,) for action in found)


def test_a_place_that_only_touches_counts() -> None:
    assert len(actions(document(), [finding(A, fix("x"))], span(0, 2, 0, 2))) == 1
    assert actions(document(), [finding(A, fix("x"))], span(0, 3, 0, 3)) == ()


def test_edits_are_computed_when_asked_for_and_sorted() -> None:
    asked: list[int] = []

    def edits(_: Any) -> tuple[TextEdit, ...]:
        asked.append(1)
        return (TextEdit(B, "y"), TextEdit(A, "x"), TextEdit(A, "z", "file:///w/b.yaml"))

    (action,) = actions(document(), [finding(A, Fix("f", edits))], A)
    assert asked == []
    assert action.edits is not None and action.edits() == {
        "file:///w/a.yaml": (TextEdit(A, "x"), TextEdit(B, "y")),
        "file:///w/b.yaml": (TextEdit(A, "z", "file:///w/b.yaml"),),
    }


def test_fix_all_takes_safe_fixes_and_no_two_that_overlap() -> None:
    findings = [
        finding(A, fix("one", (A, "x"))),
        finding(A, fix("two", (span(0, 1, 0, 3), "y"))),
        finding(B, fix("review", (B, "r"), tier=Tier.REVIEW)),
        finding(B, fix("a choice"), fix("another choice")),
        finding(B, fix("plain", (B, "p")), fix("preferred", (B, "q"), preferred=True)),
    ]
    action = fix_all(document(), findings)
    assert action is not None and action.kind is ActionKind.FIX_ALL and action.findings == (0, 1, 4)
    assert action.edits is not None
    assert [edit.text for edit in action.edits()["file:///w/a.yaml"]] == ["x", "q"]


def test_fix_all_makes_the_same_edit_once_and_one_insertion_at_a_place() -> None:
    same = fix("same", (A, "x"))
    insert = [fix(name, (span(1, 2, 1, 2), name)) for name in "ab"]
    action = fix_all(document(), [finding(A, same), finding(A, same), *(finding(A, one) for one in insert)])
    assert action is not None and action.edits is not None
    assert [edit.text for edit in action.edits()["file:///w/a.yaml"]] == ["x", "a"]


def test_fix_all_leaves_edits_that_touch_for_the_next_time() -> None:
    word, more = fix("the right word", (A, "ok")), fix("one more", (span(0, 2, 0, 2), ", ok"))
    action = fix_all(document(), [finding(A, word), finding(B, more)])
    assert action is not None and action.edits is not None
    assert [edit.text for edit in action.edits()["file:///w/a.yaml"]] == ["ok"]


def test_nothing_safe_nothing_offered() -> None:
    assert fix_all(document(), [finding(A, fix("r", tier=Tier.REVIEW))]) is None


BROKEN = """
steps:
  - {name: research, run: "Find {{input}}"}
  - {name: write, needs: [reserach], run: "Write {{research}}"}
loops:
  - name: l
    workflow: other
    max_iteration: 3
    until: "The output {{loop.output}} says DONE"
steps:
  - {name: more, needs: [write], run: "x {{l}} {{write}}"}
"""


def test_UP_13_fixing_everything_checks_again_after_each_pass(ask: Any) -> None:
    asked = ask(BROKEN)
    findings = Checker().findings(asked.workspace, asked.document)
    action = fix_all(asked.document, findings, asked.workspace)
    assert action is not None and action.edits is not None
    text = asked.document.text
    for edit in reversed(action.edits()[asked.document.uri]):
        text = text.edit(edit.span, edit.text)
    fixed = str(text)
    assert "needs: [research]," in fixed and "max_iterations: 3" in fixed and fixed.count("steps:") == 1
    assert "{{loop.output}}" in fixed, "what needs review stays"


@pytest.mark.parametrize("seed", range(60))
def test_the_difference_of_two_texts_makes_one_of_the_other(seed: int) -> None:
    chance = random.Random(seed)
    before = Text.of("\n".join(chance.choice("abc") for _ in range(chance.randrange(12))))
    after = Text.of("\n".join(chance.choice("abc") for _ in range(chance.randrange(12))))
    text = before
    for edit in reversed(line_edits(before, after)):
        text = text.edit(edit.span, edit.text)
    assert str(text) == str(after)
