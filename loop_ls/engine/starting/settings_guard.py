"""Settings that a start may not pass over: a limit that cannot be read would silently not be in force, and an
address that cannot be read would send texts elsewhere. Other faults are told by the rules, and stop nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.starting.recorded import why_unread
from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.formats.settings.model import Problem, file_values, settings_of
from loop_ls.index.disk.discovery import read_text
from loop_ls.index.disk.projects import settings_folder
from loop_ls.text.json_value import Json

#: The keys of settings whose problems change what a run may spend or where its texts go.
_GRAVE = re.compile(r"limits(?:\..*)?|providers(?:\.[^.]*(?:\.(?:baseUrl|kind|apiKeyEnv|price))?)?")


def require_sound_settings(root: Path, path: str, editor: Mapping[str, Json], grave: re.Pattern[str] = _GRAVE) -> None:
    """The settings of the project that the file at `path` below `root` lies in, of `root` where `path` is empty;
    `grave` matches the keys whose problems stop a start. Raises `Refused`. Reads the disk, so not for the loop."""
    home = Path(settings_folder(root.as_posix(), path))
    text = read_text((home / SETTINGS_NAME).as_posix())
    if text is None and (home / SETTINGS_NAME).exists():
        raise _refused(f"{SETTINGS_NAME} cannot be read: {why_unread(home.as_posix(), SETTINGS_NAME)}")
    values, problems = file_values(text) if text is not None else ({}, ())
    for problem in problems:
        if problem.code == "LS001":
            line = "" if problem.span is None else f", line {problem.span.start.line + 1}"
            raise _refused(f"{SETTINGS_NAME}{line}: {problem.message}")
    for message in _grave(settings_of(values)[1], grave):
        raise _refused(f"{SETTINGS_NAME}: {message}")
    for message in _grave(settings_of(editor)[1], grave):
        raise Refused("bad_argument", f"The settings of the editor: {message}.", "Fix them, then start the run again.")


def of_enhance(workflow: str) -> re.Pattern[str]:
    """The keys of settings whose problems stop an enhance loop of this workflow: a cap that is not taken would be
    another cap."""
    own = re.escape(f"enhance.workflows.{workflow}")
    return re.compile(rf"enhance(?:\.(?!workflows\.).*)?|{own}(?:\..*)?")


def _grave(problems: Iterable[Problem], grave: re.Pattern[str]) -> Iterator[str]:
    return (problem.message for problem in problems if grave.fullmatch(problem.path))


def _refused(told: str) -> Refused:
    hint = "Fix the file and run it again; with this error its limits could not be enforced."
    return Refused("file_has_errors", f"{told.rstrip('.')}.", hint, {"path": SETTINGS_NAME})
