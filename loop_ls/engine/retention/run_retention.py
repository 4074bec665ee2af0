"""How long runs that have ended are kept: so many of them, or so many days; what goes on is never touched.

A run whose answers another one takes while it goes on is kept until that one has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.events import RunState
from loop_ls.engine.journal import Journal, JournalRefused
from loop_ls.engine.runs.registry import Runs

DAY = 86_400.0
#: Seconds between two looks; the first comes soon after the engine has opened.
LOOK_AGAIN, FIRST_LOOK = 600.0, 5.0
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """None: for ever. `runs` counts those that have ended, the newest first."""

    runs: int | None = None
    days: float | None = None


class RunRetention:
    """Forgets runs of one journal by the rule of `keep`."""

    def __init__(
        self,
        journal: Journal,
        runs: Runs,
        keep: RetentionPolicy,
        clock: Callable[[], float],
        without: Callable[[Sequence[RunState], Callable[[], Awaitable[None]]], Awaitable[None]],
    ) -> None:
        """`without` keeps what runs have cost while it forgets them."""
        self._journal, self._runs, self._keep, self._clock, self._without = journal, runs, keep, clock, without
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        if self._keep != RetentionPolicy():
            self._task = asyncio.create_task(self._now_and_then())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _now_and_then(self) -> None:
        await asyncio.sleep(FIRST_LOOK)
        while True:
            with suppress(JournalRefused):
                await self.tidy()
            await asyncio.sleep(LOOK_AGAIN)

    async def tidy(self) -> list[str]:
        """Forget what is too old or one too many: the ids."""
        ended = await self._ended()
        gone = set() if self._keep.runs is None else {state.run_id for state in ended[self._keep.runs :]}
        if self._keep.days is not None:
            oldest = self._clock() - self._keep.days * DAY
            gone |= {state.run_id for state in ended if (state.ended_at or 0.0) < oldest}
        return await self._forget([state for state in ended if state.run_id in gone])

    async def forget_all(self, whose: Callable[[str | None], bool] | None = None) -> list[str]:
        """Forget every run that has ended, of users of whom `whose` says yes."""
        ended = await self._ended()
        return await self._forget([state for state in ended if whose is None or whose(state.user)])

    async def forget(self, run_id: str) -> None:
        """Raises `JournalRefused`, and `Refused` for a run whose answers another one takes right now."""
        self._require_unused(run_id)
        await self._forget([await self._runs.state(run_id)])

    def _require_unused(self, run_id: str) -> None:
        user = next((run.run_id for run in self._runs if _source(run.state) == run_id), None)
        if user is not None:
            told = f"Run {user} uses answers of run {run_id}, which can be deleted after {user} has ended."
            raise Refused("wrong_status", told, "Stop it first.")

    async def _ended(self) -> list[RunState]:
        """Newest first."""
        return [state for state in await self._runs.newest(None, None, MOST) if state.ended]

    async def _forget(self, ended: list[RunState]) -> list[str]:
        used = {_source(run.state) for run in self._runs}
        gone = [state for state in ended if state.run_id not in used and state.run_id not in self._runs.live]
        for state in gone:
            await self._without([state], partial(self._remove, state.run_id))
        return [state.run_id for state in gone]

    async def _remove(self, run_id: str) -> None:
        await self._journal.forget(run_id)


def _source(state: RunState) -> str | None:
    return state.source.get("runId") if state.source else None
