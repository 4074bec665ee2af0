"""From flaws to refusals: absolute places, and the syntax faults of files that are one object."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.problem import Placed
from loop_ls.formats.workflow.refusals import Refusal
from loop_ls.syntax.nodes import Entry
from loop_ls.syntax.tree import Tree
from loop_ls.text.fault import Fault
from loop_ls.text.position import Position, Span


def refusal(tree: Tree, placed: Placed) -> Refusal:
    flaw = placed.flaw
    if placed.piece is None or flaw.at is None:
        return Refusal(flaw.code, flaw.message, begin_of(tree))
    span = flaw.at.key.span if isinstance(flaw.at, Entry) else flaw.at.span
    return Refusal(flaw.code, flaw.message, span.shift(tree.start_of(placed.piece)))


def syntax_refusals(tree: Tree, code: str, needed: str) -> Iterator[Refusal]:
    """Why a tree cannot be read on: its first fault, or a root that is no object (`needed` says so)."""
    fault = first_fault(tree)
    if fault is not None:
        yield Refusal(code, fault.message, fault.span)
    elif tree.root_kind != "mapping":
        yield Refusal(code, f"{needed}, not {KINDS[tree.root_kind]}", begin_of(tree))


#: What a root that is no object is, in words.
KINDS = {"sequence": "a list", "scalar": "a single value", "empty": "an empty file", "mapping": "an object"}


def first_fault(tree: Tree) -> Fault | None:
    """The first thing that keeps the text from being read, place absolute."""
    found = [*tree.faults]
    for piece in tree.pieces:
        if piece.faults:
            start = tree.start_of(piece)
            found += (fault.shift(start) for fault in piece.faults)
    return min(found, key=lambda fault: fault.span, default=None)


def begin_of(tree: Tree) -> Span:
    """The first sign of the text: the brace of a JSON object. YAML's comments are passed over."""
    for number, line in enumerate(tree.text.lines):
        body = line.lstrip(" \t")
        if body.strip() and not body.startswith("#") and body.rstrip() not in ("---",):
            column = len(line) - len(body)
            return Span(Position(number, column), Position(number, column + 1))
    return Span(Position(0, 0), Position(0, 0))
