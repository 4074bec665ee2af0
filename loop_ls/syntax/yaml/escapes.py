"""Escapes of quoted YAML and JSON texts: what a written quoted text means."""

from __future__ import annotations

from loop_ls.text.pattern import pattern

#: one escape of a double-quoted text
ESCAPE = pattern(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[\s\S])")

_NAMED = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}


def escaped(written: str) -> str:
    """What one escape (`\\n`, `\\u003d`) stands for; an unknown one stands for what follows the backslash."""
    sign = written[1:2]
    if sign in "xuU" and len(written) > 2:
        point = int(written[2:], 16)
        return chr(point) if point < 0x110000 else "\ufffd"
    return _NAMED.get(sign, sign)


def unquoted(written: str) -> str:
    """The text of a quoted scalar written on one line, its quotes included."""
    body = written[1:-1]
    if written[0] == "'":
        return body.replace("''", "'")
    return ESCAPE.sub(lambda found: escaped(found[0]), body) if "\\" in body else body
