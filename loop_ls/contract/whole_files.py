"""Whole files: several are replaced by their new contents, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def replace_all(texts: Mapping[Path, str]) -> None:
    """Raises `OSError`; then all files are as they were."""
    old, new = {path: path.read_bytes() for path in texts}, dict[Path, Path]()
    done: list[Path] = []
    try:
        for path, text in texts.items():
            new[path] = _beside(path, text.encode("utf-8"))
        for path, made in new.items():
            made.replace(path)
            done.append(path)
    except OSError:
        for path in done:
            _beside(path, old[path]).replace(path)
        raise
    finally:
        for made in new.values():
            made.unlink(missing_ok=True)


def _beside(path: Path, content: bytes) -> Path:
    """A file with this content that can take the place of another one. Its name is always the same, so that one that
    a crash left is used up by the next try."""
    mode, made = path.stat().st_mode, path.with_name(f".{path.name}.loop-ls-new")
    made.unlink(missing_ok=True)
    with open(made, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as new:
        try:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            made.chmod(mode & 0o7777)
        except OSError:
            made.unlink(missing_ok=True)
            raise
    return made
