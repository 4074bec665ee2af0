"""Indentation of a line that was just begun: in block texts, behind `key:`, behind the first line of an item.

Only a line that is still empty is touched, so nothing that is written can change its meaning.
"""

from __future__ import annotations

from loop_ls.features.complete.shapes import meaning_of
from loop_ls.features.complete.style import style_of
from loop_ls.features.language_support import support_of
from loop_ls.features.lookup.pieces import pieces_at
from loop_ls.features.spot.block import Frame, dash_at, open_frames
from loop_ls.formats.common.key_table import Type
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.position import Position, Span


def on_type(document: Document, at: Position, typed: str = "\n") -> tuple[TextEdit, ...]:
    """The right number of blanks at the start of the line of `at`, after a line break was typed."""
    if typed != "\n" or not 0 < at.line < len(document.text.lines):
        return ()
    return support_of(document).on_type(document, at)


def indented(document: Document, at: Position) -> tuple[TextEdit, ...]:
    """In a workflow."""
    lines = document.text.lines
    line = lines[at.line]
    if line.strip() or not lines[at.line - 1].strip():
        return ()
    wanted = _indentation(document, at.line)
    if wanted is None or line == " " * wanted:
        return ()
    return (TextEdit(Span(Position(at.line, 0), Position(at.line, len(line))), " " * wanted),)


def _indentation(document: Document, number: int) -> int | None:
    start, pieces = pieces_at(document, number - 1)
    if not pieces:
        return None
    style = style_of(document.text.lines)
    window = document.text.lines[start:number]
    frames = [Frame("mapping", 0, (), 0)]
    dash = indent_of(window[0])
    if pieces[0].section and dash_at(window[0], dash):
        frames[0].key = pieces[0].section
        frames.append(Frame("sequence", dash, (pieces[0].section,), -1))
    state = open_frames(window, 0, len(window), frames)
    if state.flow is not None:
        return None
    if state.prose is not None:
        return _in_prose(window, state.prose.column, state.prose.style, style.unit)
    top = state.frames[-1]
    if not top.hangs:
        return top.column
    key = meaning_of((*top.path, top.key)).key if top.kind == "mapping" else None
    if key is not None and key.type in (Type.BLOCKS, Type.TEXTS):
        return top.column + style.dash
    return top.column + style.unit


def _in_prose(lines: list[str], owner: int, style: str, unit: int) -> int | None:
    """As deep as the line before; the first line of a block text is one level below its key."""
    column = indent_of(lines[-1])
    if style in ("|", ">"):
        return owner + unit if column <= owner else column
    return owner if style == "" and column <= owner else None
