"""Skills of a workspace as tools: texts that say how something is done here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from loop_ls.engine.roles.tools.tool import Refusal, RoleTool, shortened, spec, text
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.index.disk.skill_files import skill_files
from loop_ls.text.json_value import Json


def skill_tools(workspace: Workspace) -> list[RoleTool]:
    return [
        RoleTool(
            spec("skill_list", "List the skills of this workspace."),
            lambda given: asyncio.to_thread(_list, workspace),
        ),
        RoleTool(
            spec("skill_read", "Read a skill: how something is done here.", skill="Its name."),
            lambda given: asyncio.to_thread(_read, workspace, given),
        ),
    ]


def _list(workspace: Workspace) -> str:
    return "\n".join(skill_files(workspace.root)) or "no skills here"


def _read(workspace: Workspace, given: Mapping[str, Json]) -> str:
    name, known = text(given, "skill"), skill_files(workspace.root)
    if name not in known:
        raise Refusal(f"Unknown skill `{name[:60]}`; available skills: {', '.join(known) or 'none'}.")
    try:
        return shortened(known[name].read_text("utf-8", "replace"))
    except OSError as error:
        raise Refusal(f"`{name}` cannot be read: {error.strerror or error}.") from None
