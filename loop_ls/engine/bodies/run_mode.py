"""A `run` step: one prompt, one answer (workflow spec 2.5)."""

from __future__ import annotations

from loop_ls.engine.asking import Question, ask
from loop_ls.engine.bodies.context import Finished
from loop_ls.engine.bodies.steps import Try
from loop_ls.engine.events.kinds import Warned
from loop_ls.engine.interpolation import interpolate
from loop_ls.engine.targets import asking


async def run_prompt(attempt: Try, text: str) -> Finished:
    """Ask the models of the step, in order. The result is the reply, unchanged."""
    step, frame = attempt.step, attempt.frame
    rendered = interpolate(text, attempt.scope)
    how = asking(step, frame.workflow.execution)
    question = Question(
        place=attempt.place,
        key=attempt.inner.part("ask"),
        prompt=rendered.text,
        targets=how.targets,
        temperature=how.temperature,
        max_tokens=how.max_tokens,
        timeout=how.timeout,
        once=attempt.retried,
        shown={**attempt.place.fields(), "step": step.name},
    )
    warnings = attempt.unknown(rendered.unknown, f"`{step.name}`") if attempt.attempt == 1 else []
    await _warn_of_tools(attempt)
    output = await ask(
        question,
        frame.context.models,
        frame.recorder,
        before=[attempt.started(), *warnings],
        then=lambda reply: [attempt.completed(reply)],
    )
    return Finished(step.name, output)


async def _warn_of_tools(attempt: Try) -> None:
    """Say once for each step that its tools are missing, rather than let a model pretend to have them."""
    step, frame = attempt.step, attempt.frame
    execution = frame.workflow.execution
    servers = execution.servers if step.servers is None else step.servers
    skills = execution.skills if step.skills is None else step.skills
    if servers or skills:
        message = f"`{step.name}` names servers or skills, which this engine does not connect yet: it has no tools"
        fact = Warned(code="no_tools", message=message).fact(attempt.place)
        await frame.recorder.record(f":tools/{frame.key}/{step.name}", [fact])
