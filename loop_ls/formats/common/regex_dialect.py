"""Where JavaScript's and Python's regular expressions differ.

The dialect is Python's. A pattern that Python refuses is tried once more with JavaScript's spellings
put into Python's (`translated`); `difference` names the first construct that only one of the two
knows, or takes literally. Works on written signs: whether a pattern compiles is not its business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from loop_ls.text.pattern import pattern

#: Letters behind a backslash that mean the same to both.
_SHARED = frozenset("bBdDsSwWfnrtv")
#: Letters that mean something to Python only, and how they stay in a translation.
_PYTHON_ONLY = {"A": "the start of the text", "Z": "the end of the text", "a": "the bell"}

_TOKEN = pattern(
    r"""
      (?P<code>\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}))
    | (?P<wide>\\(?:U[0-9a-fA-F]{8}|N\{[A-Za-z0-9\ -]+\}))
    | (?P<reference>\\k<\w+>)
    | (?P<control>\\c[A-Za-z])
    | (?P<escape>\\[\s\S]?)
    | (?P<javascript>\(\?<(?![=!]))
    | (?P<python>\(\?(?:P[<=>]|[aiLmsux]*-?[aiLmsux]*[:)](?<!\(\?:)|\#|>|\())
    | (?P<open>\((?:\?(?::|<?[=!]))?)
    | (?P<empty>\[\^?\])
    | (?P<set>\[\^?)
    | (?P<upto>\{,\d+\})
    | (?P<times>(?:\*|\+|\?|\{\d+(?:,\d*)?\}))
    | (?P<sign>[\s\S])
    """,
    re.VERBOSE,
)
_IN_SET = pattern(
    r"(?P<end>\])|(?P<code>\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}))|(?P<control>\\c[A-Za-z])"
    r"|(?P<escape>\\[\s\S]?)|(?P<sign>[\s\S])"
)


class Token(NamedTuple):
    kind: str
    text: str
    in_set: bool


def tokens(pattern: str) -> Iterator[Token]:
    """The signs of a pattern as JavaScript reads them: `[]` and `[^]` are sets of their own."""
    at, inside = 0, False
    while at < len(pattern):
        found = (_IN_SET if inside else _TOKEN).match(pattern, at)
        assert found is not None and found.lastgroup is not None, "any sign is a token"
        kind = found.lastgroup
        yield Token(kind, found[0], inside)
        at = found.end()
        inside = kind == "set" or (inside and kind != "end")


def translated(pattern: str) -> str:
    """JavaScript's spellings put into Python's; what Python understands stays as it is."""
    groups = frozenset(re.findall(r"\(\?<(\w+)>", pattern))
    return "".join(_in_python(token, groups) for token in tokens(pattern))


def _in_python(token: Token, groups: frozenset[str]) -> str:
    text = token.text
    match token.kind:
        case "javascript":
            return "(?P<"
        case "reference":
            return f"(?P={text[3:-1]})" if text[3:-1] in groups else text[1:]
        case "empty":
            return r"[\s\S]" if text == "[^]" else "(?!)"
        case "control":
            return f"\\x{ord(text[2]) % 32:02x}"
        case "escape" if text[1:].isascii() and text[1:].isalpha() and not _python_takes(text[1:], token.in_set):
            return text[1:]
        case _:
            return text


def _python_takes(letter: str, in_set: bool) -> bool:
    return letter in _SHARED or letter == "a" or (letter in "AZ" and not in_set)


def difference(pattern: str) -> str | None:
    """The first construct that means something in one of the two only, as the start of a sentence."""
    before = ""
    for token in tokens(pattern):
        said = _difference(token, before)
        if said is not None:
            return said
        before = token.kind
    return None


def _difference(token: Token, before: str) -> str | None:
    text = token.text
    match token.kind:
        case "javascript":
            return "`(?<name>...)` is JavaScript syntax for a named group; Python uses `(?P<name>...)`"
        case "reference":
            return f"`{text}` is JavaScript syntax; Python uses `(?P={text[3:-1]})`"
        case "empty":
            return f"`{text}` is a complete set in JavaScript, but starts one in Python"
        case "python":
            return f"`{text}` works only in Python"
        case "wide":
            return f"`{text}` works only in Python; JavaScript reads it as letters"
        case "control":
            return f"`{text}` works only in JavaScript"
        case "upto":
            return f"`{text}` is a repetition in Python, but plain text in JavaScript"
        case "times" if text == "+" and before in ("times", "upto"):
            return "possessive repetitions (`a++`) work only in Python"
        case "escape" if text[1:].isascii() and text[1:].isalpha() and text[1:] not in _SHARED:
            return _letter(text[1:])
        case _:
            return None


def _letter(letter: str) -> str:
    if letter in _PYTHON_ONLY:
        return f"`\\{letter}` is {_PYTHON_ONLY[letter]} in Python, but the letter `{letter}` in JavaScript"
    return f"`\\{letter}` is the letter `{letter}` in JavaScript, but invalid in Python"
