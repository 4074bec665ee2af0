"""Random edits: as people type, and as accidents happen."""

from __future__ import annotations

import random

from loop_ls.index.document import Document
from loop_ls.text.position import Position, Span
from tests.syntax.odd_lines import insertion

_PIECES = (
    *("{{", "}}", "{{input}}", "{{lo", ": ", "- ", "  ", "\n", "\n  ", '"', "'", "#", "|", "{", "}", "[", "]", ","),
    *("until: ", "max_iterations: 0", "with: {a: b}", "needs: [", "mode: iterate", "  - name: x\n", '"name": ', "null"),
    *("&a ", "*a", "<<: *a", "\t", "é", "😀", "\u2028", "\ufeff", "# loop-ls: ignore WF501", "1e999", "~"),
)


def random_position(document: Document, rng: random.Random) -> Position:
    """Anywhere; ends of lines and the end of the text more often than by chance."""
    lines = document.text.lines
    line = len(lines) - 1 if rng.random() < 0.05 else rng.randrange(len(lines))
    return Position(line, len(lines[line]) if rng.random() < 0.25 else rng.randint(0, len(lines[line])))


def edited_at_random(document: Document, rng: random.Random) -> Document:
    """The document one edit later, read as the server reads it: only what changed."""
    span, text = _edit(document, rng)
    return document.edit(span, text, document.version + 1)


def _edit(document: Document, rng: random.Random) -> tuple[Span, str]:
    start, lines = random_position(document, rng), document.text.lines
    match rng.randrange(7):
        case 0:  # the rest of a line is not typed yet
            return Span(start, Position(start.line, len(lines[start.line]))), ""
        case 1:  # some lines go
            last = min(start.line + rng.randint(1, 3), len(lines) - 1)
            return Span(Position(start.line, 0), Position(last, 0)), ""
        case 2:  # a line twice
            here = Position(start.line, 0)
            return Span(here, here), lines[start.line] + "\n"
        case 3:  # a line moves to the side
            here = Position(start.line, 0)
            blanks = len(lines[start.line]) - len(lines[start.line].lstrip(" "))
            return Span(here, Position(start.line, min(blanks, 2))), rng.choice(("", " ", "    "))
        case 4:  # a word or so goes
            return Span(start, Position(start.line, min(len(lines[start.line]), start.column + rng.randint(1, 6)))), ""
        case 5:
            return Span(start, start), insertion(rng)
        case _:
            return Span(start, start), rng.choice(_PIECES)
