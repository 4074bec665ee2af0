"""Which fixes are applied together, in which order, and which ones are taken back.

The rules here are a table: what is found in a line of one word, and what each fix makes of that line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import Finding, Fix, Severity, TextEdit, Tier
from loop_ls.rules.fixes.apply import chosen_fix, fix_document
from loop_ls.text.position import Position, Span

URI = "file:///w/words.yaml"


def span(line: int, begin: int, end: int) -> Span:
    return Span(Position(line, begin), Position(line, end))


@dataclass
class Rules:
    """By word: the rules that find it, each with the word that its fix writes instead (or no fix)."""

    words: Mapping[str, list[tuple[str, str | None]]]

    def findings(self, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
        return tuple(
            Finding(rule, Severity.ERROR, span(line, 0, len(word)), word, fixes=fixes(span(line, 0, len(word)), new))
            for line, word in enumerate(document.text.lines)
            for rule, new in self.words.get(word, ())
        )


def fixes(place: Span, new: str | None) -> tuple[Fix, ...]:
    return () if new is None else (Fix(f"Write {new}", lambda _: (TextEdit(place, new),)),)


def after(text: str, words: Mapping[str, list[tuple[str, str | None]]]) -> str:
    document = Document.open(URI, text)
    fixed = fix_document(Rules(words), Workspace.of(Roots("/w"), [document]), document)
    return str(fixed.document.text)


def test_a_fix_that_brings_a_fault_is_taken_back_and_the_others_are_tried_alone() -> None:
    words = {"a": [("WF301", "good")], "b": [("WF301", "worse")], "worse": [("WF302", None)] * 3}
    assert after("a\nb", words) == "good\nb"
    assert after("b\na", words) == "b\ngood"
    assert after("b", words) == "b"


def test_a_fix_may_leave_another_fault_as_long_as_there_is_less_to_fix() -> None:
    assert after("a", {"a": [("WF301", "other")], "other": [("WF302", None)]}) == "other"
    circle = {f"w{n}": [("WF301", f"w{(n + 1) % 5}")] for n in range(5)}
    assert after("w0", circle) == "w0"


@pytest.mark.parametrize(
    ("rule", "words", "goes"),
    [
        ("WF006", {"open": [("WF301", None), ("WF302", None)]}, True),
        ("AL003", {"open": [("AL004", None), ("AL005", None)]}, True),
        ("WF301", {"open": [("WF302", None), ("WF303", None)]}, False),
        ("WF006", {"open": [("WF001", None), ("WF302", None)]}, False),
        ("WF002", {"open": [("WF001", None), ("WF302", None)]}, True),
        ("WF001", {"open": [("WF302", None), ("WF303", None)]}, True),
        ("WF001", {"open": [("WF001", None), ("WF001", None)]}, False),
        ("WF001", {"open": [("WF001", None), ("WF302", None)]}, True),
    ],
)
def test_what_makes_a_text_readable_may_uncover_faults(
    rule: str, words: dict[str, list[tuple[str, str | None]]], goes: bool
) -> None:
    assert after("shut", {"shut": [(rule, "open")], **words}) == ("open" if goes else "shut")


def test_what_is_still_said_afterwards_uncovers_nothing() -> None:
    class Stubborn(Rules):
        def findings(self, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
            found = super().findings(workspace, document)
            return tuple(Finding(one.rule, one.severity, one.span, "the same", fixes=one.fixes) for one in found)

    document = Document.open(URI, "shut")
    world = Workspace.of(Roots("/w"), [document])
    words = {"shut": [("WF006", "open")], "open": [("WF006", None), ("WF301", None)]}
    assert str(fix_document(Stubborn(words), world, document).document.text) == "shut"
    assert str(fix_document(Rules(words), world, document).document.text) == "open"


def test_what_uncovers_faults_is_applied_alone() -> None:
    words = {
        "shut": [("WF006", "open")],
        "open": [("WF302", None), ("WF302", None)],
        "b": [("WF301", "worse")],
        "worse": [("WF303", None), ("WF304", None)],
    }
    assert after("shut\nb", words) == "open\nb"


def test_fixing_ends_after_twelve_passes() -> None:
    words = {f"w{n}": [("WF301", f"w{n - 1}"), *[("WF302", None)] * n] for n in range(1, 15)}
    assert after("w3", words) == "w0"
    assert after("w14", {**words, "w1": [("WF301", "w0")]}) == "w14"[:1] + "2"


def test_fixes_that_share_a_line_wait_for_the_next_pass() -> None:
    document = Document.open(URI, "ab\ncd\nef")

    class Letters(Rules):
        def findings(self, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
            places = {
                "a": span(0, 0, 1),
                "b": Span(Position(0, 1), Position(1, 1)),
                "d": span(1, 1, 2),
                "e": span(2, 0, 1),
            }
            text = str(document.text)
            there = [(letter, place) for letter, place in places.items() if letter in text]
            return tuple(
                Finding(letter, Severity.ERROR, place, "", fixes=fixes(place, letter.upper()))
                for letter, place in there
            )

    fixed = fix_document(Letters({}), Workspace.of(Roots("/w"), [document]), document)
    assert [one.rule for one in fixed.done] == ["a", "d", "e", "b"]
    assert fixed.left == ()
    assert fixed.document.version == document.version + 2


@pytest.mark.parametrize(("uri", "goes"), [(None, True), (URI, True), ("file:///w/other.yaml", False)])
def test_only_edits_of_this_file_are_made(uri: str | None, goes: bool) -> None:
    class Elsewhere(Rules):
        def findings(self, workspace: Workspace, document: Document) -> tuple[Finding, ...]:
            if str(document.text) == "b":
                return ()
            fix = Fix("", lambda _: (TextEdit(span(0, 0, 1), "b", uri),))
            nothing = Finding("WF301", Severity.ERROR, span(0, 0, 1), "", fixes=(Fix("", lambda _: ()),))
            return (nothing, Finding("WF302", Severity.ERROR, span(0, 0, 1), "", fixes=(fix,)))

    document = Document.open(URI, "a")
    fixed = fix_document(Elsewhere({}), Workspace.of(Roots("/w"), [document]), document)
    assert [one.rule for one in fixed.done] == (["WF302"] if goes else [])
    assert [one.rule for one in fixed.left] == ([] if goes else ["WF301", "WF302"])


def test_a_safe_fix_is_chosen_before_the_first_one_that_needs_review() -> None:
    def fix(title: str, tier: Tier, by_hand: bool = False) -> Fix:
        return Fix(title, lambda _: (), tier, only_by_hand=by_hand)

    def chosen(*found: Fix, unsafe: bool = False) -> str | None:
        fix = chosen_fix(Finding("WF301", Severity.ERROR, span(0, 0, 1), "", fixes=found), unsafe)
        return None if fix is None else fix.title

    hand, review, safe = fix("hand", Tier.SAFE, True), fix("review", Tier.REVIEW), fix("safe", Tier.SAFE)
    assert chosen(hand, review, safe) == chosen(hand, review, safe, unsafe=True) == "safe"
    assert (chosen(hand, review), chosen(hand, review, fix("more", Tier.REVIEW), unsafe=True)) == (None, "review")
    assert (chosen(hand, unsafe=True), chosen(unsafe=True)) == (None, None)
