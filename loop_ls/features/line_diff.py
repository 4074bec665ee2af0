"""The difference between two versions of a text as edits of whole lines, as small as is cheap to find."""

from __future__ import annotations

from difflib import SequenceMatcher

from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

#: More changed lines than this are replaced in one piece: comparing them line by line takes too long.
_MOST = 2000


def line_edits(before: Text, after: Text) -> tuple[TextEdit, ...]:
    """Edits that make `after` of `before`; in order, none touches another."""
    old, new = list(before.lines), list(after.lines)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(middle_old), len(middle_new)) > _MOST:
        return (_edit(before, after, (head, len(old) - tail), (head, len(new) - tail)),)
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes():
        if kind != "equal":
            found.append(_edit(before, after, (head + a, head + b), (head + c, head + d)))
    return tuple(found)


def _edit(before: Text, after: Text, old: tuple[int, int], new: tuple[int, int]) -> TextEdit:
    """Lines `old` of `before` become lines `new` of `after`; at the end of the text the break in front counts."""
    if old[1] < len(before.lines) and new[1] < len(after.lines):
        span = Span(Position(old[0], 0), Position(old[1], 0))
        return TextEdit(span, after.slice(Span(Position(new[0], 0), Position(new[1], 0))))
    start, begin = _end_before(before, old[0]), _end_before(after, new[0])
    return TextEdit(Span(start, before.end), after.slice(Span(begin, after.end)))


def _end_before(text: Text, line: int) -> Position:
    return Position(line - 1, len(text.lines[line - 1])) if line > 0 else Position(0, 0)
