"""Key file: a random key in a file that only its owner reads, made by whoever needs it first.

Server, commands and engine begin at the same moment, so the file comes into its place whole or not at all: one that
is found empty would be a key that everybody knows.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path


def read_key(path: Path) -> str | None:
    """None where there is none yet."""
    try:
        return path.read_text("ascii").strip() or None
    except (OSError, ValueError):
        return None


def made_key(path: Path) -> str:
    """The key, which is made where there is none, with the folder for it. Raises `OSError`."""
    if (found := read_key(path)) is not None:
        return found
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        if path.stat().st_size == 0:  # left by an end in the middle of its making
            path.unlink()
    handle, whole = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32))
        with suppress(FileExistsError):  # somebody else was first
            os.link(whole, path)
    finally:
        Path(whole).unlink(missing_ok=True)
    return path.read_text("ascii").strip()
