"""Which tools a stage gets: its role's access level decides, and nothing else (role-loop spec 13).

Tools that start loops, background tasks, schedules or webhooks are made nowhere here, and the name of one
that a server offers is left out: no setting can add what would let loops start loops.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import assert_never

from loop_ls.engine.bodies.tools import ServerTools
from loop_ls.engine.core.messages import ToolSpec
from loop_ls.engine.core.ports import Json
from loop_ls.engine.model_calls.tool_loop import Outcome
from loop_ls.engine.roles.tools.files import reading_tools, writing_tools
from loop_ls.engine.roles.tools.notes import Desk, artifact_tools, memory_tools, sprint_tools, todo_tools
from loop_ls.engine.roles.tools.shell import full_shell, readonly_shell
from loop_ls.engine.roles.tools.skills import skill_tools
from loop_ls.engine.roles.tools.tool import Refusal, RoleTool
from loop_ls.engine.roles.tools.web import web_tools
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.engine.sandbox.sandbox import NoSandbox, Sandbox
from loop_ls.formats.role_loop.roles import Access

#: Names of tools that no stage gets, whoever offers them.
EXCLUDED = re.compile(r"(?:.*__)?(?:loops?|background_?tasks?|schedules?|webhooks?|cron)(?:[_-].*)?", re.IGNORECASE)


def tools_of(
    access: Access, root: Path, desk: Desk, environ: Mapping[str, str], sandbox: Sandbox | NoSandbox
) -> list[RoleTool]:
    """The tools of our own; `minimal` has none at all. Without a sandbox nobody gets a read-only shell."""
    if access == "minimal":
        return []
    workspace = Workspace(root)
    notes = [*artifact_tools(desk, access == "full"), *todo_tools(desk), *sprint_tools(desk), *skill_tools(workspace)]
    found = [*reading_tools(workspace), *notes]
    match access:
        case "readonly":
            return found
        case "readonly-shell":
            return found if isinstance(sandbox, NoSandbox) else [*found, readonly_shell(workspace, sandbox)]
        case "full":
            more = [*writing_tools(workspace), full_shell(workspace, environ), *web_tools(), *memory_tools(desk)]
            return [*found, *more]
        case never:
            assert_never(never)


def shell_server(access: Access, root: str, sandbox: Sandbox | NoSandbox) -> tuple[str, ...]:
    """The words that start the read-only shell as an MCP server, for agent programs of roles that only read;
    () where there is no sandbox or no package for it. `-P`: nothing of the workspace is imported."""
    if access not in ("readonly", "readonly-shell") or isinstance(sandbox, NoSandbox) or find_spec("mcp") is None:
        return ()
    return (sys.executable, "-P", "-m", "loop_ls", "mcp", "--readonly-shell", "--root", root)


def is_excluded(name: str) -> bool:
    return EXCLUDED.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class RoleToolbox:
    """The tools of one stage as a conversation uses them. `servers` are discovered ones (full access)."""

    own: Iterable[RoleTool]
    servers: ServerTools | None = None
    _known: dict[str, RoleTool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known.update({tool.name: tool for tool in self.own if not is_excluded(tool.name)})

    async def offered(self) -> tuple[ToolSpec, ...]:
        found = () if self.servers is None else await self.servers.offered()
        more = [tool for tool in found if tool.name not in self._known and not is_excluded(tool.name)]
        return (*(tool.spec for tool in self._known.values()), *more)

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Outcome:
        own = self._known.get(name)
        if own is None:
            if self.servers is None or is_excluded(name):
                return Outcome(f"there is no tool `{name}`", failed=True)
            return await self.servers.call(name, arguments)
        try:
            return Outcome(await own.run(arguments))
        except Refusal as refusal:
            return Outcome(str(refusal), failed=True)
