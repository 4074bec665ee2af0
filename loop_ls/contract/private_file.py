"""Private file: JSON that only its owner reads, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path


def write_private(path: Path, value: object) -> None:
    """Replace the file in one step. Raises `OSError`."""
    new = path.with_suffix(".new")
    new.touch(0o600, exist_ok=True)
    new.write_text(json.dumps(value, indent=1), "utf-8")
    new.replace(path)
