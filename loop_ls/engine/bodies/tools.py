"""The tools of one step: those of the MCP servers that it names, under names that models accept."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from loop_ls.engine.core.messages import ToolSpec
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.model_calls.tool_loop import Outcome
from loop_ls.engine.tools import Sessions, Tool
from loop_ls.formats.workflow.model import Execution, Step
from loop_ls.text.json_value import Json

#: The name of the built-in skills in `servers`: no server, unless the settings name one.
SKILLS = "skills"
#: What every provider takes as the name of a tool.
LONGEST_NAME = 64
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


def servers_of(step: Step, execution: Execution, known: Container[str] = ()) -> tuple[str, ...]:
    """The MCP servers of a step: its own replace those of `execution` (WB_120). `skills` is one where the
    settings say so."""
    named = execution.servers if step.servers is None else step.servers
    return tuple(dict.fromkeys(name for name in named or () if name != SKILLS or name in known))


def rounds_of(step: Step, execution: Execution) -> int | None:
    """How many rounds of tools a step may take; None: nobody said."""
    return execution.max_iterations if step.max_iterations is None else step.max_iterations


@dataclass(frozen=True, slots=True)
class ServerTools:
    """A `Toolbox` of some servers of the run. `limit` bounds one call, in seconds."""

    sessions: Sessions
    servers: tuple[str, ...]
    limit: float | None = None

    async def offered(self) -> tuple[ToolSpec, ...]:
        tools = await self.sessions.tools(self.servers)
        return tuple(ToolSpec(name, tool.description, tool.schema) for name, tool in named(tools).items())

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Outcome:
        """A tool that is too slow failed, and the model may do without; a server that is gone ends the step."""
        tool = named(await self.sessions.tools(self.servers))[name]
        try:
            result = await self.sessions.call(tool.server, tool.name, arguments, self.limit)
        except Failure as failure:
            if failure.code != "timeout":
                raise
            return Outcome(failure.message, failed=True, source=tool.server)
        return Outcome(result.shown(), result.failed, tool.server)


def named(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Each tool under a name of its own: its plain name, or with its server's where two share one."""
    tools = tuple(tools)
    times = Counter(_accepted(tool.name) for tool in tools)
    found: dict[str, Tool] = {}
    for tool in tools:
        name = _accepted(tool.name)
        found.setdefault(name if times[name] == 1 else _accepted(f"{tool.server}__{tool.name}"), tool)
    return found


def _accepted(name: str) -> str:
    plain = _REFUSED.sub("_", name)
    if plain == name and len(name) <= LONGEST_NAME:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[: LONGEST_NAME - 9]}_{mark}"
