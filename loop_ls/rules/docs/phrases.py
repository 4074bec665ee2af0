"""Pieces of sentences that many messages share."""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.formats.common.did_you_mean import nearest


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` or nothing: the end of a sentence."""
    best = nearest(word, known)
    return "" if best is None else f"; did you mean `{best}`?"


def listed(words: Iterable[str], joiner: str = "or") -> str:
    """`a`, `b` or `c`: what would be valid, in the words of the file."""
    quoted = [f"`{word}`" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {joiner} {quoted[-1]}"


def counted(number: int, noun: str) -> str:
    """`1 error`, `3 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


#: Of more than this no message shows the end.
_ENOUGH = 400


def shortened(text: str, limit: int = 40) -> str:
    """A text for use inside a message: one line, cut in the middle of nowhere with an ellipsis. Blanks at its ends, and
    those that only look like a space, are shown."""
    line = _shown(text[:_ENOUGH])
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


#: How characters are shown that nobody sees; a space only where it stands at an end.
_VISIBLE = {"\n": "⏎", "\r": "⏎", "\t": "⇥", "\u00a0": "⍽", "\u200b": "⍽", "\ufeff": "⍽"}
_ENDS = {**_VISIBLE, " ": "␣"}


def _shown(text: str) -> str:
    body = text.strip(" \n\r\t\u00a0")
    if not body:
        return "".join(_ENDS.get(sign, sign) for sign in text)
    start = text.index(body)
    before, after = text[:start], text[start + len(body) :]
    inside = "".join(_VISIBLE.get(sign, sign) if sign not in "\n\r" else " " for sign in body)
    ends = ["".join(_ENDS.get(sign, sign) for sign in part) for part in (before, after)]
    return f"{ends[0]}{' '.join(inside.split())}{ends[1]}"


def not_saved(workflow: str) -> str:
    """A sentence about a workflow that is called and is only the text of an editor so far."""
    return f"{workflow} is open and not saved: only files can be called, so save it first"


def line_break(text: str) -> str:
    """The end of a sentence about a short text that a block of text has given a line break; nothing for others."""
    return ": it ends with a line break, so write it on one line" if text.endswith("\n") and text.strip() else ""
