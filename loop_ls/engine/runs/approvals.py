"""What people decide about a waiting run: read, journalled once, and passed to the run by its fact.

The decision is the answer of the key under which the run asked, so of several answers the journal takes
the first and no other, whoever gives it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import cast, get_args

from loop_ls.contract.answers import Approved, Resolved
from loop_ls.contract.facts.kinds import ApprovalResolved
from loop_ls.contract.questions import Decision, answers_to, told_by, wait_of
from loop_ls.contract.run_state import GivenAnswer, PendingApproval
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import Approval
from loop_ls.engine.events import RunState
from loop_ls.engine.journal import Journal
from loop_ls.engine.journal.serialization import plain_text
from loop_ls.engine.runs.answerer import said_by
from loop_ls.engine.runs.registry import LiveRun
from loop_ls.index.disk.discovery import load_settings
from loop_ls.index.disk.projects import home_of
from loop_ls.text.json_value import Json


def read_decision(approved: object, decision: object, feedback: object) -> Approval:
    """`approved` and `decision` say the same thing, and one of them is enough. Raises `Refused`."""
    if decision is not None and decision not in get_args(Decision):
        listed = ", ".join(f"`{one}`" for one in get_args(Decision))
        raise Refused("bad_argument", f"`decision` must be one of {listed}.")
    if approved is not None and not isinstance(approved, bool):
        raise Refused("bad_argument", "`approved` must be true or false.")
    if feedback is not None and not isinstance(feedback, str):
        raise Refused("bad_argument", "`feedback` must be a string.")
    if decision is None and approved is None:
        raise Refused("bad_argument", "Missing `approved`.", "Use true or false.")
    if decision is not None and approved is not None and approved != (decision == "approve"):
        raise Refused(
            "bad_argument", f"`approved` and `decision` contradict each other: {str(approved).lower()} and {decision}."
        )
    found = cast(Decision, decision or ("approve" if approved else "reject"))
    return Approval(found == "approve", found, None if feedback is None else plain_text(feedback))


def revises(settings: Mapping[str, Json]) -> bool:
    """Whether settings switch the third answer on."""
    section = settings.get("assistants")
    return isinstance(section, Mapping) and section.get("revise") is True


async def require_allowed(approval: Approval, state: RunState, loop_id: str | None = None) -> None:
    """Raises `Refused` for an answer that the question does not offer, as changes that the project does not let people
    ask for. What it says now counts, too."""
    meant = [asked for asked in state.asked if loop_id in (None, asked.get("loopId"))]
    waits = {wait_of(asked) for asked in meant}
    if approval.decision == "restore" and waits and "protected" not in waits:
        told = f"`{state.name}` does not ask about protected files, so there is nothing to restore."
        raise Refused("bad_argument", told, "Approve or reject.")
    if approval.decision == "revise" and waits == {"protected"}:
        told = f"`{state.name}` asks about protected files that its agent touched: `revise` is not a valid answer."
        raise Refused("bad_argument", told, "Approve, reject, or answer `restore` to restore the files.")
    if approval.decision != "revise" and len(meant) == 1 and approval.decision not in answers_to(meant[0]):
        listed = ", ".join(f"`{one}`" for one in answers_to(meant[0]))
        told = f"`{approval.decision}` is not an answer to the question of `{state.name}`; expected one of {listed}."
        raise Refused("bad_argument", told)
    if approval.decision != "revise" or not waits or any(asked.get("revise") for asked in state.asked):
        return
    home = home_of(state.root, state.path or "") if state.root else None
    now = await asyncio.to_thread(load_settings, home) if home else None
    if now is None or not revises(now[0].raw):
        told = f"`revise` is disabled for `{state.name}` in the settings of its project."
        raise Refused("forbidden", told, "Set `assistants: {revise: true}` in `.loop-ls.yaml`, or approve or reject.")


async def resolve(
    run: LiveRun, journal: Journal, loop_id: str | None, approval: Approval, first: bool = False
) -> Resolved:
    """Journal the decision; `first`: of several questions the oldest is meant.
    Raises `Refused`."""
    await require_allowed(approval, run.state, loop_id)
    async with run.asked:
        asked = run.state.asked[0] if first and run.state.asked else _pending(run.state, loop_id)
        if approval.decision == "restore" and not asked.get("protected"):
            raise Refused("bad_argument", "The question is not about protected files, so there is nothing to restore.")
        place = asked["place"]
        fact = ApprovalResolved(
            loop_id=asked["loopId"],
            approved=approval.approved,
            decision=approval.decision,
            feedback=approval.feedback,
            **said_by(),
        )
        value = {"approved": approval.approved, "decision": approval.decision, "feedback": approval.feedback}
        kind, body = fact.fact()
        done = await journal.append(
            run.run_id, f"{place}:approval", [(kind, {**body, "place": place})], {"value": value}, ongoing=True
        )
        if not done:
            raise nothing_asked(run.state, asked["loopId"])
        return cast("Resolved", {"runId": run.run_id, **body})


async def resolve_all(runs: Iterable[LiveRun], journal: Journal, approval: Approval) -> Approved:
    """The same decision for every question that is asked now -> `{ok, resolved}`. Raises `Refused` where one of
    them does not take it."""
    await journal.hear_others()
    told, asking = [], [run for run in runs for _ in run.state.asked]
    for each in asking:
        await require_allowed(approval, each.state)
    for each in asking:
        with suppress(Refused):  # somebody else was faster: the other questions count
            told.append(await resolve(each, journal, None, approval, first=True))
    return {"ok": True, "resolved": told}


def _pending(state: RunState, loop_id: str | None) -> PendingApproval:
    """What is meant: the question of that loop, or the only one there is."""
    meant = [each for each in state.asked if loop_id in (None, each.get("loopId"))]
    if not meant:
        raise nothing_asked(state, loop_id)
    if len(meant) > 1:
        listed = ", ".join(f"`{each.get('loopId')}`" for each in meant)
        raise Refused(
            "bad_argument", f"Run {state.run_id} has several pending approvals: {listed}.", "Choose one with `loopId`."
        )
    return meant[0]


def nothing_asked(state: RunState, loop_id: str | None) -> Refused:
    about = f" for `{loop_id}`" if loop_id else ""
    told = f"Run {state.run_id} is not waiting for approval{about}: it is {state.status}."
    if (first := first_answer(state, loop_id)) is not None:
        return Refused("wrong_status", f"{told} {told_by(first)}")
    return Refused("wrong_status", told, "It may already have been answered.")


def first_answer(state: RunState, question: str | None = None) -> GivenAnswer | None:
    """The answer that somebody gave to a question, else the last that anybody gave."""
    named = [one for one in state.answers if question and one.get("question") == question]
    return named[0] if named else state.answers[-1] if state.answers else None
