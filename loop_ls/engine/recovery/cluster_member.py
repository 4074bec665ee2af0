"""An engine among others on one journal: it shows all runs, brings those to their end that it took from the
queue, and lets go of them when it is told that it lost them.

Control travels as facts: whoever asks journals them, and the owner of the run obeys when it hears of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import assert_never

from loop_ls.engine.core.ports import Fact
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.core.run_owner import Crew, Taken
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.journal import Journal, JournalRefused
from loop_ls.engine.runs.control_commands import Verb, do
from loop_ls.engine.runs.registry import LiveRun, Runs

#: Runs that one process takes at most. A run that waits holds a place, so there are many.
MOST = 200
#: Seconds until a run that was taken is read again, where the database is away.
AGAIN = 0.5
#: fact -> what the owner of the run does about it.
OBEYED: dict[str, Verb] = {"paused": "pause", "resumed": "resume", "stopping": "stop"}


class Sharing:
    """`begin` lets a run of ours run, `back` says what is told of one that somebody had before, `leave` ends
    the process; `most` bounds how many are ours."""

    def __init__(
        self,
        journal: Journal,
        runs: Runs,
        crew: Crew,
        begin: Callable[[LiveRun], None],
        back: Callable[[LiveRun, list[str]], Awaitable[list[Fact]]],
        leave: Callable[[str], None],
        most: int = MOST,
    ) -> None:
        self._journal, self._runs, self._crew, self._begin = journal, runs, crew, begin
        self._back, self._leave, self._most = back, leave, most
        self._loop = asyncio.get_running_loop()
        self._taking, self._leaving = 0, False
        self._tasks: set[asyncio.Task[None]] = set()
        journal.listeners.append(self._obey)

    async def open(self) -> None:
        await self._runs.load_all()
        await self._journal.read(self._crew.open, self)

    async def leave(self) -> None:
        """Take up nothing more."""
        self._leaving = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """After the journal wrote its last: what is unfinished goes on elsewhere at once."""
        await asyncio.to_thread(self._crew.close)

    # -- what the crew says, in its thread -----------------------------------------------------------

    def taken(self, found: list[Taken]) -> None:
        self._taking += len(found)
        self._loop.call_soon_threadsafe(self._take, found)

    def lost(self) -> None:
        self._loop.call_soon_threadsafe(self._let_go)

    def facts(self, position: int | None) -> None:
        self._journal.catch_up(position)

    def free(self, gate: str) -> None:
        self._loop.call_soon_threadsafe(self._crew.freed, gate)

    def outdated(self, refused: JournalRefused) -> None:
        self._loop.call_soon_threadsafe(self._leave, f"{refused.message} {refused.hint}")

    def room(self) -> int:
        return 0 if self._leaving else self._most - self.load()

    def load(self) -> int:
        return self._taking + sum(run.mine for run in self._runs)

    # -- on the loop -----------------------------------------------------------------------------------

    def _take(self, found: list[Taken]) -> None:
        if self._leaving:
            return  # given back in a moment
        task = self._loop.create_task(self._take_up(found))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take_up(self, found: list[Taken]) -> None:
        for taken in found:
            try:
                while not await self._one(taken):  # noqa: ASYNC110 - a database tells nobody that it is back
                    await asyncio.sleep(AGAIN)
            finally:
                self._taking -= 1

    async def _one(self, taken: Taken) -> bool:
        """False: the database is away."""
        run_id = taken.run_id
        try:
            state, answered, begun = await self._journal.read(self._read, run_id)
        except JournalRefused as refused:
            return refused.code == "closed"
        known = self._runs.live.get(run_id)
        if known is not None and known.state.last_seq > state.last_seq:
            state = known.state
        if state.ended:
            self._runs.live.pop(run_id, None)
            self._runs.keep(state)
            return True
        control = Control(state.status == "paused", state.status == "stopping", state.active)
        run = self._runs.live[run_id] = LiveRun(run_id, state, control, answered)
        if taken.again:
            begun = [key for key in begun if not key.endswith((":approval", ":asked"))]
            facts = await self._back(run, begun)
            self._journal.append(run_id, facts=facts, owned=self._journal.storage.member)
        self._begin(run)
        return True

    def _read(self, run_id: str) -> tuple[RunState, set[str], list[str]]:
        """In the reader's thread. What was heard of the run while others had it need not be read again: of a
        worker that died there are many at once, and they shall all go on soon."""
        answered, begun = self._journal.load_answers(run_id)
        known = self._runs.live.get(run_id)
        return self._runs.folded(run_id, known.state if known else RunState()), answered, begun

    def _let_go(self) -> None:
        """The lease is over: others have the runs by now, and nothing of ours is written any more."""
        for run in self._runs:
            if run.mine:
                run.mine, run.control.leaving = False, True
                self._journal.let_go(run.run_id)
                if run.task is not None:
                    run.task.cancel()
                    run.task = None

    def _obey(self, events: list[Event]) -> None:
        for event in events:
            run = self._runs.live.get(event.run_id)
            if run is not None and run.mine and (verb := OBEYED.get(event.kind)) and not _done(verb, run.control):
                do(verb, run)


def _done(verb: Verb, control: Control) -> bool:
    """Whether it was this engine that was asked, and obeyed at once."""
    match verb:
        case "pause":
            return control.paused
        case "resume":
            return not control.paused
        case "stop":
            return control.stopping
        case never:
            assert_never(never)
