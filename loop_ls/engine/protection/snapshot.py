"""What protected files are at one moment: a short text for each, by its path.

No link is followed: a link is what it says. Nothing but protected files is opened, and their number, the folders that
are looked into and the bytes that are read are bounded.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict

from loop_ls.engine.protection.patterns import OF_GIT, Protected

#: Entries of folders that are listed, and protected files that are compared.
MOST_ENTRIES, MOST_FILES = 100_000, 5_000
#: Bytes of a file up to which its content is compared, and a copy of it kept; of a larger one its size and times.
LARGEST = 16 * 2**20
#: Nanoseconds in which a file may change without another time stamp.
_COARSE = 2_000_000_000

Kind = Literal["created", "changed", "deleted"]


class Change(TypedDict):
    """One protected file that is not what it was."""

    path: str
    change: Kind


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`entries`: path below the workspace -> what is there. `partial`: there was more than is looked at."""

    entries: dict[str, str] = field(default_factory=dict)
    partial: bool = False

    def changes(self, after: Snapshot) -> list[Change]:
        """What is different afterwards, by path."""
        found: list[Change] = []
        for path in sorted({*self.entries, *after.entries}):
            was, now = self.entries.get(path), after.entries.get(path)
            if was != now:
                found.append({"path": path, "change": _kind(was, now)})
        return found


def _kind(was: str | None, now: str | None) -> Kind:
    if was is None:
        return "created"
    return "deleted" if now is None else "changed"


def is_file(entry: str) -> str | None:
    """The hash of a regular file whose content was compared; None for anything else."""
    return entry.split(":")[1] if entry.startswith("f:") else None


def mode_of(entry: str) -> int:
    return int(entry.rsplit(":", 1)[1], 8)


def link_of(entry: str) -> str | None:
    """Where a link leads; None for anything else."""
    return entry[2:] if entry.startswith("l:") else None


class Scanner:
    """Takes snapshots of one workspace. A file whose time stamps are old and as they were is not read again. `keep`
    gets the content of each file that was read, with its hash. `without` are folders that are not looked into."""

    def __init__(
        self, root: Path, protected: Protected, keep: Callable[[str, bytes], None], without: tuple[Path, ...] = ()
    ) -> None:
        self._root, self._protected, self._keep = root, protected, keep
        self._without = tuple(os.path.realpath(one) for one in without)
        self._read: dict[str, tuple[tuple[int, ...], str]] = {}

    def take(self) -> Snapshot:
        """In a thread that may wait."""
        entries: dict[str, str] = {}
        partial = False
        for path in self._paths():
            if path is None or len(entries) >= MOST_FILES:
                partial = True
                break
            if (entry := self._entry(path)) is not None:
                entries[path] = entry
        return Snapshot(dict(sorted(entries.items())), partial)

    def _paths(self) -> Iterator[str | None]:
        """Those of the run itself first; None where the rest is not looked at."""
        listed = 0
        seen: set[str] = set()
        for start, all_of_it in (*((one, True) for one in (*self._protected.exact, *OF_GIT)), ("", False)):
            waiting = deque([start])
            while waiting:
                base = waiting.popleft()
                if base and not _is_folder(self._root / base):
                    if base not in seen and self._protected.covers(base):
                        seen.add(base)
                        yield base
                    continue
                for name, is_folder in _listed(self._root / base):
                    listed += 1
                    if listed > MOST_ENTRIES:
                        yield None
                        return
                    path = f"{base}/{name}" if base else name
                    if is_folder:
                        if (all_of_it or self._protected.enters(path)) and self._is_entered(path):
                            waiting.append(path)
                    elif path not in seen and self._protected.covers(path):
                        seen.add(path)
                        yield path

    def _is_entered(self, path: str) -> bool:
        """Not the engine's own data, nor an environment of Python, whatever it is called."""
        full = self._root / path
        return os.path.realpath(full) not in self._without and not (full / "pyvenv.cfg").exists()

    def _entry(self, path: str) -> str | None:
        """What is there; None: nothing any more."""
        full = self._root / path
        try:
            found = full.lstat()
        except (OSError, ValueError):
            return None
        if stat.S_ISLNK(found.st_mode):
            return f"l:{_target(full)}"
        if not stat.S_ISREG(found.st_mode):
            return f"o:{stat.S_IFMT(found.st_mode):o}"
        mode = f"{stat.S_IMODE(found.st_mode):o}"
        if found.st_size > LARGEST:
            return f"s:{found.st_size}:{found.st_mtime_ns}:{found.st_ino}:{mode}"
        stamp = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        known = self._read.get(path)
        if known is not None and known[0] == stamp:
            return f"f:{known[1]}:{mode}"
        data = _content(full)
        if data is None:
            return f"u:{mode}"  # nobody may read it
        digest = hashlib.sha256(data).hexdigest()
        self._keep(digest, data)
        if time.time_ns() - found.st_ctime_ns > _COARSE:
            self._read[path] = (stamp, digest)
        return f"f:{digest}:{mode}"


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def _content(path: Path) -> bytes | None:
    """The bytes of a regular file, though it may be exchanged for a link or a pipe this moment."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read(LARGEST + 1)
    except (OSError, ValueError):
        return None


def _is_folder(path: Path) -> bool:
    """A folder itself, no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def _listed(folder: Path) -> list[tuple[str, bool]]:
    """The names in a folder, in order, and whether each is a folder itself."""
    try:
        with os.scandir(folder) as found:
            return sorted((one.name, one.is_dir(follow_symlinks=False)) for one in found)
    except OSError:
        return []
