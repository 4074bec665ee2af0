"""What a workspace has that can be started by name, as rows of the engine's interface.

The engine may not know the checker, so the definitions with their first errors come from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def catalogue(root: Path) -> Callable[[], Awaitable[list[Row]]]:
    """Looks at the disk each time it is asked, in a thread."""

    async def rows() -> list[Row]:
        return await asyncio.to_thread(_rows, root.as_posix())

    return rows


def _rows(root: str) -> list[Row]:
    from loop_ls.cli.definitions import definitions
    from loop_ls.index.discovery import discover

    return [_row(found) for found in definitions(discover(root).workspace, root)]


def _row(found: Row) -> Row:
    """Every row has the documented columns, whatever its format has a word for."""
    roles = found.get("roles") or [{"role": label, "prompt": None} for label in found.get("stages") or []]
    return {
        **found,
        "description": found.get("description") or "",
        "parameters": found.get("parameters") or [],
        "roles": [{"max_iterations": None, "prompt": None, **role} for role in roles],
        "termination": found.get("termination"),
    }
