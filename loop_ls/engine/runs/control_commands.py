"""Pause, resume, stop: recorded first, obeyed at once, and right however often they are said."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal, assert_never, cast, get_args

from loop_ls.contract.answers import Controlled, RunStatus
from loop_ls.contract.endings import POSSIBLE, Verb
from loop_ls.contract.facts.kinds import Paused, Resumed, Stopping
from loop_ls.contract.facts.payload import Fact
from loop_ls.contract.questions import told_by
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.events import RunState
from loop_ls.engine.journal import Journal, JournalRefused
from loop_ls.engine.runs.answerer import said_by
from loop_ls.engine.runs.registry import LiveRun, Runs
from loop_ls.formats.registry import ROLE_LOOP

#: How long a stopped run may take to write its end before it is ended from outside.
PATIENCE = 2.0
Cause = Literal["user", "teardown", "shutdown"]

#: verb -> states in which it has nothing to do, which is no error.
ALREADY: dict[Verb, frozenset[str]] = {
    "pause": frozenset({"paused"}),
    "resume": frozenset({"running", "queued", "waiting_approval"}),
    "stop": frozenset({"stopping", "cancelled"}),
}


async def obey(verb: str, run_id: str, runs: Runs, journal: Journal, cause: str = "user") -> Controlled:
    """-> `{ok, runs: [{runId, status}]}`. Raises `Refused`."""
    if verb not in get_args(Verb):
        raise Refused("bad_argument", f"Unknown action `{verb}`; expected `pause`, `resume` or `stop`.")
    asked, why = cast(Verb, verb), cast(Cause, cause if cause in get_args(Cause) else "user")
    if isinstance(run_id, str) and run_id.lower() == "all":
        await journal.hear_others()
        meant = [_unless_late(asked, each, journal, why) for each in runs if each.state.status in POSSIBLE[asked]]
        told = await asyncio.gather(*meant)  # together they wait for the disk once
        return {"ok": True, "runs": [_shown(state) for state in told if state is not None]}
    found = await runs.find(run_id)
    run = runs.live.get(found)
    if run is None:
        state = await runs.state(found)
        _check(asked, state)
        return {"ok": True, "runs": [_shown(state, late=True)]}
    late = run.state.status in ALREADY[asked]
    return {"ok": True, "runs": [_shown(await _one(asked, run, journal, why), late)]}


async def _unless_late(verb: Verb, run: LiveRun, journal: Journal, cause: Cause) -> RunState | None:
    """None: it ended by itself, or somebody else was faster; of all runs that is no refusal."""
    with suppress(Refused):
        return await _one(verb, run, journal, cause)
    return None


async def _one(verb: Verb, run: LiveRun, journal: Journal, cause: Cause) -> RunState:
    question = run.state.question
    if verb == "resume" and run.state.status == "paused" and question and question["kind"] == "loop_paused":
        from loop_ls.engine.enhance.acknowledgements import choose  # no start waits for what few runs need

        await choose(run, journal, {"choice": "continue"})  # it waits between rounds: that is what goes on
        return run.state
    async with run.asked:
        if _check(verb, run.state):
            try:
                await journal.append(run.run_id, facts=[_fact(verb, cause)], ongoing=True)
                if run.state.ended:  # in this moment: nothing was written behind its last fact
                    _check(verb, run.state)
                    return run.state
            except JournalRefused:
                if verb != "stop":
                    raise
                # A stop is obeyed even when it cannot be written down.
            do(verb, run)
        return run.state


def _check(verb: Verb, state: RunState) -> bool:
    """Whether there is something to do. Raises `Refused` where the verb makes no sense."""
    if state.status in POSSIBLE[verb]:
        return True
    # Role loops are controlled by the words of their document: twice is a mistake there.
    if state.status in ALREADY[verb] and (state.format != ROLE_LOOP or state.status == "stopping"):
        return False
    told = f"Run {state.run_id} is {state.status}: nothing to {verb}."
    raise Refused("wrong_status", f"{told} {told_by(state.answers[-1])}" if state.answers else told)


def _fact(verb: Verb, cause: Cause) -> Fact:
    match verb:
        case "pause":
            return Paused(**said_by()).fact()
        case "resume":
            return Resumed(**said_by()).fact()
        case "stop":
            return Stopping(cause=cause, **said_by()).fact()
        case never:
            assert_never(never)


def do(verb: Verb, run: LiveRun) -> None:
    match verb:
        case "pause":
            run.control.pause()
        case "resume":
            run.control.resume()
        case "stop":
            run.control.stop()
            asyncio.get_running_loop().call_later(PATIENCE, _force, run)
        case never:
            assert_never(never)


def _force(run: LiveRun) -> None:
    """For a part that waits on something else than a recorded call: it does not hear of a stop."""
    if run.task is not None and not run.state.ended:
        run.task.cancel()


def _shown(state: RunState, late: bool = False) -> RunStatus:
    """`late`: somebody else has done it before, and whoever asks is told who."""
    found: RunStatus = {"runId": state.run_id, "status": state.status}
    return {**found, "told": told_by(state.answers[-1])} if late and state.answers else found
