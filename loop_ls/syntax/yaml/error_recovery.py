"""Lines that libyaml refuses, read by their indentation: a half-typed line costs one fault, not the tree.

Reads every text without raising. Not a second YAML reader: what it sees differently from libyaml
never matters, because it is asked only where libyaml gave up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Sequence as Lines
from typing import NamedTuple

from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.yaml import messages as faults
from loop_ls.syntax.yaml.anchors import MAX_DEPTH, Anchored, Anchors
from loop_ls.syntax.yaml.escapes import unquoted
from loop_ls.syntax.yaml.line_patterns import (
    DASH_WITHOUT_SPACE,
    KEY_WITHOUT_SPACE,
    ODD_BLANKS,
    ODD_INDENT,
    PROPERTY,
    QUOTED_WORD,
    WORD,
    is_blank,
    is_dash,
    key_in,
    without_comment,
)
from loop_ls.syntax.yaml.merge import merge
from loop_ls.syntax.yaml.recover_scalars import ScalarRecovery
from loop_ls.text.fault import Fault
from loop_ls.text.position import Position, Span


class _Level:
    """An open block collection. `waiting`: its last key or dash has no value yet. `loose`: how far
    its indent may be off, because the dash in front of it is."""

    __slots__ = ("anchor", "end", "indent", "key", "loose", "mapping", "parts", "properties", "start", "tag", "waiting")

    def __init__(self, mapping: bool, indent: int, start: Position, properties: tuple[str | None, str | None]) -> None:
        self.mapping, self.indent, self.start, self.end = mapping, indent, start, start
        self.anchor, self.tag = properties
        self.key: Scalar | None = None
        self.waiting = False
        self.loose = 0
        self.properties: tuple[str | None, str | None] = (None, None)
        self.parts: list[Entry | Node | None] = []


class Tolerated(NamedTuple):
    """What the lines hold as far as it can be told, and what is wrong with them, in written order."""

    node: Node | None
    faults: tuple[Fault, ...]
    anchors: tuple[Anchored, ...]
    missing: tuple[Alias, ...]
    added: int


def read(lines: Lines[str], dash: int | None = None, outer: Iterable[Anchored] = ()) -> Tolerated:
    """`dash`: where the item that the lines begin with should stand, if it stands elsewhere. `outer`: anchors in
    front of the lines."""
    reader = _Reader(lines, dash, outer)
    reader.run()
    anchors = reader.anchors
    faults = sorted((*reader.faults, *anchors.faults), key=lambda fault: fault.span)
    return Tolerated(reader.root, tuple(faults), anchors.found(), tuple(anchors.missing), anchors.added)


class _Reader:
    def __init__(self, lines: Lines[str], dash: int | None, outer: Iterable[Anchored]) -> None:
        self.lines, self.dash = lines, dash
        self.faults: list[Fault] = []
        self.root: Node | None = None
        self.stack: list[_Level] = []
        self.anchors = Anchors(outer)
        self.values = ScalarRecovery(lines, self.faults, self.anchors)
        self.stray = -2  # the last line reported as stray text

    def run(self) -> None:
        line = 0
        while line < len(self.lines):
            line = line + 1 if is_blank(self.lines[line]) else self._line(line)
        while self.stack:
            self._pop()

    # -- one line

    def _line(self, line: int) -> int:
        """Reads what begins on this line; the line to go on with."""
        text = self.lines[line]
        column = len(text) - len(text.lstrip(" \t"))
        indent = column
        if "\t" in text[:column]:
            self.faults.append(faults.tab(line, text.index("\t"), column))
            indent = self._nearest(len(text[:column].expandtabs(2)), is_dash(text[column:]))
        odd = None if text.isascii() else ODD_INDENT.match(text)
        if odd is not None:
            first = next(number for number, sign in enumerate(text) if sign in ODD_BLANKS)
            self.faults.append(faults.odd_blank(line, first, odd.end(), text[first]))
            indent = column = odd.end()
            if is_blank(text[column:]):
                return line + 1
        body = text[column:]
        fresh, loose = False, 0
        while self._begins_item(body, indent):
            if len(self.stack) >= MAX_DEPTH:
                return self._too_deep(line, column)
            if not self._item(line, column, indent):
                return line + 1
            loose = abs((self.stack[-1].indent if self.dash is None else self.dash) - indent)
            self.dash = None
            spaceless = not is_dash(body)
            if spaceless:
                loose = max(loose, 1)  # what follows may stand where the dash has it now
                self.faults.append(faults.missing_dash_space(line, column))
            rest = body[1:].lstrip(" \t")
            column += len(body) - len(rest)
            indent, body, fresh = column + spaceless, rest, True
            if is_blank(body):
                return line + 1
        if len(self.stack) >= MAX_DEPTH:
            return self._too_deep(line, column)
        following = self._content(line, column, indent, body, fresh)
        if fresh and self.stack:
            self.stack[-1].loose = loose
        return following

    def _nearest(self, width: int, item: bool) -> int:
        """The indent that a line with tabs most probably means."""
        if self._takes_text(width):
            return width
        likely = [level.indent for level in self.stack if level.mapping is not item]
        return min(likely, key=lambda indent: abs(indent - width), default=width)

    def _content(self, line: int, column: int, indent: int, body: str, fresh: bool) -> int:
        found = key_in(body)
        if found is None and (fresh or not self._takes_text(indent)):
            found = KEY_WITHOUT_SPACE.match(body)
        if found is not None:
            self._map_for(line, column, indent, fresh)
            return self._entry(line, column, body, found)
        word = WORD.fullmatch(without_comment(body))
        if word and self._is_half_key(line, indent, fresh):
            self._map_for(line, column, indent, fresh)
            self._half_key(line, column, word[0], Style.PLAIN)
            self.faults.append(faults.missing_colon(line, column, word[0]))
            return line + 1
        quoted = QUOTED_WORD.fullmatch(without_comment(body))
        if quoted and not fresh and self.stack and not self._takes_text(indent):
            self._map_for(line, column, indent, fresh)
            self._half_key(line, column, quoted[0], Style.DOUBLE if quoted[1] == '"' else Style.SINGLE)
            end = column + len(quoted[0])
            fault = faults.missing_colon(line, column, quoted[0])
            self.faults.append(fault if quoted[3] else faults.open_quote(line, column, end, quoted[1]))
            return line + 1
        if fresh or self._takes_text(indent) or (not self.stack and body[0] in "[{\"'|>"):
            limit = self.stack[-1].indent if self.stack else -1
            name = self.stack[-1].key.text if self.stack and self.stack[-1].key else ""
            return self._value(line, column, limit, name)
        self._report_stray(line, column, body)
        return line + 1

    def _takes_text(self, indent: int) -> bool:
        """Whether a value of its own line is expected here."""
        return bool(self.stack) and self.stack[-1].waiting and indent > self.stack[-1].indent

    def _is_half_key(self, line: int, indent: int, fresh: bool) -> bool:
        """Whether a lone word is a key that is being typed, not a text."""
        if not fresh and not self._takes_text(indent):
            return True
        for number in range(line + 1, len(self.lines)):
            row = self.lines[number]
            if not is_blank(row):
                body = row.lstrip(" ")
                return len(row) - len(body) == indent and bool(key_in(body))
        return False

    # -- items

    def _begins_item(self, body: str, indent: int) -> bool:
        if is_dash(body):
            return True
        if not DASH_WITHOUT_SPACE.match(body):
            return False
        if not self.stack:
            return True
        if any(not level.mapping and level.indent == indent for level in self.stack):
            return True
        return self.stack[-1].waiting and bool(key_in(body[1:]))

    def _item(self, line: int, column: int, indent: int) -> bool:
        """Opens an item of the list that `indent` means; False if there is none."""
        at = Position(line, column)
        depth = self._list_at(indent)
        if depth is None and (not self.stack or self._opens_list(indent)):
            if self.dash is not None and not self.stack:
                self.faults.append(faults.indentation(line, column, self.dash))
            self._drop_deeper(indent)
            self._push(False, indent, at)
        elif depth is None:
            depth = next((n for n in range(len(self.stack) - 1, -1, -1) if not self.stack[n].mapping), None)
            if depth is None:
                self.faults.append(faults.stray_item(line, column, len(self.lines[line].rstrip())))
                return False
            self.faults.append(faults.indentation(line, column, self.stack[depth].indent))
        if depth is not None:
            self._pop_to(depth)
        level = self.stack[-1]
        self._settle(level)
        level.waiting = True
        level.end = Position(line, column + 1)
        return True

    def _list_at(self, indent: int) -> int | None:
        for depth in range(len(self.stack) - 1, -1, -1):
            level = self.stack[depth]
            if level.indent == indent and not level.mapping:
                return depth
            if level.indent < indent:
                return None
        return None

    def _opens_list(self, indent: int) -> bool:
        level = self.stack[-1]
        return level.waiting and (indent > level.indent or (level.mapping and indent == level.indent))

    def _drop_deeper(self, indent: int) -> None:
        while len(self.stack) > 1 and self.stack[-1].indent > indent:
            self._pop()

    # -- mappings

    def _map_for(self, line: int, column: int, indent: int, fresh: bool) -> None:
        """Makes the mapping that a key at `indent` belongs to the innermost level."""
        if not self.stack or fresh or self._takes_text(indent):
            self._push(True, indent, Position(line, column))
            return
        depth = self._mapping_at(indent)
        if depth is None:
            depth = self._likely_mapping(indent)
            if depth is None:
                self._push(True, indent, Position(line, column))
                return
            self.faults.append(faults.indentation(line, column, self.stack[depth].indent))
        self._pop_to(depth)

    def _mapping_at(self, indent: int) -> int | None:
        for depth in range(len(self.stack) - 1, -1, -1):
            level = self.stack[depth]
            if level.mapping and abs(level.indent - indent) <= level.loose:
                level.indent, level.loose = indent, 0
                return depth
            if level.indent < indent:
                return None
        return None

    def _likely_mapping(self, indent: int) -> int | None:
        """The mapping for a key whose indent fits nowhere: the outermost one that lies deeper, else
        the innermost one."""
        deeper = [n for n, level in enumerate(self.stack) if level.mapping and level.indent > indent]
        if deeper:
            return deeper[0]
        mappings = [n for n, level in enumerate(self.stack) if level.mapping]
        return mappings[-1] if mappings else None

    def _entry(self, line: int, column: int, body: str, found: re.Match[str]) -> int:
        spaceless = found.re is KEY_WITHOUT_SPACE
        level = self.stack[-1]
        self._settle(level)
        start, end = column + found.start("key"), column + found.end("key")
        level.key = self._key(found["key"], Span(Position(line, start), Position(line, end)))
        level.waiting = True
        level.end = Position(line, column + (found.end("key") if spaceless else body.index(":", found.end("key"))) + 1)
        if spaceless:
            gap = ODD_INDENT.match(found["value"])
            if gap is not None:
                at = column + found.start("value")
                self.faults.append(faults.odd_blank(line, at, at + gap.end(), found["value"][0]))
                return self._value_behind(line, at + gap.end(), level)
            self.faults.append(faults.missing_space(line, end, found["key"]))
        if found["value"] is None or is_blank(found["value"]):
            return line + 1
        return self._value(line, column + found.start("value"), level.indent, level.key.text)

    def _value_behind(self, line: int, column: int, level: _Level) -> int:
        """The value of the key that was just read, where blanks that are none stand in front of it."""
        if is_blank(self.lines[line][column:]):
            return line + 1
        return self._value(line, column, level.indent, level.key.text if level.key is not None else "")

    def _key(self, written: str, span: Span) -> Scalar:
        if written[0] in "\"'":
            return Scalar(span, unquoted(written), Style.DOUBLE if written[0] == '"' else Style.SINGLE)
        target = self.anchors.target(written[1:]) if written[0] == "*" else None
        return Scalar(span, target.text if isinstance(target, Scalar) else written)

    def _half_key(self, line: int, column: int, written: str, style: Style) -> None:
        level = self.stack[-1]
        self._settle(level)
        end = Position(line, column + len(written))
        text = written.strip(written[0]) if style.quoted else written
        level.parts.append(Entry(Scalar(Span(Position(line, column), end), text, style), None))
        level.end = end

    def _value(self, line: int, column: int, limit: int, key: str) -> int:
        anchor = tag = None
        while found := PROPERTY.match(self.lines[line], column):
            anchor, tag = found["anchor"] or anchor, found["tag"] or tag
            column = found.end()
        if is_blank(self.lines[line][column:]):
            if self.stack:
                self.stack[-1].properties = (anchor, tag)
            return line + 1
        node, following = self.values.read(line, column, limit, key, len(self.stack))
        if anchor is not None or tag is not None:
            node = _with_properties(node, anchor, tag)
        if anchor is not None:
            self.anchors.end(anchor, node)
        self._attach(node)
        return following

    # -- the stack

    def _push(self, mapping: bool, indent: int, start: Position) -> None:
        properties = self.stack[-1].properties if self.stack else (None, None)
        if self.stack:
            self.stack[-1].properties = (None, None)
        if properties[0] is not None:
            self.anchors.begin(properties[0])
        self.stack.append(_Level(mapping, indent, start, properties))

    def _pop_to(self, depth: int) -> None:
        while len(self.stack) - 1 > depth:
            self._pop()

    def _pop(self) -> None:
        level = self.stack[-1]
        self._settle(level)
        self.stack.pop()
        span = Span(level.start, max(level.start, level.end))
        node: Node
        if level.mapping:
            entries, merges = merge([part for part in level.parts if isinstance(part, Entry)], self.anchors)
            node = Mapping(span, entries, False, level.anchor, level.tag, merges)
        else:
            items = tuple(part for part in level.parts if not isinstance(part, Entry))
            node = Sequence(span, items, False, level.anchor, level.tag)
        if level.anchor is not None:
            self.anchors.end(level.anchor, node)
        self._attach(node)

    def _attach(self, node: Node) -> None:
        if not self.stack:
            self.root = self.root or node
            return
        level = self.stack[-1]
        level.end = max(level.end, node.span.end)
        level.waiting = False
        if not level.mapping:
            level.parts.append(node)
        elif level.key is not None:
            level.parts.append(Entry(level.key, node))
            level.key = None

    def _settle(self, level: _Level) -> None:
        """The last key or dash stays without a value."""
        if not level.waiting:
            return
        level.waiting = False
        level.properties = (None, None)
        if not level.mapping:
            level.parts.append(None)
        elif level.key is not None:
            level.parts.append(Entry(level.key, None))
            level.key = None

    # -- what cannot be read

    def _too_deep(self, line: int, column: int) -> int:
        self.faults.append(faults.too_deep(line, column, MAX_DEPTH))
        return len(self.lines)

    def _report_stray(self, line: int, column: int, body: str) -> None:
        """One fault for neighbouring lines of stray text."""
        if self.stray != line - 1:
            self.faults.append(faults.stray_text(line, column, body.rstrip()))
        self.stray = line


def _with_properties(node: Node, anchor: str | None, tag: str | None) -> Node:
    match node:
        case Scalar():
            return Scalar(node.span, node.text, node.style, anchor, tag)
        case Mapping():
            return Mapping(node.span, node.entries, node.flow, anchor, tag)
        case Sequence():
            return Sequence(node.span, node.items, node.flow, anchor, tag)
        case Alias():
            return node
