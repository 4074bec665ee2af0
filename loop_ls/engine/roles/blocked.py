"""A stage or a gate that cannot continue asks a person: it tries again with what the person says, or the loop ends."""

from __future__ import annotations

import uuid
from typing import cast

from loop_ls.contract.facts.kinds import ManualApprovalRequired
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Approval, Recorder


async def ask_person(recorder: Recorder, place: Place, number: int, question: str) -> Approval:
    """`number`: which question it is at this place. The answer is `retry`, with what to tell the stage, or `reject`.
    Raises `Stopped`."""
    asked_at = part_of(place, f"blocked-{number}")
    key = asked_at.part("loop_id")
    loop_id = cast("str | None", recorder.recall(key))
    if loop_id is None:
        loop_id = str(uuid.uuid4())
        await recorder.record(key, answer=loop_id)
    asked = ManualApprovalRequired(iteration=place.iteration or 1, output=question, loop_id=loop_id, blocked=True)
    return await recorder.approval(asked_at, asked)


def part_of(place: Place, name: str) -> Place:
    """Where the engine does something at a place that has keys of its own: a question, a further try of a stage."""
    return Place(place.part(name), place.workflow, place.file, place.depth, place.loop, place.iteration)
