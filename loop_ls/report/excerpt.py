"""The line that a finding stands in, with a mark under it."""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.report.terminal_text import shown, width
from loop_ls.text.position import Span

LINE = 110  # columns of source that are shown; longer lines are cut around the mark
BEFORE = 40  # columns kept in front of the mark of a cut line
CUT = "…"


def excerpt(lines: Sequence[str], span: Span) -> tuple[str, str] | None:
    """The source line and the line with the mark, equally indented. None: there is no such line."""
    row, start = span.start
    if row >= len(lines):
        return None
    line = lines[row]
    start = min(start, len(line))
    end = min(span.end.column, len(line)) if span.end.line == row else len(line)
    before, marked, after = shown(line[:start]), shown(line[start:end]), shown(line[end:])
    before, marked, after = _cut(before, marked, after)
    return before + marked + after, " " * width(before) + "~" * max(1, width(marked))


def _cut(before: str, marked: str, after: str) -> tuple[str, str, str]:
    if width(before) + width(marked) + width(after) <= LINE:
        return before, marked, after
    if width(before) > BEFORE:
        before = CUT + before[-BEFORE:]
    room = LINE - width(before)
    if width(marked) > room:
        return before, marked[: room - 1] + CUT, ""
    room -= width(marked)
    if width(after) > room:
        after = after[: max(0, room - 1)] + CUT
    return before, marked, after
