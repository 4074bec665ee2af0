"""Put files into the user's folder, all of them or none, even if the engine is killed in the middle.

What was there is kept first, byte for byte, and each file is replaced in one step. So at any moment a file is what it
was or what it becomes, and whoever comes later can put back what was there. A file that has become something else is
the user's, and stays.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Container, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypedDict

#: Where the worktrees are in the engine's data folder: each in a folder of its run.
FOLDER = "worktrees"
#: What the folder of one ends with, beside the folder of its run, and the file that says that it began.
ENDING = ".applying"
_BEGUN = "begun.json"


class _Begun(TypedDict):
    """`paths` are relative to `top`, each with its number as what was there; `made` are folders that were not there."""

    top: str
    paths: list[str]
    made: list[str]


class Moved(Exception):
    """A file was changed by somebody else in the middle: `path`."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class PutBack(NamedTuple):
    """`begun`: something had; `changed`: paths that stay, because somebody has changed them since; `failed`: paths that
    could not be put back, and why."""

    begun: bool
    changed: list[str]
    failed: dict[str, str]


class PutInPlace:
    """`folder` keeps what was there, and in `new` what comes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.new, self._old = folder / "new", folder / "old"

    @staticmethod
    def of(own: Path) -> PutInPlace:
        """Of the run whose folder is `own`."""
        return PutInPlace(own.with_name(own.name + ENDING))

    def prepare(self) -> None:
        """Empty."""
        self.forget()
        self.new.mkdir(0o700, parents=True)
        self._old.mkdir(0o700)

    def keep(self, top: Path, paths: Iterable[str], added: Container[str] = ()) -> None:
        """What is at these paths now is what is put back. Where one is `added`, nothing is: what is there by now was
        not looked at."""
        for number, path in enumerate(paths):
            if path not in added and os.path.lexists(top / path):
                _copy(top / path, self._old / str(number))

    def put(self, top: Path, paths: list[str]) -> None:
        """Let each path, as it was kept, be what is in `new`, or nothing. Raises `Moved` and `OSError` in the middle:
        then `put_back` is asked for."""
        parents = {str(Path(path).parent) for path in paths}
        every = {str(one) for parent in parents for one in (Path(parent), *Path(parent).parents)}
        made = sorted(one for one in every if (self.new / one).is_dir() and not (top / one).is_dir())
        self._begin({"top": str(top), "paths": paths, "made": made})
        coming = [(self.new / path, number) for number, path in enumerate(paths)]
        for new, number in sorted(coming, key=lambda one: os.path.lexists(one[0])):  # what goes, goes first
            path, target = paths[number], top / paths[number]
            if _linked(top, path) or not _same(target, self._old / str(number)):
                raise Moved(path)
            if os.path.lexists(new):
                target.parent.mkdir(parents=True, exist_ok=True)
                self._replace(new, target, number)
            else:
                target.unlink(missing_ok=True)
                _remove_empty(top, Path(path).parents)

    def put_back(self) -> PutBack:
        """What was there before is there again, if anything had begun. Never raises: what could not be put back is
        kept, for the next time."""
        try:
            begun = self._begun()
        except (OSError, ValueError) as error:  # damaged: what was there may be in the folder, so that stays
            return PutBack(True, [], {str(self.folder / _BEGUN): str(error)})
        if begun is None:
            self.forget()
            return PutBack(False, [], {})
        top, changed, failed = Path(begun["top"]), list[str](), dict[str, str]()
        for number, path in enumerate(begun["paths"]):
            try:
                if not self._is_back(top, number, path):
                    changed.append(path)
            except OSError as error:
                failed[path] = error.strerror or str(error)
        for path in sorted(begun["made"], reverse=True):
            if not _linked(top, path):
                with suppress(OSError):
                    (top / path).rmdir()
        if not failed:
            self.forget()
        return PutBack(True, changed, failed)

    def forget(self) -> None:
        """All is in place, and stays."""
        with suppress(OSError):
            (self.folder / _BEGUN).unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _is_back(self, top: Path, number: int, path: str) -> bool:
        """Whether the file is what it was; otherwise somebody has changed it since. Raises `OSError`."""
        target, old, new = top / path, self._old / str(number), self.new / path
        if _linked(top, path):
            return False
        with suppress(FileNotFoundError):
            self._beside(target, number).unlink()
        if _same(target, old):
            return True
        if not _same(target, new):
            return False
        if os.path.lexists(old):
            target.parent.mkdir(parents=True, exist_ok=True)
            self._replace(old, target, number)
        else:
            target.unlink()
        return True

    def _beside(self, target: Path, number: int) -> Path:
        """Where a file is written before it takes the place of another one."""
        return target.with_name(f".loop-ls-{self.folder.name.removesuffix(ENDING)}-{number}")

    def _replace(self, source: Path, target: Path, number: int) -> None:
        beside = self._beside(target, number)
        with suppress(OSError):
            beside.unlink()
        _copy(source, beside)
        if source.is_relative_to(self.new):
            _as_new(beside, target)
        beside.replace(target)

    def _begin(self, begun: _Begun) -> None:
        """On the disk with all that is kept, before the first file is touched."""
        for kept in self._old.iterdir():
            if not kept.is_symlink():
                _sync(kept)
        _sync(self._old)
        written = self.folder / f"{_BEGUN}.new"
        written.write_text(json.dumps(begun), "ascii")
        _sync(written)
        written.replace(self.folder / _BEGUN)
        _sync(self.folder)

    def _begun(self) -> _Begun | None:
        """Raises `ValueError` for what was not written here."""
        try:
            found = json.loads((self.folder / _BEGUN).read_text("ascii"))
        except FileNotFoundError:
            return None
        match found:
            case {"top": str(top), "paths": [*paths], "made": [*made]} if all(map(_is_inside, (*paths, *made))):
                return {"top": top, "paths": paths, "made": made}
            case _:
                raise ValueError("it is not what was written")


def interrupted(data: Path) -> list[tuple[str, PutInPlace]]:
    """What was in the middle of it when the engine died, with the runs. `data` is the engine's data folder."""
    return [(one.name.removesuffix(ENDING), PutInPlace(one)) for one in sorted((data / FOLDER).glob(f"*{ENDING}"))]


def _copy(source: Path, target: Path) -> None:
    """With its mode and time; a link as a link."""
    shutil.copy2(source, target, follow_symlinks=False)


def _as_new(beside: Path, target: Path) -> None:
    """Written now, and as private as what it replaces."""
    if beside.is_symlink():
        return
    os.utime(beside)
    if target.is_file() and not target.is_symlink():
        mode, was = beside.stat().st_mode & 0o777, target.stat().st_mode & 0o777
        if bool(mode & 0o100) == bool(was & 0o100):
            beside.chmod(was)


def _is_inside(path: object) -> bool:
    if not isinstance(path, str) or Path(path).is_absolute():
        return False
    return {"..", ".git"}.isdisjoint(Path(path).parts)


def _linked(top: Path, path: str) -> bool:
    """Whether a folder on the way is a link now, and may lead elsewhere: nothing is written through it."""
    return any((top / parent).is_symlink() for parent in Path(path).parents)


def _same(one: Path, other: Path) -> bool:
    """Whether both are nothing, the same link, or files of the same bytes."""
    if not os.path.lexists(one) or not os.path.lexists(other):
        return os.path.lexists(one) == os.path.lexists(other)
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    if not one.is_file() or not other.is_file():
        return False
    executable = {bool(each.stat().st_mode & 0o100) for each in (one, other)}
    return len(executable) == 1 and one.read_bytes() == other.read_bytes()


def _remove_empty(top: Path, parents: Iterable[Path]) -> None:
    """As Git does: a folder whose last file has gone is gone."""
    with suppress(OSError):
        for parent in parents:
            if parent != Path():
                (top / parent).rmdir()


def _sync(path: Path) -> None:
    if os.name == "nt":  # it has no such thing for what is open to be read
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
