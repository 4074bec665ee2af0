"""Joining a repeated top-level block with the first one of its name: the fix of WF005.

Lines move as they are, comments and blank lines included; only their indentation is changed where
the two blocks are indented differently.
"""

from __future__ import annotations

from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.lines import without_trailing_blanks
from loop_ls.text.position import Position, Span


def merged(document: Document, first: Piece, later: Piece) -> tuple[TextEdit, ...]:
    """Nothing where a block is in flow style or empty: such blocks are joined by hand."""
    target, source = _lines(document, first), _lines(document, later)
    if target is None or source is None:
        return ()
    lines = document.text.lines
    body = lines[source[0] + 1 : source[1]]
    shift = _indent(lines[target[0] + 1 : target[1]]) - _indent(body)
    moved = [_shifted(line, shift) for line in without_trailing_blanks(body)]
    end = _end_of_content(lines[: target[1]])
    place = Position(end, len(lines[end]))
    eol = document.text.eol
    return TextEdit(Span(place, place), eol + eol.join(moved)), _removal(document, source)


def _lines(document: Document, head: Piece) -> tuple[int, int] | None:
    """First line of the block and the line behind its last one; None where it has no block items."""
    pieces = document.tree.pieces[document.tree.pieces.index(head) :]
    stop = next((at for at, piece in enumerate(pieces) if piece.kind != "item" and piece is not head), len(pieces))
    if pieces[:stop] == pieces[:1]:
        return None
    end = _first_line(document, pieces[stop]) if stop < len(pieces) else len(document.text.lines)
    return _first_line(document, head), end


def _first_line(document: Document, piece: Piece) -> int:
    """The line of a top-level key; where a second document begins, that of its first line."""
    if piece.key is None:
        return document.tree.start_of(piece)
    return document.absolute(piece, piece.key.span).start.line


def _removal(document: Document, source: tuple[int, int]) -> TextEdit:
    start, end = source
    lines = document.text.lines
    if end < len(lines):
        return TextEdit(Span(Position(start, 0), Position(end, 0)), "")
    before = _end_of_content(lines[:start])
    last = "" if lines[-1] else document.text.eol
    return TextEdit(Span(Position(before, len(lines[before])), document.text.end), last)


def _indent(lines: list[str]) -> int:
    return next(indent_of(line) for line in lines if line.lstrip(" ").startswith("-"))


def _shifted(line: str, shift: int) -> str:
    content = line.lstrip(" ")
    return " " * (indent_of(line) + shift) + content if content else line


def _end_of_content(lines: list[str]) -> int:
    return next(at for at in reversed(range(len(lines))) if lines[at].strip())
