"""Which answers of a run a fork takes: everything before an iteration of one of its loops.

Reads facts, writes the first fact of the new run. Knows no surface.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.journal import Journal
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Cut:
    """The loop at `place`, from iteration `number` on."""

    place: str
    number: int


async def cut_of(journal: Journal, run_id: str, number: object, loop: object = None) -> Cut:
    """Raises `Refused` where the run has no such iteration, or not all before it are finished."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise Refused("bad_argument", "`iteration` is a whole number from 1.")
    begun, finished, depths = await _iterations(journal, run_id, loop)
    if not begun:
        told = f"Run {run_id} has no loop `{loop}`." if loop else f"Run {run_id} has no iterations to fork from."
        raise Refused("not_found", told, "Without `iteration` a fork goes on from all that was finished.")
    place = min(begun, key=lambda each: depths[each])  # the loop that is shown: the outermost, then the first
    have = finished.get(place, 0)
    if number > have + 1:
        told = f"Run {run_id} has finished {have} iterations of `{place}`: it can be forked from 1 to {have + 1}."
        raise Refused("bad_argument", told)
    return Cut(place, number)


async def _iterations(
    journal: Journal, run_id: str, loop: object
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """By the place of each loop: the last iteration that began, the last that finished, how deep it is."""
    begun: dict[str, int] = {}
    finished: dict[str, int] = {}
    depths: dict[str, int] = {}
    after = 0
    while True:
        page = await journal.facts(run_id, after, PAGE)
        for event in page.events:
            after = event.seq
            number, key = int_field(event.body, "iteration"), str(event.body.get("place", ""))
            if event.kind not in ("iteration_started", "iteration", "iteration_failed") or not number:
                continue
            place = key.rpartition("/")[0]
            if loop is not None and event.body.get("loop") != loop:
                continue
            depths[place] = (int_field(event.body, "depth") or 0) * 100 + place.count("/")
            begun[place] = max(begun.get(place, 0), number)
            if event.kind != "iteration_started":
                finished[place] = max(finished.get(place, 0), number)
        if not page.more:
            return begun, finished, depths


def forked(body: Mapping[str, Json], run_id: str, cut: Cut | None, given: Mapping[str, Json]) -> RunStarted:
    """The first fact of a run that goes on from another one, against the texts which that one has."""
    source: JsonObject = {"runId": run_id, "kind": "fork"}
    if cut is not None:
        source |= {"place": cut.place, "iteration": cut.number}
    started = RunStarted.model_validate({**body, "source": source})
    changed: JsonObject = {"attempt": started.attempt + 1}
    changed |= {name: given[name] for name in ("origin", "detach") if given.get(name)}
    return started.model_copy(update=changed)


def replay_argument(body: Mapping[str, Json], given: Mapping[str, Json]) -> JsonObject:
    """The start that a replay is: the recorded wishes against the files as they are now."""
    plan = as_object(body.get("plan"))
    recorded = {
        "root": body.get("root"),
        "path": body.get("path"),
        "target": body.get("target"),
        "input": body.get("input"),
        "goal": body.get("goal"),
        "message": body.get("message"),
        "parameters": body.get("parameters"),
        "maxIterations": plan.get("maxIterations"),
    }
    mine = {
        name: given[name]
        for name in ("root", "path", "uri", "texts", "settings", "origin", "detach")
        if given.get(name)
    }
    if "uri" in mine and "path" not in mine:
        recorded.pop("path")
    wanted = {name: value for name, value in (recorded | mine).items() if value is not None}
    return {**wanted, "mock": True}  # nobody is asked, so nobody has to be there
