"""Tools of MCP servers for an assistant: in the conversation of a model, or served to an agent program over MCP."""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.engine.context.model_targets import DEFAULT_TEMPERATURE
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.model_calls.ask import Question
from loop_ls.engine.model_calls.tool_loop import Toolbox, converse
from loop_ls.engine.roles.served.runner import WithTools
from loop_ls.engine.runners.recorded import perform
from loop_ls.engine.runners.runner import Assignment, Runner
from loop_ls.formats.common.target import Target
from loop_ls.formats.role_loop.roles import STEPS


@dataclass(frozen=True, slots=True)
class ToolsOfServers:
    """`toolbox` are those of the servers that the assistant names; `models` asks where no program is started."""

    toolbox: Toolbox
    models: Models

    async def worked(self, runner: Runner, work: Assignment, recorder: Recorder, place: Place, key: str) -> str:
        """What came out of it, once per run under `key`. Raises `Failure`, `ModelFailure` and `Stopped`."""
        if runner.program:
            return (await perform(WithTools(runner, self.toolbox, recorder, place), work, recorder, place, key)).text
        question = Question(
            place=place,
            key=key,
            prompt=work.message,
            targets=(Target(runner.name, work.model or ""),),
            temperature=DEFAULT_TEMPERATURE,
            timeout=work.total,
            purpose=work.purpose,
            request_place=work.place,
            system="\n\n".join(part for part in (work.system, work.appended) if part) or None,
            shown=dict(place.fields()),
        )
        return await converse(question, self.toolbox, STEPS - 1, self.models, recorder, budget=work.budget_usd)
