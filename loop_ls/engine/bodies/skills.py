"""Skills of a step: what their `SKILL.md` says is told to the model before the prompt."""

from __future__ import annotations

import asyncio

from loop_ls.contract.facts.kinds import Warned
from loop_ls.engine.bodies.steps import Try
from loop_ls.engine.bodies.tools import SKILLS
from loop_ls.engine.context.skill_texts import missing_skills, read_skill, told_skills


async def skill_texts(attempt: Try) -> str | None:
    """The skills that a step names, as one text; None: it has none. Missing ones are warned of once."""
    step, execution = attempt.step, attempt.frame.workflow.execution
    sessions = attempt.frame.context.sessions
    if sessions is not None and SKILLS in sessions.known:
        return None  # a server of that name has them
    names = dict.fromkeys((execution.skills if step.skills is None else step.skills) or ())
    found = {name: await asyncio.to_thread(read_skill, attempt.frame.context.files, name) for name in names}
    missing = [name for name, text in found.items() if text is None]
    servers = (execution.servers if step.servers is None else step.servers) or ()
    if missing or (SKILLS in servers and not names):
        await _warn(attempt, missing)
    return told_skills(found)


async def _warn(attempt: Try, missing: list[str]) -> None:
    """Once for each step, rather than let a model pretend to have them."""
    step, frame = attempt.step, attempt.frame
    if missing:
        told = missing_skills(step.name, missing)
    else:
        told = f"`{step.name}` uses the server `{SKILLS}` but lists no skills: add them to `skills`"
    fact = Warned(code="no_skills", message=told).fact(attempt.place)
    await frame.recorder.record(f":tools/{frame.key}/{step.name}", [fact])
