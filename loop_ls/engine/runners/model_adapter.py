"""Agent programs behind the port of models: a step, a judge or a vote of a workflow may ask one.

Each question is one fresh process, as in every other loop. An agent brings its own tools, so it takes none of
ours; nobody bounds the length of its answers, and it makes no vectors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from loop_ls.engine.core.plan import ModelAccess, Plan
from loop_ls.engine.core.ports import (
    EmbedReply,
    EmbedRequest,
    Failure,
    FailureDetails,
    ModelFailure,
    ModelReply,
    ModelRequest,
    Waiting,
)
from loop_ls.engine.runners.cli import require_program
from loop_ls.engine.runners.resolve import is_agent, program_of, runner_for
from loop_ls.engine.runners.runner import IDLE, Access, Assignment, deaf
from loop_ls.text.json_value import as_object, float_field, text_field

#: What an agent may do when it works at a step. Whoever judges, votes or plans only answers.
WORKING: Access = "full"
ANSWERING: Access = "minimal"


def with_agents(
    models_of: Callable[[Plan], ModelAccess], environ: Mapping[str, str] | None = None
) -> Callable[[Plan], ModelAccess]:
    """What `models_of` gives, with agents that can be asked too."""
    environment = os.environ if environ is None else environ
    return lambda plan: ModelsWithAgents(models_of(plan), plan, environment)


class ModelsWithAgents:
    """`plan.ModelAccess` of one run."""

    def __init__(self, models: ModelAccess, plan: Plan, environ: Mapping[str, str]) -> None:
        self._models, self._plan, self._environ = models, plan, environ
        found = plan.settings.get("providers")
        self._providers = as_object(found)

    def problem(self, name: str) -> ModelFailure | None:
        if not self._asks_agent(name):
            return self._models.problem(name)
        try:
            require_program(program_of(name, self._providers)[0], self._environ, self._plan.root)
        except Failure as failure:
            return _told(failure, name)
        return None

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        if not self._asks_agent(request.provider):
            return await self._models.ask(request, on_text, on_wait)
        if request.tools:
            told = f"`{request.provider}` is an agent with its own tools, and does not support `servers`."
            hint = "Remove `servers` from the step, and configure them in the agent itself."
            raise ModelFailure("bad_request", told, hint, provider=request.provider)
        try:
            runner = runner_for(request.provider, self._providers, self._models, environ=self._environ)
            work = await runner.run(self._assignment(request), on_text or deaf)
        except Failure as failure:
            raise _told(failure, request.provider) from failure
        return ModelReply(
            text=work.text,
            provider=request.provider,
            model=work.model or request.model,
            input_tokens=work.input_tokens,
            output_tokens=work.output_tokens,
            usd=work.usd,
            duration=work.duration,
        )

    async def embed(self, request: EmbedRequest, on_wait: Callable[[Waiting], None] | None = None) -> EmbedReply:
        if not self._asks_agent(request.provider):
            return await self._models.embed(request, on_wait)
        told = f"`{request.provider}` is an agent, which does not support embeddings."
        raise ModelFailure("bad_request", told, "Use a provider with an embedding model.", provider=request.provider)

    def _asks_agent(self, name: str) -> bool:
        return not self._plan.mock and is_agent(name, self._providers)

    def _assignment(self, request: ModelRequest) -> Assignment:
        own = as_object(self._providers.get(request.provider))
        total = request.timeout or float_field(own, "timeoutSeconds")
        return Assignment(
            message=request.prompt,
            system=request.system or "",
            folder=self._plan.root,
            model=request.model or (text_field(own, "defaultModel") or None),
            access=WORKING if request.purpose == "step" else ANSWERING,
            budget_usd=request.budget_usd,
            name="loop-ls",
            idle=float_field(own, "idleSeconds") or IDLE,
            total=total,
            place=request.place,
            purpose=request.purpose,
            bill=request.bill,
        )


def _told(failure: Failure, provider: str) -> ModelFailure:
    """What an agent's failure is to whoever asked a model."""
    code = "timeout" if failure.code == "agent_timeout" else failure.code
    details: FailureDetails = {} if failure.until is None else {"until": failure.until}
    if failure.booked:
        details["booked"] = True
    return ModelFailure(code, failure.message, failure.hint, provider=provider, details=details)
