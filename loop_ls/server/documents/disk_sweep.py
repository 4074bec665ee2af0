"""Polling for files that changed on the disk: for clients that watch none, and before closed files are edited.

A file counts as unchanged while its times, size and inode are: programs that copy set the time of the text back. Only
those that differ are read again.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.index.disk.discovery import CONFIG_NAME
from loop_ls.index.disk.ignored import NAME as IGNORE_FILE

if TYPE_CHECKING:
    from loop_ls.server.documents.folders import Folder

#: Seconds between two sweeps, at least.
PAUSE = 1.0
#: A sweep is followed by a pause so many times as long: it takes at most 2 % of a processor.
_SHARE = 50


class Stamp(NamedTuple):
    """Nanoseconds of the last change of the text and of the entry, bytes, inode."""

    changed: int
    touched: int
    size: int
    inode: int


class DiskSweep:
    """What files looked like when they were read last. Used from one thread at a time."""

    def __init__(self, listed: Callable[[Folder], Iterable[str]]) -> None:
        self._listed = listed
        self._stamps: dict[str, Stamp] = {}
        self._walk_after = 0.0
        #: Seconds until the next sweep.
        self.pause = PAUSE

    def learn(self, paths: Iterable[str]) -> None:
        """These files are about to be read."""
        for path in paths:
            self._update(path)

    def changed(self, folders: Iterable[Folder], walk: bool | None = None) -> set[str]:
        """The paths that differ from what they were at the last look. Known files are looked at each time; folders are
        walked through for new ones as `walk` says, else as often as their size allows."""
        begun = time.thread_time()
        walks = walk if walk is not None else time.monotonic() >= self._walk_after
        found: set[str] = set()
        for folder in folders:
            paths = {document.path for document in folder.workspace.documents.values()}
            paths |= {f"{folder.text}/{name}" for name in (SETTINGS_NAME, CONFIG_NAME, IGNORE_FILE)}
            if walks:
                paths.update(self._listed(folder))
            found |= {path for path in paths if self._update(path)}
        pause = max(PAUSE, _SHARE * (time.thread_time() - begun))
        if walks:
            self._walk_after = time.monotonic() + pause
        else:
            self.pause = pause
        return found

    def _update(self, path: str) -> bool:
        """Whether a file looks different now."""
        now, before = _stamp(path), self._stamps.get(path)
        if now == before:
            return False
        if now is None:
            del self._stamps[path]
        else:
            self._stamps[path] = now
        return True


def _stamp(path: str) -> Stamp | None:
    """None for what is gone, or no file."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return (
        Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        if stat.S_ISREG(status.st_mode)
        else None
    )
