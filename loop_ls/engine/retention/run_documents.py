"""Texts of runs that somebody wanted to read as documents: written by language servers, removed with their runs.

Nothing here writes one. Each is called `RUN-what.md`, so that it is known whose it is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

NAME = "shown"


def remover(folder: Path) -> Callable[[str], None]:
    """Removes what is kept of a run below a data folder. Never raises: a file may be open in an editor."""

    def remove(run_id: str) -> None:
        with suppress(OSError):
            for path in list((folder / NAME).iterdir()):
                if path.name.startswith(f"{run_id}-"):
                    with suppress(OSError):
                        path.unlink()

    return remove
