"""The high-water mark of a journal: how much was written, kept beside it, so that less is noticed.

SQLite takes a journal without its log, a log that ends early or an older copy for all there ever was. The mark is
written after each commit and never waited for, so it is never ahead of the journal: what it counts was there. After
a power failure only what the disk had confirmed has to be there still.
"""

from __future__ import annotations

import os
import struct
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from loop_ls.engine.journal.boot_id import boot_mark

_MAGIC = b"LLJMARK1"
_BODY = struct.Struct("<8s16s4Q")
_SUM = struct.Struct("<I")


class Totals(NamedTuple):
    """Runs and entries that a journal has ever had, those that were deleted included: neither falls."""

    runs: int = 0
    writes: int = 0


class Unreadable(ValueError):
    """The mark is there and says nothing."""


def mark_of(path: Path) -> Path:
    """The file beside the journal at `path`."""
    return path.with_name(path.name + "-mark")


def read_mark(path: Path) -> Totals | None:
    """What must be in the journal at `path`; None where nothing was marked. Raises `Unreadable`."""
    try:
        found = mark_of(path).read_bytes()
    except FileNotFoundError:
        return None
    if len(found) != _BODY.size + _SUM.size or _SUM.unpack(found[_BODY.size :])[0] != crc32(found[: _BODY.size]):
        raise Unreadable
    magic, boot, *counts = _BODY.unpack(found[: _BODY.size])
    if magic != _MAGIC:
        raise Unreadable
    return Totals(*(counts[:2] if boot == _boot() else counts[2:]))


class Mark:
    """The mark of one journal while it is open."""

    def __init__(self, path: Path, there: Totals) -> None:
        """`there`: what is in the journal, all of it on the disk. Raises `OSError`."""
        self._boot = _boot()
        self._disk = there
        self._handle = os.open(mark_of(path), os.O_RDWR | os.O_CREAT, 0o600)
        self.written(there)

    def written(self, there: Totals) -> None:
        """The journal has so much now. Takes a microsecond; raises `OSError`."""
        body = _BODY.pack(_MAGIC, self._boot, *there, *self._disk)
        _write(self._handle, body + _SUM.pack(crc32(body)))

    def confirmed(self, there: Totals) -> None:
        """So much of it survives a power failure; said with the next commit."""
        self._disk = there

    def close(self, there: Totals) -> None:
        """All of it is on the disk."""
        self._disk = there
        self.written(there)
        os.fsync(self._handle)
        self.let_go()

    def let_go(self) -> None:
        """What was written last stays."""
        os.close(self._handle)


def _write(handle: int, told: bytes) -> None:
    if hasattr(os, "pwrite"):
        os.pwrite(handle, told, 0)
    else:
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, told)


def _boot() -> bytes:
    return blake2b(boot_mark().encode(), digest_size=16).digest()
