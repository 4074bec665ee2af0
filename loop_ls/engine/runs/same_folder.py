"""Runs that go on in one folder and may change any file there: who starts another one beside them is told first."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import BESIDE, FILTERS, Plan, read_plan
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.start_request import around
from loop_ls.engine.journal import Journal, JournalRefused
from loop_ls.engine.runs.registry import LiveRun, Runs
from loop_ls.text.json_value import Json, JsonObject


async def writing_in(root: str, runs: Runs, journal: Journal) -> tuple[JsonObject, ...]:
    """Those that work in `root`, in a folder of it or around it, `{runId, name}`."""
    going = [run for run in runs if not (run.state.mock or run.control.stopping or run.state.status == "stopping")]
    near = [run for run in going if run.state.writes is not False and _overlap(run.state.root, root)]
    writing = [run for run in near if run.state.writes or await _looked_up(run, journal)]
    return tuple({"runId": run.run_id, "name": run.state.name} for run in writing)


def may_write(plan: Plan, environ: Mapping[str, str]) -> bool:
    """Whether a plan lets its run change any file of its folder. One that cannot be read does nothing."""
    from loop_ls.engine.capabilities.derive import capabilities_of  # half of the engine

    try:
        found = capabilities_of(plan, environ)
    except (Refused, Failure, LookupError):
        return False
    return found.works and not found.isolated  # in a worktree of its own it writes nothing of theirs


def begun_here(plan: Mapping[str, Json], others: Sequence[JsonObject], filters: Sequence[str]) -> JsonObject:
    """The plan of a run that begins beside these, and with these filters, not with those that its record names."""
    return {
        **{name: value for name, value in plan.items() if name not in (BESIDE, FILTERS)},
        **around(others, filters),
    }


async def _looked_up(run: LiveRun, journal: Journal) -> bool:
    """Of a run that an older version started: asked once for each, as a thousand may wait, and each start asks."""
    try:
        first = (await journal.facts(run.run_id, 0, 1)).events[0]
        plan: Plan = await journal.read(read_plan, run.run_id, first.body, journal.text)
        writes = await asyncio.to_thread(may_write, plan, os.environ)
    except JournalRefused:
        return False  # it may be readable again when the next one asks
    except (Refused, Failure, LookupError):
        writes = False
    run.state = run.state._replace(writes=writes)
    return writes


def _overlap(one: str, other: str) -> bool:
    if not one or not other:
        return False
    if one == other:
        return True
    first, second = Path(os.path.realpath(one)), Path(os.path.realpath(other))
    return first.is_relative_to(second) or second.is_relative_to(first)
