"""What is kept of protected files while a run goes on, so that they can be put back: copies in the data folder.

Putting back loses nothing: what is taken away from the workspace lies in `taken` afterwards, until the run is
forgotten. No link is written through, and nothing is written where a folder of the workspace became a link.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from loop_ls.engine.protection.snapshot import LARGEST, Change, Snapshot, is_file, link_of, mode_of

NAME = "protected"
_COPIES, _TAKEN = "copies", "taken"
#: Bytes of all copies of a run.
MOST_COPIED = 128 * 2**20


class Kept:
    """Of one run. Everything here may wait for the disk."""

    def __init__(self, data: Path, run_id: str) -> None:
        self._folder = data / NAME / run_id
        self._copied: int | None = None

    def keep(self, digest: str, content: bytes) -> None:
        """A copy, once; none where it would be too much, or nobody has room for it."""
        with suppress(OSError):
            self._keep(digest, content)

    def _keep(self, digest: str, content: bytes) -> None:
        path = self._copy(digest)
        if path.exists() or len(content) > LARGEST:
            return
        if self._copied is None:
            self._copied = sum(one.stat().st_size for one in path.parent.iterdir()) if path.parent.is_dir() else 0
        if self._copied + len(content) > MOST_COPIED:
            return
        self._write(path, content)
        self._copied += len(content)

    def keep_snapshot(self, snapshot: Snapshot) -> str:
        """The name under which it is found again. Raises `OSError`."""
        text = json.dumps({"entries": snapshot.entries, "partial": snapshot.partial}).encode()
        name = hashlib.sha256(text).hexdigest()
        path = self._copy(f"{name}.json")
        if not path.exists():
            self._write(path, text)
        return name

    def snapshot(self, name: str) -> Snapshot | None:
        """None where it is not there any more, or not what was written."""
        try:
            text = self._copy(f"{name}.json").read_bytes()
        except OSError:
            return None
        if hashlib.sha256(text).hexdigest() != name:
            return None
        found = json.loads(text)
        return Snapshot(found["entries"], found["partial"])

    def put_back(self, root: Path, was: Snapshot, changes: list[Change]) -> Mapping[str, str]:
        """Make files what they were; why that could not be, by the path of each that is not."""
        failed: dict[str, str] = {}
        for change in changes:
            path = change["path"]
            try:
                self._put_back(root, path, was.entries.get(path))
            except (OSError, ValueError, _NotPossible) as error:
                failed[path] = str(error.strerror or error) if isinstance(error, OSError) else str(error)
        return failed

    def _put_back(self, root: Path, path: str, entry: str | None) -> None:
        full = root / path
        content = None if entry is None else self._content(entry)
        _require_own_folders(root, path)
        if os.path.lexists(full):
            self._take(full, path)
        if entry is None:
            return
        full.parent.mkdir(parents=True, exist_ok=True)
        if (target := link_of(entry)) is not None:
            full.symlink_to(target)
            return
        new = full.with_name(f".{full.name}.loop-ls-{os.getpid()}")
        try:
            new.write_bytes(content or b"")
            new.chmod(mode_of(entry))
            new.replace(full)
        finally:
            new.unlink(missing_ok=True)

    def _content(self, entry: str) -> bytes | None:
        """Of a regular file. Raises `_NotPossible`."""
        if link_of(entry) is not None:
            return None
        digest = is_file(entry)
        if digest is None:
            raise _NotPossible("it was not a regular file, or too large to copy")
        try:
            content = self._copy(digest).read_bytes()
        except OSError:
            raise _NotPossible("no copy was kept: it is too large") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise _NotPossible("its copy is damaged")
        return content

    def _take(self, full: Path, path: str) -> None:
        """Out of the workspace, and not away: the newest under its own name."""
        own = Path(path)  # of the settings of a repository that lies elsewhere, the whole path
        place = self._folder / _TAKEN / (Path(*own.parts[1:]) if own.is_absolute() else own)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = 1
        while os.path.lexists(free := place if number == 1 else place.with_name(f"{place.name}.{number}")):
            number += 1
        shutil.move(full, free)

    def _write(self, path: Path, content: bytes) -> None:
        """Whole or not at all, and on the disk before anybody relies on it."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)

    def _copy(self, name: str) -> Path:
        return self._folder / _COPIES / name

    def over(self) -> None:
        """The run has ended: what was taken out of the workspace stays, the copies go. Never raises."""
        shutil.rmtree(self._folder / _COPIES, ignore_errors=True)
        with suppress(OSError):
            self._folder.rmdir()


class _NotPossible(Exception):
    """Why a file cannot be put back, as the end of a sentence."""


def _require_own_folders(root: Path, path: str) -> None:
    """Raises `_NotPossible` where a folder on the way is a link, or no folder."""
    at = root
    for part in path.split("/")[:-1]:
        at = at / part
        try:
            mode = at.lstat().st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(mode):
            raise _NotPossible(f"`{at.relative_to(root).as_posix()}` is no longer a folder")


def remover(data: Path) -> Callable[[str], None]:
    """Removes what is kept of a run that is forgotten. Never raises."""
    return lambda run_id: shutil.rmtree(data / NAME / run_id, ignore_errors=True)
