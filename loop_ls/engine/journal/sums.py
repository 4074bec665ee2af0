"""Checksums of the rows of a journal: what a disk changed without a word must not pass for what was written.

SQLite tells a page that makes no sense, not a letter that became another one. Each row says what it must be, and
the row of a run says how many there must be of it.
"""

from __future__ import annotations

from zlib import crc32


def sum_of_fact(run: int, seq: int, kind: str, at: float, body: str) -> int:
    return crc32(f"{run}\0{seq}\0{kind}\0{at!r}\0{body}".encode("utf-8", "surrogatepass"))


def sum_of_entry(run: int, key: str, value: str | None) -> int:
    """`value` None: a call that began."""
    said = "" if value is None else f"\0{value}"
    return crc32(f"{run}\0{key}{said}".encode("utf-8", "surrogatepass"))


def sum_of_run(number: int, run: str, counts: tuple[int, int, int], snapshot: int) -> int:
    """`counts`: its facts, answers and writes; `snapshot` is the checksum of its folded state."""
    return crc32(f"{number}\0{run}\0{counts}\0{snapshot}".encode("utf-8", "surrogatepass"))


def sum_of_text(text: str | None) -> int:
    return 0 if text is None else crc32(str(text).encode("utf-8", "surrogatepass"))
