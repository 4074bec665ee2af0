"""Files that texts of a workflow name: read and written inside of the workspace, nowhere else.

A name may come from a model. So nothing hidden is touched (`.git/hooks` would run it), nor what an engine keeps,
links that lead out are not followed, and sizes are bounded.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from loop_ls.contract.whole_files import replace_all
from loop_ls.engine.capabilities.guard import require_write
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.process.instance_lock import LOCK_NAME
from loop_ls.text.json_value import Json

FILE = "file://"
#: What other tools call the folder that programs leave their files in.
OUTPUTS = "/outputs/"
#: Its name where no setting says another, below the folder for temporary files.
USUAL_OUTPUTS = "mcp-outputs"
#: A file larger than this is a mistake: it would be copied into the journal.
LARGEST_FILE = 32 * 1024 * 1024
#: How a text begins that may be replaced, where none may.
_NONE = re.compile(r"(?!)")
#: As much of a file says what it is, in bytes.
_BEGINNING = 4096
#: A data folder of an engine holds one of these beside its lock, so a lock of another program is none.
_KEPT_BY_ENGINES = ("engine.json", "consent.key", "journal.db")


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """`outputs` is the folder that `/outputs/` means."""

    root: Path
    outputs: Path

    @staticmethod
    def of(root: str, settings: Mapping[str, Json]) -> ProjectFiles:
        """Raises `Failure`: see `outputs_folder`."""
        return ProjectFiles(Path(root), outputs_folder(Path(root), settings.get("outputsDir")))

    def read(self, written: str, folder: str, what: str) -> str:
        """The text of a file, looked for in the folder of the workflow file, then in the root. `what` is
        what it is for. Raises `Failure`."""
        path = written.removeprefix(FILE)
        allowed, candidates = self._places(path, folder)
        for candidate in candidates:
            try:
                whole = candidate.resolve()
                inside = whole.is_relative_to(allowed.resolve()) and whole.is_file()
                if inside and not _secret(whole) and not is_engine_data(whole):
                    return _text(whole, path, what)
            except (OSError, ValueError) as error:
                raise Failure("not_found", f"{what} {path} cannot be read: {error}") from None
        raise Failure(
            "not_found", f"{what} not found in the workspace: {path}", "use a path relative to the workflow file"
        )

    def write(self, written: str, folder: str, text: str, what: str, replaces: re.Pattern[str] = _NONE) -> str:
        """Write a file and its folders; its path relative to the root. A file that is there is replaced where its
        text begins like `replaces`: nobody was asked whether others may be lost. Raises `Failure`."""
        path = written.removeprefix(FILE)
        allowed, candidates = self._places(path, folder)
        try:
            whole, root = candidates[0].resolve(), allowed.resolve()
            if not whole.is_relative_to(root):
                raise Failure("forbidden", f"{what} {path} is outside the workspace", "use a path inside it")
            shown = whole.relative_to(root)
            if is_hidden(shown):
                raise Failure(
                    "forbidden", f"{what} {path} is hidden; hidden files cannot be written", "choose another file"
                )
            if is_engine_data(whole):
                raise Failure("forbidden", f"{what} {path} is in the data folder of the engine", "choose another file")
            require_write(whole)
            if whole.is_file() and (there := _beginning(whole)) and not replaces.match(there):
                told = f"{what} {path} exists and has other content, so it is not replaced"
                raise Failure("forbidden", told, "choose another name, or delete that file")
            if _is_usual(allowed):
                allowed.mkdir(mode=0o700, exist_ok=True)
                _own(allowed)
            whole.parent.mkdir(parents=True, exist_ok=True)
            if whole.is_file():
                replace_all({whole: text})  # in one step: nobody finds half of it
            else:
                whole.write_text(text, "utf-8")
        except (OSError, ValueError) as error:
            raise Failure("bad_argument", f"{what} {path} cannot be written: {error}") from None
        return shown.as_posix()

    def _places(self, path: str, folder: str) -> tuple[Path, list[Path]]:
        """Where a file may lie, and where it is looked for."""
        if path.startswith(OUTPUTS):
            return self.outputs, [self.outputs / path.removeprefix(OUTPUTS)]
        return self.root, [self.root / folder / path, self.root / path]


def is_hidden(path: PurePath) -> bool:
    """Whether a path, relative to its root and with links followed, is hidden or lies in something hidden.

    Whoever writes there changes what programs do: `.git/hooks`, `.vscode/tasks.json`, `.loop-ls.yaml`. All names
    with a dot in front count, so letter case does not matter where file systems pass over it."""
    return any(part.startswith(".") for part in path.parts)


def is_engine_data(path: Path) -> bool:
    """Whether a path, with links followed, is the data folder of an engine or lies in one. A setting may put that
    into the workspace, and in it are the journal and the keys by which the owner agrees and commands."""
    return any(
        (folder / LOCK_NAME).is_file() and any((folder / name).exists() for name in _KEPT_BY_ENGINES)
        for folder in (path, *path.parents)
    )


def engine_data_below(folder: Path) -> Iterator[Path]:
    """The data folders of engines in a folder, as a program finds them that goes through it and follows no link."""
    for place, folders, names in os.walk(folder):
        if LOCK_NAME in names and is_engine_data(Path(place)):
            folders.clear()
            yield Path(place)


def outputs_folder(root: Path, written: object) -> Path:
    """The folder that `/outputs/` means: the one of the settings below the root, else the usual one. A project
    must not make us read and write anywhere else. Raises `Failure`."""
    if not isinstance(written, str) or not written.strip():
        return _own(Path(tempfile.gettempdir(), USUAL_OUTPUTS))
    found = root / written.strip()
    if _is_usual(found):
        return _own(found)
    try:
        whole, own = found.resolve(), root.resolve()
        whole.is_dir()  # a name may be too long for one
    except (OSError, ValueError, RuntimeError) as error:
        raise _no_outputs(written, f"it cannot be followed ({error})") from None
    if whole == own or not whole.is_relative_to(own):
        raise _no_outputs(written, "it is not a separate folder inside the workspace")
    if is_hidden(whole.relative_to(own)):
        raise _no_outputs(written, "it is hidden")
    if is_engine_data(whole):
        raise _no_outputs(written, "it is in the data folder of the engine")
    return found


def _is_usual(folder: Path) -> bool:
    return folder in (Path(tempfile.gettempdir(), USUAL_OUTPUTS), Path("/tmp", USUAL_OUTPUTS))


def _own(folder: Path) -> Path:
    """Everybody may lay a link or a folder among temporary files: who owns it says what is read from it, and can
    change where what is written goes. Raises `Failure`."""
    with suppress(FileNotFoundError):
        if why := _not_ours(folder.lstat()):
            raise _no_outputs(str(folder), why)
    return folder


def _not_ours(found: os.stat_result) -> str:
    """Why a folder among temporary files may not be used, as the end of a sentence; empty where it may."""
    if stat.S_ISLNK(found.st_mode):
        return "it is a link"
    if not hasattr(os, "geteuid"):
        return ""  # there, everybody has a folder of their own for them
    if found.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    return "anyone can write to it" if found.st_mode & stat.S_IWOTH else ""


def _no_outputs(written: str, why: str) -> Failure:
    told = f"`outputsDir` cannot be `{written}`: {why}."
    return Failure("file_has_errors", told, "Choose a folder inside the workspace, such as `outputsDir: outputs`.")


def _secret(path: Path) -> bool:
    """Files that hold keys, or the innards of version control: no text is made of them. In whatever letter case:
    some file systems pass over it."""
    return path.name.lower().startswith(".env") or ".git" in (part.lower() for part in path.parts)


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_BEGINNING).decode("utf-8", "replace")


def _text(path: Path, shown: str, what: str) -> str:
    if path.stat().st_size > LARGEST_FILE:
        raise Failure("limit_reached", f"{what} {shown} is larger than {LARGEST_FILE // 2**20} MiB")
    return path.read_bytes().decode("utf-8-sig", errors="replace")
