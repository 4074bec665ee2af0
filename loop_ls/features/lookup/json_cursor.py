"""Where the cursor is in a JSON text, half typed or not: which object, which key, which value.

Reads the signs of the whole text once, commas and brackets that are missing included; what follows
the cursor counts as written, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from loop_ls.syntax.json.text import text_of
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

Where = Literal["key", "value", "item"]

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\[^\n])*("?)|[{}\[\],:]|[^\s"{}\[\],:]+')
_OPENS = {"{": "object", "[": "list"}


@dataclass(frozen=True, slots=True)
class JsonSpot:
    """`path` leads to the object (`key`), to the value, or to the list (`item`); entries of lists are `[]`.

    `word` is what an insertion replaces, quotes included; `text` is what stands in it. `written`: the
    entries of the object around the place, `outer` those of the objects around that, innermost first.
    `comma`: where a comma is missing in front. `more`: another entry follows, so a comma comes behind.
    `full`: nothing fits in here, because the value of the whole file is there, or a colon comes first.
    """

    where: Where
    path: tuple[str, ...]
    word: Span
    text: str
    quoted: bool
    written: Mapping[str, str]
    outer: tuple[Mapping[str, str], ...]
    comma: Position | None = None
    more: bool = False
    colon: bool = False
    full: bool = False


@dataclass(slots=True, eq=False)
class _Frame:
    """`state`: what comes next. `key` is the one whose value comes."""

    kind: str
    path: tuple[str, ...]
    state: Literal["key", "colon", "value", "comma"]
    key: str | None = None
    written: dict[str, str] = field(default_factory=dict)


class _Sign(NamedTuple):
    text: str
    start: int
    end: int
    closed: bool  # of a text: its last quote is there

    @property
    def is_text(self) -> bool:
        return self.text[0] == '"'

    @property
    def meaning(self) -> str:
        body = self.text[1:-1] if self.closed else self.text[1:]
        return text_of(body)[0] if self.is_text else self.text

    def touches(self, offset: int) -> bool:
        """Whether the cursor is in this word: inside of it, or at its end where it may go on."""
        if self.text[0] in "{}[],:" or not self.start < offset <= self.end:
            return not self.is_text and self.text[0] not in "{}[],:" and offset == self.start
        return offset < self.end or not (self.is_text and self.closed)


def json_spot(text: Text, at: Position) -> JsonSpot:
    """The spot at a place that exists in the text."""
    source = "\n".join(text.lines)
    offset = sum(len(line) + 1 for line in text.lines[: at.line]) + at.column
    reader = _Reader()
    word: _Sign | None = None
    taken: _Snapshot | None = None
    following: _Sign | None = None
    for sign in _signs(source):
        if taken is None and sign.touches(offset):
            word = sign
        if taken is None and (word is not None or sign.start >= offset):
            taken = reader.snapshot()
        if sign is word:
            reader.pass_over()
            continue
        if taken is not None and following is None:
            following = sign
        reader.take(sign)
    return _spot(text, at, taken or reader.snapshot(), word, following)


def _signs(source: str) -> list[_Sign]:
    return [
        _Sign(found[0], found.start(), found.end(), found[1] == '"' and len(found[0]) > 1)
        for found in _TOKEN.finditer(source)
    ]


class _Snapshot(NamedTuple):
    frames: tuple[_Frame, ...]
    state: str
    key: str | None
    last_end: int | None  # of the value in front, where a comma is missing


class _Reader:
    def __init__(self) -> None:
        self.frames = [_Frame("root", (), "value")]
        self.last_end = 0

    def snapshot(self) -> _Snapshot:
        top = self.frames[-1]
        return _Snapshot(tuple(self.frames), top.state, top.key, self.last_end if top.state == "comma" else None)

    def pass_over(self) -> None:
        """The word under the cursor is not written yet; what follows it still belongs to it."""
        top = self.frames[-1]
        if top.kind == "object" and top.state in ("key", "comma"):
            top.state, top.key = "colon", None
        else:
            top.state = "comma"

    def take(self, sign: _Sign) -> None:
        top = self.frames[-1]
        self_end = sign.end
        match sign.text:
            case "{" | "[":
                self._value(top)
                inner = "key" if sign.text == "{" else "value"
                part = () if top.kind == "root" else ("[]",) if top.kind == "list" else (top.key or "",)
                self.frames.append(_Frame(_OPENS[sign.text], (*top.path, *part), inner))  # type: ignore[arg-type]
            case "}" | "]":
                if len(self.frames) > 1:
                    self.frames.pop()
                    self.frames[-1].state = "comma"
                    self.last_end = self_end
            case ":":
                top.state = "value"
            case ",":
                top.state = "key" if top.kind == "object" else "value"
            case _ if top.kind == "object" and top.state in ("key", "comma", "colon"):
                top.key, top.state = sign.meaning, "colon"
                top.written.setdefault(sign.meaning, "")
            case _:
                if top.kind == "object" and top.key is not None:
                    top.written[top.key] = sign.meaning
                self._value(top)
                self.last_end = self_end

    def _value(self, top: _Frame) -> None:
        if top.kind == "object" and top.key is not None:
            top.written.setdefault(top.key, "")
        top.state = "comma"


def _spot(text: Text, at: Position, taken: _Snapshot, word: _Sign | None, following: _Sign | None) -> JsonSpot:
    top = taken.frames[-1]
    where: Where = "value"
    path = top.path
    if top.kind == "object" and taken.state in ("key", "comma"):
        where = "key"
    elif top.kind == "object":
        path = (*top.path, taken.key or "")
    elif top.kind == "list":
        where = "item"
    span = Span(at, at) if word is None else Span(_place(text, word.start), _place(text, word.end))
    objects = [frame.written for frame in reversed(taken.frames) if frame.kind == "object"]
    own = {**objects[0]} if objects else {}
    if where == "value":
        own.pop(taken.key or "", None)
    comma = None
    if taken.last_end is not None and where in ("key", "item"):
        comma = _place(text, taken.last_end)
    starts = following is not None and (following.is_text or following.text in "{[" or following.text.isalnum())
    return JsonSpot(
        where,
        path,
        span,
        "" if word is None else word.meaning,
        word is not None and word.is_text,
        own,
        tuple(objects[1:]),
        comma,
        more=starts and where in ("key", "item"),
        colon=following is not None and following.text == ":" and where == "key",
        full=_is_full(top, taken.state, following),
    )


def _is_full(top: _Frame, state: str, following: _Sign | None) -> bool:
    if top.kind == "root":
        return state == "comma" or following is not None
    return top.kind == "object" and state == "colon"


def _place(text: Text, offset: int) -> Position:
    for number, line in enumerate(text.lines):
        if offset <= len(line):
            return Position(number, offset)
        offset -= len(line) + 1
    return text.end
