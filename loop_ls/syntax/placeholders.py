"""Placeholders in texts: everything in double braces, as written, with its place.

Whether a name exists is not known here, and neither is whether the field is interpolated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Sequence as Lines
from typing import Literal, NamedTuple

from loop_ls.syntax.nodes import Scalar
from loop_ls.syntax.scalar_source_map import ScalarSourceMap
from loop_ls.text.lines import Text
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Span

#: A letter or `_`, then letters, digits, `_` and `-` of any script; further parts behind dots.
NAME = r"[^\W\d][\w-]*(?:\.[\w-]+)*"

_new = tuple.__new__

Kind = Literal["variable", "expression", "unclosed", "triple", "other"]

_PLAIN = pattern(rf"\{{\{{\s*({NAME})\s*\}}\}}")
_TRIPLE = pattern(rf"\{{\{{\{{\s*({NAME})\s*\}}\}}\}}(?!\}})")
_ATTEMPT = pattern(r"[|\[(]|==|!=|\?:|\?[^:]*:")
_TYPED = pattern(r"[ \t]*[\w.-]*")
#: a remark may end further down; `{{#if x}}` and `{#name}` are none
_TAG = pattern(r"\{%.*?(?:%\}|$)|(?<!\{)\{#(?:.*?#\}|[^}\n]*$)", re.MULTILINE)
_FROM_ENVIRONMENT = pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Z_][A-Z0-9_]*)\b")
_CODE = pattern(r"^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1|\Z)|`[^`\n]+`", re.MULTILINE)


class Island(NamedTuple):
    """One `{{...}}`. `raw` is the text between the braces, `name` the variable.

    - `variable`: a NAME; - `triple`: a NAME in three braces; - `expression`: looks like an attempt
    to compute something; - `unclosed`: nothing closes it, `raw` is what was typed so far;
    - `other`: anything else, such as JSON. `dollar`: a `$` stands in front (`${{ x == "v" }}`).

    Places are worked out when they are asked for: a file has thousands, and few are ever shown.
    `outside` and `inside` are offsets in what is written, with and without the braces.
    """

    written: ScalarSourceMap
    outside: tuple[int, int]
    inside: tuple[int, int]
    name: str | None
    raw: str
    kind: Kind
    dollar: bool = False

    @property
    def span(self) -> Span:
        """The braces and what stands between them."""
        return self.written.span(*self.outside)

    @property
    def inner(self) -> Span:
        """What stands between the braces."""
        return self.written.span(*self.inside)

    def part(self, start: int, end: int) -> Span:
        """The place of `raw[start:end]`."""
        return self.written.span(self.inside[0] + start, self.inside[0] + end)


class Tag(NamedTuple):
    """A template tag of another language, `{% if x %}` or `{# remark #}`."""

    span: Span
    raw: str


class EnvironmentName(NamedTuple):
    """`${NAME}` (`braced`) or `$NAME`; `code`: between back-ticks or in a fenced block."""

    span: Span
    name: str
    braced: bool
    code: bool


def islands(lines: Lines[str] | Text, scalar: Scalar) -> tuple[Island, ...]:
    """Everything in double braces in a scalar of these lines, in written order."""
    if "{{" not in scalar.text:
        return ()
    written = ScalarSourceMap(_lines(lines), scalar)
    return tuple(_islands(written))


def template_tags(lines: Lines[str] | Text, scalar: Scalar) -> tuple[Tag, ...]:
    if "{%" not in scalar.text and "{#" not in scalar.text:
        return ()
    written = ScalarSourceMap(_lines(lines), scalar)
    return tuple(Tag(written.span(*found.span()), found[0]) for found in _TAG.finditer(written.text))


def environment_names(lines: Lines[str] | Text, scalar: Scalar) -> tuple[EnvironmentName, ...]:
    if "$" not in scalar.text:
        return ()
    written = ScalarSourceMap(_lines(lines), scalar)
    code = code_spans(written.text)
    return tuple(
        EnvironmentName(
            written.span(*found.span()),
            found[1] or found[2],
            found[1] is not None,
            any(start <= found.start() < end for start, end in code),
        )
        for found in _FROM_ENVIRONMENT.finditer(written.text)
    )


def code_spans(text: str) -> list[tuple[int, int]]:
    """What stands between back-ticks or in a fenced block, as offsets."""
    return [found.span() for found in _CODE.finditer(text)] if "`" in text or "~" in text else []


def _islands(written: ScalarSourceMap) -> Iterator[Island]:
    text = written.text
    at = text.find("{{")
    while at >= 0:
        plain = _PLAIN.match(text, at)
        if plain:
            end = plain.end()
            dollar = at > 0 and text[at - 1] == "$"
            inside = (at + 2, end - 2)
            yield _new(Island, (written, (at, end), inside, plain[1], text[at + 2 : end - 2], "variable", dollar))
            at = text.find("{{", end)
            continue
        triple = _TRIPLE.match(text, at)
        if triple:
            end = triple.end()
            yield Island(written, (at, end), (at + 3, end - 3), triple[1], text[at + 3 : end - 3], "triple")
            at = text.find("{{", end)
            continue
        close = text.find("}}", at + 2)
        if close < 0:
            typed = _TYPED.match(text, at + 2)
            end = typed.end() if typed else at + 2
            yield Island(written, (at, at + 2), (at + 2, end), None, text[at + 2 : end], "unclosed")
            return
        raw = text[at + 2 : close]
        if (inner := raw.rfind("{{")) >= 0:
            at += 2 + inner  # what opens last is what closes
            continue
        dollar = at > 0 and text[at - 1] == "$"
        yield Island(written, (at, close + 2), (at + 2, close), None, raw, _kind(raw), dollar)
        at = text.find("{{", close + 2)


def _kind(raw: str) -> Kind:
    body = raw.strip()
    if not body or body[0] in "\"'{[,:":
        return "other"
    return "expression" if _ATTEMPT.search(body) else "other"


def _lines(lines: Lines[str] | Text) -> Lines[str]:
    return lines.lines if isinstance(lines, Text) else lines
