"""Which tools a stage gets: its role's access level decides, and nothing else.

Tools that start loops, background tasks, schedules or webhooks are made nowhere here, and the name of one
that a server offers is left out: no setting can add what would let loops start loops.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import assert_never, cast

from loop_ls.engine.bodies.tools import ServerTools
from loop_ls.engine.capabilities.guard import using
from loop_ls.engine.capabilities.values import AnyCommand, Capability, ReadingCommands, ToolUse
from loop_ls.engine.core.messages import ToolSpec
from loop_ls.engine.model_calls.tool_loop import Outcome
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.tools.files import reading_tools, writing_tools
from loop_ls.engine.roles.tools.notes import StageNotes, artifact_tools, memory_tools, sprint_tools, todo_tools
from loop_ls.engine.roles.tools.shell import full_shell, readonly_shell
from loop_ls.engine.roles.tools.skills import skill_tools
from loop_ls.engine.roles.tools.tool import Refusal, RoleTool
from loop_ls.engine.roles.tools.web import web_tools
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.engine.subprocesses.sandbox import NoSandbox, Sandbox
from loop_ls.formats.role_loop.roles import Access, Role, claude_tools
from loop_ls.text.json_value import Json

logger = logging.getLogger(__name__)

#: What a tool raises that did not think of something; all else is for the run.
_MISTAKES = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
#: Names of tools that no stage gets, whoever offers them.
EXCLUDED = re.compile(r"(?:.*__)?(?:loops?|background_?tasks?|schedules?|webhooks?|cron)(?:[_-].*)?", re.IGNORECASE)


def tools_of(
    access: Access, root: Path, notes: StageNotes, environ: Mapping[str, str], sandbox: Sandbox | NoSandbox
) -> list[RoleTool]:
    """The tools of our own; `minimal` has none at all. Without a sandbox nobody gets a read-only shell."""
    if access == "minimal":
        return []
    workspace = Workspace(root)
    found = [*reading_tools(workspace), *_project_tools(access, workspace, notes)]
    match access:
        case "readonly":
            return found
        case "readonly-shell":
            return found if isinstance(sandbox, NoSandbox) else [*found, readonly_shell(workspace, sandbox)]
        case "full":
            more = [
                *writing_tools(workspace),
                full_shell(workspace, environ),
                *web_tools(),
                *memory_tools(notes),
            ]
            return [*found, *more]
        case never:
            assert_never(never)


def _project_tools(access: Access, workspace: Workspace, notes: StageNotes) -> list[RoleTool]:
    return [
        *artifact_tools(notes, access == "full"),
        *todo_tools(notes),
        *sprint_tools(notes),
        *skill_tools(workspace),
    ]


def tools_for_program(
    access: Access, root: Path, notes: StageNotes, sandbox: Sandbox | NoSandbox, reads_files: bool
) -> list[RoleTool]:
    """The same for an agent program, without those that it has itself. `reads_files`: it has tools for files. A shell
    of its own it has at full access alone."""
    if access == "minimal":
        return []
    workspace = Workspace(root)
    found = _project_tools(access, workspace, notes)
    match access:
        case "readonly" | "readonly-shell":
            reading = [] if reads_files else reading_tools(workspace)
            if access == "readonly" or isinstance(sandbox, NoSandbox):
                return [*reading, *found]
            return [*reading, *found, readonly_shell(workspace, sandbox)]
        case "full":
            return [*found, *memory_tools(notes)]
        case never:
            assert_never(never)


#: Tools of our own that change nothing outside of the loop's own records.
HARMLESS = frozenset({"file_read", "file_list", "file_search"})


def stands_for(role: Role, root: str, player: str = "") -> Capability | None:
    """The capability that a role needs for its own tools; `player` is the agent program that plays it."""
    match role.access:
        case "minimal" | "readonly":
            return None
        case "readonly-shell":
            return ReadingCommands(root)
        case "full":
            if role.tools is None:
                return AnyCommand(role.name, root, role.file)
            return AnyCommand(role.name, root, role.file, claude_tools(role.tools), player)
        case never:
            assert_never(never)


def tool_use(tool: str, arguments: Mapping[str, Json], root: str) -> ToolUse:
    """One tool with these arguments, which are compared and shown as JSON."""
    told = json.dumps(arguments, ensure_ascii=False, sort_keys=True, default=str)
    return ToolUse(tool, told, root, is_own(tool) and tool in HARMLESS)


def is_own(name: str) -> bool:
    """Whether a tool is one of ours, at any access."""
    return name in _own_names()


def servers_with(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The servers that have to be asked for a tool: the one that its name begins with, else any of them."""
    if is_own(name) or is_excluded(name):
        return ()
    servers = tuple(known)
    named = tuple(server for server in servers if name.startswith(f"{server}__"))
    return named or servers


@cache
def _own_names() -> frozenset[str]:
    nowhere = StageNotes(cast(Records, None), "", "", "", "", "", "")
    return frozenset(tool.name for tool in tools_of("full", Path(), nowhere, {}, NoSandbox("")))


@cache
def _names_of_every_role() -> frozenset[str]:
    nowhere = StageNotes(cast(Records, None), "", "", "", "", "", "")
    return frozenset(tool.name for tool in _project_tools("full", Workspace(Path()), nowhere))


def is_excluded(name: str) -> bool:
    return EXCLUDED.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class RoleToolbox:
    """The tools of one stage as a conversation uses them. `servers` are discovered ones (full access). `stands_for`
    is the capability of the run that covers what our own tools do; None: they do nothing that needs one. `only`: what
    the role may use besides the tools that every role has; None: all of it."""

    own: Iterable[RoleTool]
    servers: ServerTools | None = None
    stands_for: Capability | None = None
    only: frozenset[str] | None = None
    _known: dict[str, RoleTool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known.update({tool.name: tool for tool in self.own if self._may(tool.name)})

    def _may(self, name: str) -> bool:
        return not is_excluded(name) and (self.only is None or name in self.only or name in _names_of_every_role())

    async def offered(self) -> tuple[ToolSpec, ...]:
        found = () if self.servers is None else await self.servers.offered()
        more = [tool for tool in found if tool.name not in self._known and self._may(tool.name)]
        return (*(tool.spec for tool in self._known.values()), *more)

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Outcome:
        own = self._known.get(name)
        if own is None:
            if self.servers is None or not self._may(name):
                return Outcome(f"unknown tool `{name}`", failed=True)
            return await self.servers.call(name, arguments)
        try:
            with using(self.stands_for) if self.stands_for is not None else nullcontext():
                return Outcome(await own.run(arguments))
        except Refusal as refusal:
            return Outcome(str(refusal), failed=True)
        except _MISTAKES:  # the model can do something else; the work of its stage would be lost
            logger.exception("the tool %s of a stage failed", name)
            return Outcome(f"`{name}` failed unexpectedly; try something else.", failed=True)
