"""A run that works in a worktree of its own: made before its first turn, committed after each iteration and at its end.

All of it is recorded, so that a run which goes on after a crash works in the same worktree, and a commit that was made
in the moment of the crash is not made twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from loop_ls.contract.facts.kinds import Warned, WorktreeCommitted, WorktreeMade
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.plan import Plan, filters_in
from loop_ls.engine.core.ports import Failure, Recorder
from loop_ls.engine.runs.isolation.changes import changed_files
from loop_ls.engine.runs.isolation.git import for_people
from loop_ls.engine.runs.isolation.worktree import Made, Worktree, branch_of, of_repository
from loop_ls.formats.common.isolate import ISOLATE

#: What stands in the keys of what is recorded here. The run is part of it: a fork takes none of it over.
MARK = ":worktree-"

logger = logging.getLogger(__name__)


class _Committed(TypedDict, total=False):
    """What is recorded of a commit. `problem`: why not all is in it, or why there is none."""

    commit: str
    problem: str


class Isolation:
    """Of one run. `data` is the engine's data folder. `earlier`: where the run began that this one goes on from, and
    the commit that it goes on from; None: it begins at the user's last commit."""

    def __init__(self, plan: Plan, data: Path, earlier: tuple[str, str] | None = None) -> None:
        self._plan, self._earlier = plan, earlier
        self._begins_at = "" if earlier is None else earlier[1]  # where nothing is new, nothing was done here
        self._worktree = Worktree.of(plan.root, data, plan.run_id, branch_of(plan.name, plan.run_id))
        self._made: Made | None = None
        self._lock = asyncio.Lock()

    async def begin(self, recorder: Recorder) -> Plan:
        """The plan as it is carried out there. Raises `Failure`."""

        def facts(made: Made) -> list[Fact]:
            fact = WorktreeMade(
                branch=made["branch"],
                folder=made["folder"],
                base=made["base"],
                left_out=made["left_out"] or None,
                left_out_total=made["left_out_total"] or None,
            ).fact()
            return [fact, *([Warned(code="worktree_without", message=_left_out(made)).fact()] * bool(made["left_out"]))]

        key = f"{MARK}made-{recorder.run_id}"
        made = await recorder.call(key, lambda: self._worktree.make(self._earlier), facts)
        await self._worktree.there(made["folder"])
        self._made = made
        return replace(self._plan, root=str(Path(made["folder"], made["inside"])), origin=self._plan.root)

    def of_repository(self) -> list[str]:
        """Files outside of the worktree that an agent reaches from there, and must not change unseen."""
        return [] if self._made is None else of_repository(Path(self._made["folder"]))

    async def iterated(self, recorder: Recorder, place: Place, loop: str, number: int, verdict: str | None) -> None:
        """An iteration is over: what it left is committed. A commit that fails is told, and the run goes on."""
        if self._made is None:
            return
        folder, told = self._made["folder"], "done" if verdict is None else verdict
        title = f"{loop} {number}: {told}\n\nIteration {number} of `{loop}` in run {recorder.run_id}: {told}"

        async def commit() -> _Committed:
            try:
                return {"commit": await self._worktree.commit(folder, title)}
            except Failure as failure:
                return {"commit": failure.place, "problem": failure.message}

        def facts(found: _Committed) -> list[Fact]:
            if problem := found.get("problem"):
                warned = [Warned(code="worktree_not_committed", message=problem).fact(place)]
            else:
                warned = []
            if (made := found.get("commit")) is None or made in ("", self._begins_at):
                return warned
            return [WorktreeCommitted(commit=made, iteration=number, loop=loop, verdict=verdict).fact(place), *warned]

        async with self._lock:
            await recorder.call(f"{place.key}{MARK}{number}-{recorder.run_id}", commit, facts)

    async def end(self, reason: str) -> list[Fact]:
        """The last facts of the run: what the last iteration did not finish is committed, too. Never raises a
        `Failure`."""
        if self._made is None:
            return []
        with for_people(self._plan.root, filters_in(self._plan.details)):
            return await self._saved(self._made, reason)

    async def _saved(self, made: Made, reason: str) -> list[Fact]:
        problem = None
        try:
            commit = await self._worktree.commit(made["folder"], f"At the end of run {self._plan.run_id}: {reason}")
        except Failure as failure:
            logger.warning("run %s: %s", self._plan.run_id, failure.message)
            commit, problem = failure.place, Warned(code="worktree_not_committed", message=failure.message).fact()
        facts = [] if problem is None else [problem]
        try:
            commit = commit or await self._worktree.tip() or made["base"]
            changed = len(await changed_files(self._plan.root, made["base"], commit))
        except Failure as failure:
            logger.warning("run %s: %s", self._plan.run_id, failure.message)
            return facts
        return [WorktreeCommitted(commit=commit, changed=changed).fact(), *facts]


def says_isolate(plan: Plan) -> bool:
    """Whether the word is there at all: then it is worth to work out what the run may do."""
    return ISOLATE in json.dumps(dict(plan.settings)) or ISOLATE in plan.texts.get(plan.path, "")


def _left_out(made: Made) -> str:
    total = made["left_out_total"]
    more = f", and {total - len(made['left_out'])} more" if total > len(made["left_out"]) else ""
    listed = ", ".join(f"`{path}`" for path in made["left_out"])
    return f"the worktree starts at the last commit, so it has no uncommitted changes ({listed}{more})"
