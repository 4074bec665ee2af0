"""A `run` step: one prompt, one answer, with rounds of tools in between where it names servers."""

from __future__ import annotations

from loop_ls.engine.bodies.context import Finished
from loop_ls.engine.bodies.skills import skill_texts
from loop_ls.engine.bodies.steps import Try
from loop_ls.engine.bodies.tools import ServerTools, rounds_of, servers_of
from loop_ls.engine.context.interpolation import interpolate
from loop_ls.engine.context.model_targets import asking
from loop_ls.engine.model_calls.ask import Question, ask
from loop_ls.engine.model_calls.notes import as_said
from loop_ls.engine.model_calls.tool_loop import ROUNDS, converse
from loop_ls.engine.protection.guard import guarded


async def run_prompt(attempt: Try, text: str) -> Finished:
    """Ask the models of the step, in order. The result is the reply, unchanged."""
    step, frame = attempt.step, attempt.frame
    rendered = interpolate(text, attempt.scope)
    how = asking(step, frame.workflow.execution)
    key = attempt.inner.part("ask")
    question = Question(
        place=attempt.place,
        key=key,
        prompt=await as_said(rendered.text, frame.recorder, attempt.place, key),
        targets=how.targets,
        temperature=how.temperature,
        max_tokens=how.max_tokens,
        timeout=how.timeout,
        once=attempt.retried,
        system=await skill_texts(attempt),
        shown={**attempt.place.fields(), "step": step.name},
    )
    warnings = attempt.unknown(rendered.unknown, f"`{step.name}`") if attempt.attempt == 1 else []
    before = [attempt.started(), *warnings]
    toolbox = _toolbox(attempt, how.timeout)
    if toolbox is not None:
        rounds = rounds_of(step, frame.workflow.execution) or ROUNDS
        async with guarded(frame.recorder, attempt.place, key, many=True):
            output = await converse(
                question,
                toolbox,
                rounds,
                frame.context.models,
                frame.recorder,
                before,
                lambda said: [attempt.completed(said)],
            )
    else:
        output = await ask(
            question, frame.context.models, frame.recorder, before, lambda said: [attempt.completed(said)]
        )
    return Finished(step.name, output)


def _toolbox(attempt: Try, limit: float | None) -> ServerTools | None:
    """The tools of the servers that the step names; none in a run that only plays."""
    sessions = attempt.frame.context.sessions
    if sessions is None:
        return None
    servers = servers_of(attempt.step, attempt.frame.workflow.execution, sessions.known)
    return ServerTools(sessions, servers, limit) if servers else None
