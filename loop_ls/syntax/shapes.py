"""How lines of half-typed YAML look: keys, dashes, quotes. Patterns only, shared by the tolerant readers."""

from __future__ import annotations

import re

_PLAIN_KEY = r"""(?:[^\s\#\-\[\]{},"'&*!|>%@`?:]|[-?:](?=[^\s,\[\]{}]))
    (?:[^\s:\#]|:(?=\S)|(?<=\S)\#|[ \t]+(?=[^\s:\#])){0,1023}"""

#: what most keys look like: `KEY` would say the same, slower
COMMON_KEY = re.compile(r"(?P<key>[A-Za-z_$][\w$-]*):(?:[ \t]+(?P<value>.*)|$)")
#: properties, `key`, colon, and what follows it
KEY = re.compile(
    rf"""(?P<properties>(?:[&!]\S*[ \t]+)*)
    (?P<key>"(?:[^"\\]|\\.)*" | '(?:[^']|'')*' | \*[^\s,\[\]{{}}]+(?=[ \t]) | {_PLAIN_KEY})
    [ \t]*:(?:[ \t]+(?P<value>.*)|$)""",
    re.VERBOSE,
)
#: `key:value`, the space forgotten; not `https://...`
KEY_WITHOUT_SPACE = re.compile(r"(?P<key>[A-Za-z_$][\w.$-]*):(?!//)(?P<value>\S.*)")
#: a key in quotes without its colon, perhaps without its second quote
QUOTED_WORD = re.compile(r"""(["'])([\w.$-]*)(\1?)""")
WORD = re.compile(r"[^\W\d][\w.$-]*|\$[\w.$-]*")
DASH_WITHOUT_SPACE = re.compile(r"-(?=[A-Za-z_\"'{\[])")
BLOCK_HEADER = re.compile(r"[|>](?P<hints>[-+]?[1-9]?|[1-9][-+]?)(?:[ \t]+\#.*)?[ \t]*$")
DOUBLE = re.compile(r'"(?:[^"\\]|\\[\s\S])*"')
SINGLE = re.compile(r"'(?:[^']|'')*'")
COMMENT = re.compile(r"(?:^|[ \t]+)#.*$")
PROPERTY = re.compile(r"(?:&(?P<anchor>[^\s,\[\]{}]+)|(?P<tag>![^\s,\[\]{}]*))(?:[ \t]+|$)")
ALIAS = re.compile(r"\*([^\s,\[\]{}]+)[ \t]*$")


def key_in(body: str) -> re.Match[str] | None:
    """The key, with its value, that a line begins with."""
    return COMMON_KEY.match(body) or KEY.match(body) if ":" in body else None


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def is_dash(body: str) -> bool:
    return body == "-" or body[:2] in ("- ", "-\t")


def is_blank(line: str) -> bool:
    """Nothing but blanks, or a comment."""
    body = line.lstrip(" \t")
    return not body or body[0] == "#"


def without_comment(text: str) -> str:
    """The text up to a comment, blanks at its end removed."""
    return COMMENT.sub("", text).rstrip(" \t") if "#" in text else text.rstrip(" \t")
