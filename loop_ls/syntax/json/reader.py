"""JSON to the same nodes as YAML: strict about what JSON allows, tolerant about what is half typed.

Comments, commas too many or too few, single quotes, open texts and brackets are faults, and
everything around them is read. Never raises.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence as Lines

from loop_ls.syntax.json import messages as faults
from loop_ls.syntax.json.text import text_of
from loop_ls.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.yaml.anchors import MAX_DEPTH
from loop_ls.syntax.yaml.refusal import offsets
from loop_ls.text.fault import Fault
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position, Span

_TOKEN = pattern(
    r"""[ \t\n]*(?:
      (?P<text>"(?:[^"\\\n]|\\[^\n])*")
    | (?P<sign>[{}\[\],:])
    | (?P<word>[^\s"'{}\[\],:/#]+)
    | (?P<comment>//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|\#[^\n]*)
    | (?P<single>'(?:[^'\\\n]|\\[^\n])*'?)
    | (?P<open>"[^\n]*)
    | (?P<stray>\S|\s)
    )""",
    re.VERBOSE,
)
_NUMBER = pattern(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = frozenset({"true", "false", "null"})
_CLOSES = {"{": "}", "[": "]"}
#: More faults than this, and what follows is not read: this is no JSON.
MAX_FAULTS = 40


class _Open:
    """An object or array that is not closed yet. `comma`: where the last comma stands, if nothing follows."""

    __slots__ = ("colon", "comma", "filled", "key", "parts", "sign", "start")

    def __init__(self, sign: str, start: int) -> None:
        self.sign, self.start = sign, start
        self.parts: list[Entry | Node | None] = []
        self.key: Scalar | None = None
        self.colon = False
        self.filled = False  # a part stands in front, so a comma must come
        self.comma: int | None = None


class JsonReader:
    """One reading of some lines: `root` and `faults`, places relative to the first line."""

    def __init__(self, lines: Lines[str]) -> None:
        self.faults: list[Fault] = []
        self.root: Node | None = None
        self._text = "\n".join(lines)
        self._starts = offsets(lines)
        self._open: list[_Open] = []
        self._done = self._cut = False
        self._end = 0
        self._read()
        self.faults.sort(key=lambda fault: fault.span)

    def _read(self) -> None:
        end = len(self._text.rstrip(" \t\n"))
        at = 0
        while at < end and (found := _TOKEN.match(self._text, at)):
            at = found.end()
            kind = found.lastgroup or "stray"
            start = found.start(kind)
            if kind == "comment":
                self.faults.append(faults.comment(self._span(start, at)))
            elif self._done:
                self.faults.append(faults.behind_root(self._span(start, end)))
                break
            elif kind == "sign":
                if not self._sign(found[kind], start):
                    break
            else:
                self._put(self._scalar(kind, found[kind], start, at), start)
            if len(self.faults) >= MAX_FAULTS:
                self.faults.append(faults.too_many(self._span(start, end)))
                self._cut = True
                break
            if kind != "comment":
                self._end = at
        before = len(self.faults)
        while self._open:
            opened = self._open[-1]
            self.faults.append(faults.open_bracket(self._span(opened.start, opened.start + 1), opened.sign))
            self._close(self._end)
        if self._cut:  # nobody knows what would close them
            del self.faults[before:]

    def _sign(self, sign: str, at: int) -> bool:
        """False where reading ends."""
        opened = self._open[-1] if self._open else None
        if sign in "{[":
            if len(self._open) >= MAX_DEPTH:
                self.faults.append(faults.too_deep(self._span(at, at + 1), MAX_DEPTH))
                self._cut = True
                return False
            self._before(at)
            self._open.append(_Open(sign, at))
        elif opened is None:
            self.faults.append(faults.stray(self._span(at, at + 1), sign))
        elif sign in "}]":
            self._closing(sign, at)
        elif sign == ",":
            self._comma(opened, at)
        else:
            self._colon(opened, at)
        return True

    def _closing(self, sign: str, at: int) -> None:
        """Closes what the sign means; what was opened behind that and not closed is a fault."""
        meant = self._meant(sign, at)
        while meant is not None and self._open[-1] is not meant:
            unclosed = self._open[-1]
            self.faults.append(faults.open_bracket(self._span(unclosed.start, unclosed.start + 1), unclosed.sign))
            self._close(self._end)
        opened = self._open[-1]
        if sign != _CLOSES[opened.sign]:
            self.faults.append(faults.wrong_bracket(self._span(at, at + 1), sign, opened.sign))
        if opened.comma is not None:
            self.faults.append(faults.last_comma(self._span(opened.comma, opened.comma + 1)))
        self._close(at + 1)

    def _meant(self, sign: str, at: int) -> _Open | None:
        """On a line of its own, a bracket closes what was opened on a line that begins where it stands."""
        line, column = self._place(at)
        if self._text[self._starts[line] : at].strip(" \t"):
            return None
        for opened in reversed(self._open):
            before = self._text[self._starts[self._place(opened.start).line] : opened.start + 1]
            if _CLOSES[opened.sign] == sign and len(before) - len(before.lstrip(" \t")) == column:
                return opened
        return None

    def _comma(self, opened: _Open, at: int) -> None:
        self._settle(opened)
        if not opened.filled:
            self.faults.append(faults.stray(self._span(at, at + 1), ","))
        opened.filled, opened.comma = False, at

    def _colon(self, opened: _Open, at: int) -> None:
        if opened.key is None or opened.colon:
            self.faults.append(faults.stray(self._span(at, at + 1), ":"))
        opened.colon = opened.key is not None

    def _before(self, at: int) -> None:
        """A part begins here: what must stand in front of it does, or is missed."""
        if not self._open:
            return
        opened = self._open[-1]
        if opened.key is not None and not opened.colon:
            self._settle(opened)
        if opened.filled:
            self.faults.append(faults.missing_comma(self._span(at, at + 1)))
        opened.comma = None

    def _put(self, node: Node, at: int) -> None:
        self._before(at)
        self._attach(node)

    def _attach(self, node: Node) -> None:
        if not self._open:
            self.root, self._done = node, True
            return
        opened = self._open[-1]
        if opened.sign == "[":
            opened.parts.append(node)
            opened.filled = True
        elif opened.colon and opened.key is not None:
            opened.parts.append(Entry(opened.key, node))
            opened.key, opened.colon, opened.filled = None, False, True
        elif isinstance(node, Scalar):
            if node.style is Style.PLAIN:
                self.faults.append(faults.bare_key(node.span, node.text))
            opened.key = node
            opened.filled = False
        else:
            self.faults.append(faults.missing_key(node.span))
            opened.filled = True

    def _settle(self, opened: _Open) -> None:
        """A key whose value or colon is missing."""
        if opened.key is None:
            return
        fault = faults.missing_value if opened.colon else faults.missing_colon
        self.faults.append(fault(opened.key.span, opened.key.text))
        opened.parts.append(Entry(opened.key, None))
        opened.key, opened.colon, opened.filled = None, False, True

    def _close(self, end: int) -> None:
        opened = self._open.pop()
        self._settle(opened)
        span = self._span(opened.start, end)
        if opened.sign == "{":
            self._attach(Mapping(span, tuple(part for part in opened.parts if isinstance(part, Entry)), True))
        else:
            self._attach(Sequence(span, tuple(part for part in opened.parts if not isinstance(part, Entry)), True))

    def _scalar(self, kind: str, written: str, start: int, end: int) -> Scalar:
        span = self._span(start, end)
        match kind:
            case "text":
                text, problem = text_of(written[1:-1])
                if problem:
                    self.faults.append(faults.bad_text(span, problem))
                return Scalar(span, text, Style.DOUBLE)
            case "open":
                written = written.rstrip()
                span = self._span(start, start + len(written))
                self.faults.append(faults.open_quote(span))
                return Scalar(span, text_of(written[1:].rstrip(",]} "))[0], Style.DOUBLE)
            case "single":
                self.faults.append(faults.single_quotes(span))
                return Scalar(span, written.strip("'"), Style.SINGLE)
            case _:
                if self._is_value() and written not in _WORDS and not _NUMBER.fullmatch(written):
                    self.faults.append(faults.bad_word(span, written))
                return Scalar(span, written, Style.PLAIN)

    def _is_value(self) -> bool:
        return not self._open or self._open[-1].sign == "[" or self._open[-1].colon

    def _span(self, start: int, end: int) -> Span:
        return Span(self._place(start), self._place(end))

    def _place(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset) - 1
        return Position(line, offset - self._starts[line])
