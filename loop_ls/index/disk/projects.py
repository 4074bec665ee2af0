"""The project of a file: the nearest folder upwards with a `.loop-ls.yaml`, whose settings count for it.

Everything that reads settings asks here (through `index.disk.discovery.load_settings`): the checker, the server, the
engine and every command, so that none of them sees other rules, providers or switches than the rest. A repository is
a limit: what lies above its root is not its project.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.formats.settings.model import Settings
from loop_ls.index.disk.roots import Roots

_REPOSITORY = ".git"


class Project(NamedTuple):
    """What a folder with settings of its own says about the files below it."""

    roots: Roots
    settings: Settings


def project_folder(folder: str | Path) -> str | None:
    """The nearest folder, `folder` itself or one above it, that has settings; None where there is none."""
    start = Path(folder)
    for each in (start, *start.parents):
        if _is_there(each / SETTINGS_NAME):
            return each.as_posix()
        if _is_there(each / _REPOSITORY):
            return None
    return None


def place_of(folder: str | Path) -> str | None:
    """Where commands work for a file in `folder`: in its project, else at the root of its repository."""
    found = project_folder(folder)
    if found is not None:
        return found
    return repository_of(folder)


def repository_of(folder: str | Path) -> str | None:
    """The root of the repository that a folder lies in; None where it lies in none."""
    start = Path(folder)
    return next((each.as_posix() for each in (start, *start.parents) if _is_there(each / _REPOSITORY)), None)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def home_of(root: str, path: str) -> str:
    """The folder of the project that the file at `path` below `root` belongs to; `root` where it lies in none, or in
    one that begins above."""
    found = project_folder(f"{root}/{path}".rpartition("/")[0])
    return found if found is not None and is_below(root, found) else root


def settings_folder(root: str, path: str) -> str:
    """The folder whose settings count for the file at `path` below `root`, also where they lie above `root`: who spends
    money under the same settings draws on one account. `root` where there are none."""
    home = home_of(root, path)
    return project_folder(home) or home


def engine_home(root: str | Path) -> Path:
    """Where the engine of a workspace folder is at home: its project. Its folders share one engine and one record."""
    return Path(settings_folder(Path(root).as_posix(), ""))


def is_below(folder: str, path: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/")
