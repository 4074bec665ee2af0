"""What a workspace has that can be started by name, as rows of the engine's interface.

The engine may not know the checker, so the definitions with their first errors come from here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.formats.assistant.keys import CAP_ONLY
from loop_ls.formats.registry import ROLE_LOOP
from loop_ls.formats.role_loop.placeholders import fill
from loop_ls.text.json_value import Json, JsonObject, as_object, plain_object

if TYPE_CHECKING:
    from loop_ls.app.definitions import Definition
    from loop_ls.engine.roles.definitions import Definition as RoleLoopFile
    from loop_ls.formats.role_loop.model import RoleLoop

Row = JsonObject


def catalogue(root: Path, data: Path | None = None) -> Callable[[], Awaitable[list[JsonObject]]]:
    """Looks at the disk each time it is asked, in a thread. `data` is the engine's folder, which
    holds the built-in role loops."""

    async def rows() -> list[Row]:
        return await asyncio.to_thread(_rows, root.as_posix(), data or root)

    return rows


def _rows(root: str, data: Path) -> list[JsonObject]:
    from loop_ls.app.definitions import definitions
    from loop_ls.engine.roles.definitions import definitions as role_loops
    from loop_ls.formats.role_loop.roles import known_roles
    from loop_ls.index.disk.discovery import discover

    workspace = discover(root).workspace
    others = [found for found in definitions(workspace, root) if found["format"] != ROLE_LOOP]
    roles = known_roles(workspace.settings.raw.get("roles"))
    rows = [*map(_role_loop, role_loops(root, data, roles=roles)), *map(_other, others)]
    return [{**row, "root": root} for row in rows]


def _role_loop(found: RoleLoopFile) -> JsonObject:
    loop = found.loop
    row: Row = {
        "format": ROLE_LOOP,
        "name": found.name,
        "description": "",
        "path": found.path,
        "builtin": found.built_in,
        "parameters": [],
        "roles": [],
        "termination": _termination(found.text),
        "error": None if found.error is None else found.error.message,
    }
    if loop is None:
        return row
    return {
        **row,
        "description": loop.description,
        "termination": _effective(as_object(row["termination"]), loop)
        or {"type": loop.ends_by, "value": loop.max_iterations},
        "parameters": [
            {"name": one.name, "description": one.description, "required": one.required, "default": one.default}
            for one in loop.parameters
        ],
        "roles": [
            {"role": one.role, "prompt": one.prompt, "max_iterations": one.max_iterations} for one in loop.stages
        ],
    }


def _effective(termination: Mapping[str, Json], loop: RoleLoop) -> JsonObject:
    """With the defaults of the parameters that stand in it, a limit as a number: what a start without them would do."""
    defaults = {one.name: one.default for one in loop.parameters if one.default is not None}

    def filled(value: Json) -> Json:
        match value:
            case dict():
                return {key: filled(each) for key, each in value.items()}
            case str() if (text := fill(value, defaults).text) != value:
                return int(text) if text.isascii() and text.isdigit() else text
            case _:
                return value

    return {name: filled(value) for name, value in termination.items()}


def _termination(text: str) -> JsonObject | None:
    """As the file has it; None where it has none of the documented shape."""
    try:
        found = json.loads(text)["termination_condition"]
        return {"type": str(found["type"]), "value": found.get("value")}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _other(found: Definition) -> JsonObject:
    """Every row has the documented columns, whatever its format has a word for."""
    usual: JsonObject = {"parameters": [], "roles": [], "termination": None, "error": None}
    if found.get("loop"):  # of an assistant: its limit ends it where nothing else does
        usual["termination"] = {"type": found.get("criteria") or CAP_ONLY, "value": found.get("maxIterations")}
    return {**usual, **plain_object(found), "description": found.get("description") or ""}
