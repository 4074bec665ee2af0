"""The shapes that nearly all lines of nearly all files have, read without libyaml in a third of its time.

Keys of plain letters, values on one line, literal texts, short lists. At the first sign of anything
else the answer is None, and libyaml reads the lines. What is read here is what libyaml reads: a
test compares the two on every document that it can think of. One thing libyaml would refuse is
read as well, if it is wanted: a word that is going to be a key, because that is what people type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence as Lines

from loop_ls.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.yaml.anchors import MAX_DEPTH
from loop_ls.syntax.yaml.line_patterns import WORD, indent_of, is_blank
from loop_ls.syntax.yaml.messages import missing_colon
from loop_ls.text.fault import Fault
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position, Span

_LINE = pattern(
    r"""(\ *)                                             # 1 indentation
    (-\ +(?=[^\s\#]))?                                   # 2 dash
    (?:([A-Za-z_$][A-Za-z0-9_$-]{0,250}):(?=\ |$))?       # 3 key
    \ *
    (?: ((?:[^\s\-?:,\[\]{}\#&*!|>'"%@`]|-(?=[0-9A-Za-z]))
         (?:[^\s:\#]|:(?=\S)|\ +(?=[^\s\#]))*)            # 4 plain
      | ("[^"\\]*")                                       # 5 double quotes
      | ('[^']*')                                         # 6 single quotes
      | (\[\ *(?:[A-Za-z_][\w-]*\ *(?:,\ *[A-Za-z_][\w-]*\ *)*)?\])   # 7 list of names
      | (\|-?(?=\ *$))                                    # 8 literal text
    )?
    \ *(?:(?:^|(?<=\ ))\#.*)?$""",
    re.VERBOSE | re.ASCII,
)
_NAME = pattern(r"[A-Za-z_][\w-]*", re.ASCII)
_new = tuple.__new__


class _Frame:
    """An open block collection. `waiting`: its last key has no value yet."""

    __slots__ = ("end", "indent", "key", "mapping", "parts", "start")

    def __init__(self, mapping: bool, indent: int, start: Position) -> None:
        self.mapping, self.indent, self.start, self.end = mapping, indent, start, start
        self.key: Scalar | None = None
        self.parts: list[Entry | Node | None] = []


def read(lines: Lines[str], more: bool, half: list[Fault] | None = None) -> Mapping | Sequence | None:
    """The root of the lines, or None where it takes more to read them. `more`: a line follows.
    `half` receives a fault for each word without its colon; None: such words are not read."""
    if not "".join(lines).isprintable():
        return None
    stack: list[_Frame] = []
    number, count = 0, len(lines)
    while number < count:
        line = lines[number]
        number += 1
        if not line:
            continue
        found = _LINE.match(line)
        if found is None:
            return None
        blanks, dash, key, plain, double, single, names, bar = found.groups()
        if dash is None and key is None:
            if found.lastindex != 1 and not (half is not None and _half_key(stack, found, lines, number, half)):
                return None
            continue  # a blank line or a comment, or a key that is being typed
        indent = column = len(blanks)
        row = number - 1
        if dash is not None:
            if not _item(stack, indent, Position(row, indent)):
                return None
            column += len(dash)
            stack[-1].end = Position(row, indent + 1)
        if key is not None:
            if not _mapping(stack, column, dash is not None, row):
                return None
            frame = stack[-1]
            end = _new(Position, (row, column + len(key)))
            frame.key = Scalar(_new(Span, (_new(Position, (row, column)), end)), key)
            frame.end = _new(Position, (row, column + len(key) + 1))
            if len(stack) > MAX_DEPTH:
                return None
        value: Scalar | Sequence
        if plain is not None:
            value = Scalar(_span(found, 4, row), plain)
        elif double is not None:
            value = Scalar(_span(found, 5, row), double[1:-1], Style.DOUBLE)
        elif single is not None:
            value = Scalar(_span(found, 6, row), single[1:-1], Style.SINGLE)
        elif names is not None:
            value = _names(line, found.start(7), found.end(7), row)
        elif bar is not None:
            text, number = _literal(lines, row, found.start(8), stack[-1].indent, bar, more)
            if text is None:
                return None
            value = text
        else:
            continue
        frame = stack[-1]
        frame.end = value.span[1]
        if frame.mapping:
            assert frame.key is not None
            frame.parts.append(Entry(frame.key, value))
            frame.key = None
        else:
            frame.parts.append(value)
    while len(stack) > 1:
        _close(stack)
    return _node(stack[0]) if stack else None


def _half_key(stack: list[_Frame], found: re.Match[str], lines: Lines[str], number: int, half: list[Fault]) -> bool:
    """A word where a key belongs. As the first line of a mapping it may be a text: then another key
    has to follow. `number`: the line behind it."""
    word, column = found[4], found.end(1)
    if not stack or not word or not WORD.fullmatch(word):
        return False
    if column > stack[-1].indent:
        following = next((line for line in lines[number:] if not is_blank(line)), "")
        if indent_of(following) != column:
            return False
    if not _mapping(stack, column, False, number - 1):
        return False
    key = Scalar(_span(found, 4, number - 1), word)
    stack[-1].parts.append(Entry(key, None))
    stack[-1].key = None
    stack[-1].end = key.span.end
    half.append(missing_colon(number - 1, column, word))
    return True


def _item(stack: list[_Frame], indent: int, at: Position) -> bool:
    """Makes the list that an item at `indent` belongs to the innermost frame."""
    while stack and stack[-1].indent > indent:
        if len(stack) == 1:
            return False
        _close(stack)
    if not stack:
        stack.append(_Frame(False, indent, at))
        return True
    frame = stack[-1]
    if not frame.mapping:
        return frame.indent == indent
    if frame.key is None:
        return False
    stack.append(_Frame(False, indent, at))
    return True


def _mapping(stack: list[_Frame], column: int, fresh: bool, row: int) -> bool:
    """Makes the mapping that a key at `column` belongs to the innermost frame. `fresh`: behind a dash."""
    if fresh or not stack:
        stack.append(_Frame(True, column, Position(row, column)))
        return True
    while stack[-1].indent > column or (stack[-1].indent == column and not stack[-1].mapping):
        if len(stack) == 1:
            return False
        _close(stack)
    frame = stack[-1]
    if frame.indent == column:
        if frame.key is not None:
            frame.parts.append(Entry(frame.key, None))
        return True
    if not frame.mapping or frame.key is None:
        return False
    stack.append(_Frame(True, column, Position(row, column)))
    return True


def _close(stack: list[_Frame]) -> None:
    """Ends the innermost frame: it is the value of the one around it."""
    node = _node(stack.pop())
    frame = stack[-1]
    frame.end = node.span.end
    if not frame.mapping:
        frame.parts.append(node)
    elif frame.key is not None:
        frame.parts.append(Entry(frame.key, node))
        frame.key = None


def _node(frame: _Frame) -> Mapping | Sequence:
    if frame.key is not None:
        frame.parts.append(Entry(frame.key, None))
    span = _new(Span, (frame.start, frame.end))
    if frame.mapping:
        return Mapping(span, tuple(frame.parts))  # type: ignore[arg-type]
    return Sequence(span, tuple(frame.parts))  # type: ignore[arg-type]


def _span(found: re.Match[str], group: int, row: int) -> Span:
    start, end = found.span(group)
    return _new(Span, (_new(Position, (row, start)), _new(Position, (row, end))))


def _names(line: str, start: int, end: int, row: int) -> Sequence:
    items = []
    for found in _NAME.finditer(line, start, end):
        first, last = found.span()
        items.append(Scalar(_new(Span, (_new(Position, (row, first)), _new(Position, (row, last)))), found[0]))
    return Sequence(_new(Span, (_new(Position, (row, start)), _new(Position, (row, end)))), tuple(items), True)


def _literal(lines: Lines[str], row: int, column: int, parent: int, bar: str, more: bool) -> tuple[Scalar | None, int]:
    """The literal text whose header stands in `row`, and the line behind it."""
    first = row + 1
    while first < len(lines) and not lines[first].strip(" "):
        first += 1
    if first == len(lines):
        return None, first
    margin = len(lines[first]) - len(lines[first].lstrip(" "))
    if margin <= parent:
        return None, first
    start = " " * margin
    rows, last, number = [], first, row + 1
    while number < len(lines):
        line = lines[number]
        if line.startswith(start):
            if line.isspace():
                return None, number  # blanks that count
            rows.append(line[margin:])
            last = number
        elif not line.strip(" "):
            rows.append("")
        else:
            break
        number += 1
    if last == len(lines) - 1 and not more:
        return None, number
    del rows[last - row :]
    text = "\n".join(rows)
    span = Span(Position(row, column), Position(last, len(lines[last].rstrip(" "))))
    return Scalar(span, text if bar == "|-" else text + "\n", Style.LITERAL), number
