"""How lines of half-typed YAML look: keys, dashes, quotes. Patterns only, shared by the tolerant readers."""

from __future__ import annotations

import re

from loop_ls.text.pattern import pattern

#: Signs that look like a blank, or like nothing, and are letters to YAML.
ODD_BLANKS = (
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u2060\u3000\ufeff"
)
#: blanks of which one at least is odd
ODD_INDENT = pattern(rf"[ \t]*[{ODD_BLANKS}][ \t{ODD_BLANKS}]*")

_PLAIN_KEY = r"""(?:[^\s\#\-\[\]{},"'&*!|>%@`?:]|[-?:](?=[^\s,\[\]{}]))
    (?:[^\s:\#]|:(?=\S)|(?<=\S)\#|[ \t]+(?=[^\s:\#])){0,1023}"""

#: what most keys look like: `KEY` would say the same, slower
COMMON_KEY = pattern(r"(?P<key>[A-Za-z_$][\w$-]*):(?:[ \t]+(?P<value>.*)|$)")
#: properties, `key`, colon, and what follows it
KEY = pattern(
    rf"""(?P<properties>(?:[&!]\S*[ \t]+)*)
    (?P<key>"(?:[^"\\]|\\.)*" | '(?:[^']|'')*' | \*[^\s,\[\]{{}}]+(?=[ \t]) | {_PLAIN_KEY})
    [ \t]*:(?:[ \t]+(?P<value>.*)|$)""",
    re.VERBOSE,
)
#: `key:value`, the space forgotten; not `https://...`; known by identity to those who get the match
KEY_WITHOUT_SPACE = re.compile(r"(?P<key>[A-Za-z_$][\w.$-]*):(?!//)(?P<value>[^ \t].*)")
#: a key in quotes without its colon, perhaps without its second quote
QUOTED_WORD = pattern(r"""(["'])([\w.$-]*)(\1?)""")
WORD = pattern(r"[^\W\d][\w.$-]*|\$[\w.$-]*")
DASH_WITHOUT_SPACE = pattern(r"-(?=[A-Za-z_\"'{\[])")
BLOCK_HEADER = pattern(r"[|>](?P<hints>[-+]?[1-9]?|[1-9][-+]?)(?:[ \t]+\#.*)?[ \t]*$")
DOUBLE = pattern(r'"(?:[^"\\]|\\[\s\S])*"')
SINGLE = pattern(r"'(?:[^']|'')*'")
COMMENT = pattern(r"(?:^|[ \t]+)#.*$")
PROPERTY = pattern(r"(?:&(?P<anchor>[^\s,\[\]{}]+)|(?P<tag>![^\s,\[\]{}]*))(?:[ \t]+|$)")
ALIAS = pattern(r"\*([^\s,\[\]{}]+)[ \t]*$")


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
