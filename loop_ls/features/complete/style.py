"""How a file indents, so that what is inserted looks as if its author had written it (UP-20).

Read from the first lines that show it; two blanks, dashes two deep, where none does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loop_ls.features.spot.block import KEY, blank, dash_at
from loop_ls.syntax.yaml.line_patterns import indent_of

_LINES_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class Style:
    """`unit`: blanks per level of a mapping. `dash`: how much deeper a dash stands than its key.
    `gap`: from a dash to what follows it."""

    unit: int = 2
    dash: int = 2
    gap: int = 2


def style_of(lines: Sequence[str]) -> Style:
    """The style of a file. `lines` may be all of it; only its beginning is read."""
    unit = dash = gap = 0
    dashed = False
    owner = -1
    for line in lines[:_LINES_LOOKED_AT]:
        if blank(line):
            continue
        column = indent_of(line)
        if dash_at(line, column):
            if owner >= 0 and not dashed:
                dash, dashed = column - owner, True
            rest = line[column + 1 :]
            gap = gap or (1 + len(rest) - len(rest.lstrip(" ")) if rest.strip() else 0)
            inner = line[column + 1 :].lstrip(" ")
            column = len(line) - len(inner)
        elif owner >= 0 and not unit and column > owner:
            unit = column - owner
        owner = column if _opens(line, column) else -1
        if unit and dashed:
            break
    unit = unit or (dash if dashed and dash > 0 else 2)
    return Style(min(unit, 8), dash if dashed and 0 <= dash <= 8 else 2, gap or 2)


def _opens(line: str, column: int) -> bool:
    key = KEY.match(line, column)
    return key is not None and blank(line[key.end() :])
