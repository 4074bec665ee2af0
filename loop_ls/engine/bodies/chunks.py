"""Cutting a text into chunks for vectors: at sentences, at paragraphs, or at fixed lengths.

Sizes are tokens, reckoned at four characters each: every model counts in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

CHARACTERS_PER_TOKEN = 4

Strategy = Literal["sentence", "paragraph", "fixed"]

#: The end of a sentence, of any script, with the quotes and brackets that close behind it.
_WORD = re.compile(r"\w")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])([\"'”’»)\]]*)\s+|(?<=[。！？])()|()\n\s*\n+")
_PARAGRAPH = re.compile(r"()\n[ \t]*\n\s*")


class Chunk(NamedTuple):
    """A piece of the text, and where it stands in it (in characters)."""

    text: str
    start: int
    end: int

    @property
    def tokens(self) -> int:
        return -(-len(self.text) // CHARACTERS_PER_TOKEN)


def chunks(text: str, strategy: Strategy, size: int, overlap: int) -> list[Chunk]:
    """The chunks in order, none empty, none longer than `size` tokens. Each begins at most `overlap` tokens
    before the end of the one before it."""
    longest = max(1, size) * CHARACTERS_PER_TOKEN
    shared = min(max(0, overlap) * CHARACTERS_PER_TOKEN, longest // 2)  # more would never come to an end
    if strategy == "fixed":
        return list(_windows(text, 0, len(text), longest, shared))
    units = _units(text, _SENTENCE if strategy == "sentence" else _PARAGRAPH, longest)
    return list(_packed(text, units, longest, shared))


def _units(text: str, border: re.Pattern[str], longest: int) -> list[tuple[int, int]]:
    """Signs without a word, such as a lone full stop, belong to what stands before them, as far as that fits."""
    start, units = 0, list[tuple[int, int]]()
    for found in border.finditer(text):
        end = found.start() + len("".join(found.groups("")))  # what closes a sentence belongs to it
        if text[start:end].strip():
            _add(text, units, start, end, longest)
            start = found.end()
    if text[start:].strip():
        _add(text, units, start, len(text), longest)
    return units


def _add(text: str, units: list[tuple[int, int]], start: int, end: int, longest: int) -> None:
    if units and end - units[-1][0] <= longest and _WORD.search(text, start, end) is None:
        start = units.pop()[0]
    units.append((start, end))


def _packed(text: str, units: list[tuple[int, int]], longest: int, shared: int) -> Iterator[Chunk]:
    """As many whole units as fit; one that is too long alone is cut at fixed lengths."""
    first = 0
    while first < len(units):
        start, last = units[first][0], first
        while last + 1 < len(units) and units[last + 1][1] - start <= longest:
            last += 1
        end = units[last][1]
        yield from _windows(text, start, end, longest, shared)
        following = last + 1
        while following - 1 > first and end - units[following - 1][0] <= shared:
            following -= 1
        first = following if last + 1 < len(units) else len(units)


def _windows(text: str, start: int, end: int, longest: int, shared: int) -> Iterator[Chunk]:
    at = start
    while at < end:
        stop = min(at + longest, end)
        if text[at:stop].strip():
            yield Chunk(text[at:stop], at, stop)
        if stop == end:
            return
        at = stop - shared
