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


def shortened(text: str, limit: int = 40) -> str:
    """A text for use inside a message: one line, cut in the middle of nowhere with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
