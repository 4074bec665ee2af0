"""Role files of a project as a layer of its settings: `roles/*.md` over `.claude/agents/*.md`.

A file that cannot be used says nothing: its rules tell why. Links that lead out of the project are not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from loop_ls.formats.role_file.file_format import FOLDERS
from loop_ls.text.json_value import JsonObject
from loop_ls.text.lines import Text

#: More files than this are no roles of people.
MOST_FILES = 200
Read = Callable[[str], Text | None]


def role_layer(home: str, read: Read) -> JsonObject:
    """The setting `roles` that the files of a project stand for; empty where there are none."""
    roles: JsonObject = {}
    for path in role_paths(home):
        from loop_ls.formats.role_file.read import read_role  # most projects have none

        text = read(path)
        found = None if text is None else read_role(text, path)
        if found is not None:
            roles[found[0]] = {**found[1], "file": Path(path).relative_to(home).as_posix()}
    return {"roles": roles} if roles else {}


def role_paths(home: str) -> Iterator[str]:
    """Those that are there, what counts most last; of two in one folder the first by name does."""
    for folder in FOLDERS:
        try:
            yield from _inside(Path(home), sorted(Path(home, folder).glob("*.md"), reverse=True)[-MOST_FILES:])
        except (OSError, ValueError):  # no name of a folder
            continue


def _inside(home: Path, found: list[Path]) -> list[str]:
    root = home.resolve()
    return [path.as_posix() for path in found if path.resolve().is_relative_to(root) and path.is_file()]
