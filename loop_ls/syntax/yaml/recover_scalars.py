"""Values in text that libyaml refuses: block texts, quoted and plain ones, aliases.

Each reading ends at the latest where the indentation of the owner's key begins again.
"""

from __future__ import annotations

from collections.abc import Sequence as Lines
from typing import NamedTuple

from loop_ls.syntax.nodes import Node, Scalar, Style
from loop_ls.syntax.yaml import messages
from loop_ls.syntax.yaml.anchors import Anchors
from loop_ls.syntax.yaml.escapes import unquoted
from loop_ls.syntax.yaml.line_patterns import (
    ALIAS,
    BLOCK_HEADER,
    DOUBLE,
    SINGLE,
    indent_of,
    is_blank,
    is_dash,
    key_in,
    without_comment,
)
from loop_ls.syntax.yaml.recover_flow import Flow
from loop_ls.text.fault import Fault
from loop_ls.text.position import Position, Span


class Value(NamedTuple):
    """A node, and the line to go on with."""

    node: Node
    following: int


class ScalarRecovery:
    """Reads values of `lines`; faults are added to `faults`."""

    def __init__(self, lines: Lines[str], found: list[Fault], anchors: Anchors) -> None:
        self.lines, self.faults, self.anchors = lines, found, anchors

    def read(self, line: int, column: int, limit: int, key: str, depth: int) -> Value:
        """The value at `column`; further lines of it are indented deeper than `limit`."""
        text = self.lines[line]
        sign = text[column]
        if sign in "|>":
            return self._block(line, column, limit)
        if sign in "\"'":
            return self._quoted(line, column, limit)
        if sign in "[{" and (value := self._flow(line, column, limit, depth)):
            return value
        if sign == "*" and (found := ALIAS.match(without_comment(text), column)):
            span = Span(Position(line, column), Position(line, column + 1 + len(found[1])))
            return Value(self.anchors.alias(found[1], span, depth), line + 1)
        return self._plain(line, column, limit, key)

    def _block(self, line: int, column: int, limit: int) -> Value:
        text = self.lines[line]
        header = BLOCK_HEADER.match(text, column)
        if header is None:
            end = len(text.rstrip())
            rest = text[column + 1 :].strip()
            if text[column] == "|" or indent_of(self._next(line)) > limit:
                self.faults.append(messages.behind_header(line, column + 1, end, text[column]))
            else:
                why = f"starts with `{text[column]}`"
                self.faults.append(messages.quotes_around(line, column, end, why))
                span = Span(Position(line, column), Position(line, end))
                return Value(Scalar(span, text[column] + " " + rest), line + 1)
        end = line + 1
        while end < len(self.lines) and self._in_block(self.lines[end], limit):
            end += 1
        body = list(self.lines[line + 1 : end])
        while body and not body[-1].strip():
            body.pop()
        margin = next((indent_of(row) for row in body if row.strip()), limit + 1)
        for number, row in enumerate(body, line + 1):
            if row.strip() and indent_of(row) < margin and "\t" not in row[: len(row) - len(row.lstrip())]:
                self.faults.append(messages.indentation(number, indent_of(row), margin))
                break
        rows = [row[min(margin, indent_of(row)) :] for row in body]
        literal = text[column] == "|"
        value = "\n".join(rows) if literal else _folded(rows)
        stop = Position(line + len(body), len(body[-1].rstrip())) if body else Position(line, column + 1)
        style = Style.LITERAL if literal else Style.FOLDED
        return Value(Scalar(Span(Position(line, column), stop), value + "\n" if body else "", style), end)

    def _in_block(self, row: str, limit: int) -> bool:
        body = row.lstrip(" \t")
        if not body or indent_of(row) > limit:
            return True
        return "\t" in row[: len(row) - len(body)] and not key_in(body) and not is_dash(body)

    def _quoted(self, line: int, column: int, limit: int) -> Value:
        text = self.lines[line]
        sign = text[column]
        style, pattern = (Style.DOUBLE, DOUBLE) if sign == '"' else (Style.SINGLE, SINGLE)
        start = Position(line, column)
        if found := pattern.match(text, column):
            if not is_blank(text[found.end() :]):
                self.faults.append(messages.behind_quote(line, found.end(), len(text.rstrip())))
            return Value(Scalar(Span(start, Position(line, found.end())), unquoted(found[0]), style), line + 1)
        written = text[column:]
        last = line + 1
        while last < len(self.lines) and (not self.lines[last].strip() or indent_of(self.lines[last]) > limit):
            row = self.lines[last]
            written += "\n" + row
            if sign in row:
                found = pattern.match(written)
                if found is None or not is_blank(written[found.end() :]):
                    break
                stop = Position(last, len(row) - (len(written) - found.end()))
                value = _folded([part.strip(" \t") for part in unquoted(found[0]).split("\n")])
                return Value(Scalar(Span(start, stop), value, style), last + 1)
            last += 1
        stop = Position(line, len(text.rstrip()))
        self.faults.append(messages.open_quote(line, column, stop.column, sign))
        return Value(Scalar(Span(start, stop), text[column + 1 : stop.column], style), line + 1)

    def _flow(self, line: int, column: int, limit: int, depth: int) -> Value | None:
        """A flow collection; None for text that only starts like one (`{{x}} please`)."""
        text = self.lines[line]
        flow = Flow(self.lines, Position(line, column), limit, self.anchors, depth)
        if text.startswith("{{", column) and (not flow.closed or flow.end.line != line):
            return None
        if flow.closed and not is_blank(self.lines[flow.end.line][flow.end.column :]):
            return None
        self.faults += flow.faults
        assert flow.node is not None
        return Value(flow.node, flow.end.line + 1)

    def _plain(self, line: int, column: int, limit: int, key: str) -> Value:
        written = without_comment(self.lines[line][column:])
        self._judge(line, column, written, key)
        stop = Position(line, column + len(written))
        parts, following = [written], line + 1
        if len(self.lines[line].rstrip()) == stop.column:  # a comment ends a plain text
            following, stop = self._continuation(line, limit, parts, stop)
        return Value(Scalar(Span(Position(line, column), stop), _folded(parts)), following)

    def _continuation(self, line: int, limit: int, parts: list[str], stop: Position) -> tuple[int, Position]:
        following, blanks = line + 1, 0
        while following < len(self.lines):
            row = self.lines[following]
            body = row.strip(" \t")
            if not body:
                blanks += 1
                following += 1
                continue
            if indent_of(row) <= limit or body[0] == "#" or "\t" in row[: len(row) - len(row.lstrip())]:
                break
            if key_in(body) or is_dash(body):
                break
            written = without_comment(body)
            parts += [""] * blanks + [written]
            blanks = 0
            stop = Position(following, len(row) - len(row.lstrip(" \t")) + len(written))
            following += 1
            if len(row.rstrip()) != stop.column:
                break
        return following - blanks, stop

    def _judge(self, line: int, column: int, text: str, key: str) -> None:
        """Why libyaml refuses a plain text, where it does."""
        sign, end = text[0], column + len(text)
        if is_dash(text):
            self.faults.append(messages.inline_item(line, column, end, key))
        elif text.startswith("{{"):
            self.faults.append(messages.quotes_around(line, column, end, "starts with `{{`"))
        elif sign in "@`%*&!|>[]{},":
            self.faults.append(messages.quotes_around(line, column, end, f"starts with `{sign}`"))
        elif ": " in text or ":\t" in text or text.endswith(":"):
            self.faults.append(messages.quotes_around(line, column, end, "contains a colon followed by a space"))

    def _next(self, line: int) -> str:
        """The next line with content."""
        for row in self.lines[line + 1 :]:
            if row.strip():
                return row
        return ""


def _folded(rows: list[str]) -> str:
    """Lines joined as YAML folds them: one break is a space, each empty line a break."""
    text, breaks = "", 0
    for number, row in enumerate(rows):
        if not row:
            breaks += 1
            continue
        if number:
            text += "\n" * breaks if breaks else " "
        text += row
        breaks = 0
    return text
