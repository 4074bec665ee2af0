"""An engine among others on one journal: it shows all runs, brings those to their end that it took from the
queue, and lets go of them when it is told that they are somebody else's.

Control travels as facts: whoever asks journals them, and the owner of the run obeys when it hears of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, assert_never

from loop_ls.contract.endings import Verb
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.journal import Journal, JournalRefused
from loop_ls.engine.money.shared_ledger import SharedAccounts
from loop_ls.engine.recovery.crash_recovery import waits
from loop_ls.engine.runs.control_commands import do
from loop_ls.engine.runs.registry import LiveRun, Runs, control_of

#: Seconds until a run that was taken is read again, where the database is away.
AGAIN = 0.5
#: fact -> what the owner of the run does about it.
OBEYED: dict[str, Verb] = {"paused": "pause", "resumed": "resume", "stopping": "stop"}


class Workers(Protocol):
    """The processes that share a database, as one of them sees it (`engine.durable.workers`)."""

    @property
    def accounts(self) -> SharedAccounts: ...

    async def open(self, member: ClusterMember) -> None: ...
    def claim(self, run_id: str) -> tuple[str, bool] | None: ...
    def drain(self) -> None: ...
    def close(self) -> None: ...


class ClusterMember:
    """`begin` lets a run of ours run, `back` says what is told of one that somebody had before, `leave` ends
    the process."""

    def __init__(
        self,
        journal: Journal,
        runs: Runs,
        workers: Workers,
        begin: Callable[[LiveRun], None],
        back: Callable[[LiveRun, list[str]], Awaitable[list[Fact]]],
        leave: Callable[[str], None],
    ) -> None:
        self._journal, self._runs, self._workers = journal, runs, workers
        self._begin, self._back, self._leave = begin, back, leave
        self._loop = asyncio.get_running_loop()
        self._leaving = False
        journal.listeners.append(self._obey)

    async def open(self) -> None:
        await self._runs.load_all()
        await self._workers.open(self)

    def leave(self) -> None:
        """Take up nothing more."""
        self._leaving = True
        self._workers.drain()

    async def close(self) -> None:
        """After the journal wrote its last: what is unfinished goes on elsewhere at once."""
        with ThreadPoolExecutor(1, "leaving") as thread:  # the loop's own threads end with DBOS
            await self._loop.run_in_executor(thread, self._workers.close)
        self._loop.set_default_executor(ThreadPoolExecutor())

    @property
    def load(self) -> int:
        """How many runs are ours."""
        return sum(run.mine for run in self._runs)

    @property
    def waiting(self) -> int:
        """How many of those wait for a person. From any thread."""
        return sum(run.mine and waits(run) for run in list(self._runs.live.values()))

    # -- what is ours -----------------------------------------------------------------------------------

    async def bring(self, run_id: str) -> None:
        """Bring a run that was taken off the queue to its end. `CancelledError`: it is unfinished, and goes on
        elsewhere or later."""
        known = self._runs.live.get(run_id)
        if known is not None and known.task is not None:  # taken from us and come back before we heard of it
            self._let_go(known)
            await asyncio.wait({known.task})
        run = await self._taken(run_id)
        if run is None:
            return
        self._begin(run)
        assert run.task is not None
        await asyncio.wait({run.task})
        if run.control.leaving or not run.mine:
            raise asyncio.CancelledError

    async def _taken(self, run_id: str) -> LiveRun | None:
        """The run as the journal has it; None: it has ended. Waits for a database that is away."""
        while not self._leaving:
            try:
                claim, state, answered, begun = await self._journal.read(self._read, run_id)
            except JournalRefused as refused:
                if refused.code != "unreachable":
                    raise asyncio.CancelledError from refused
                await asyncio.sleep(AGAIN)
                continue
            if claim is None:
                break  # somebody else's by now
            if state.ended:
                self._runs.live.pop(run_id, None)
                self._runs.ended(state)
                return None
            run = self._runs.live[run_id] = LiveRun(run_id, state, control_of(state), answered, claim=claim[0])
            if claim[1]:
                begun = [key for key in begun if not key.endswith((":approval", ":asked"))]
                self._journal.append(run_id, facts=await self._back(run, begun), owned=run.claim)
            return run
        raise asyncio.CancelledError

    def _read(self, run_id: str) -> tuple[tuple[str, bool] | None, RunState, set[str], list[str]]:
        """In the reader's thread. The claim first: nobody else writes after it. What was heard of the run while
        others had it need not be read again: of a worker that died there are many at once."""
        claim = self._workers.claim(run_id)
        known = self._runs.live.get(run_id)
        state, answered, begun = self._runs.taken_up(run_id, known.state if known else RunState())
        return claim, state, answered, begun

    def _let_go(self, run: LiveRun) -> None:
        """Others have it by now, and nothing of ours is written any more."""
        run.mine, run.control.leaving = False, True
        self._journal.let_go(run.run_id)
        if run.task is not None:
            run.task.cancel()

    # -- what the heartbeat says, in its thread ---------------------------------------------------------

    def facts(self, position: int) -> None:
        """There are facts up to there."""
        self._journal.catch_up(position)

    @property
    def claims(self) -> set[tuple[str, str]]:
        """Run and claim of all that are ours. From any thread."""
        return {(run.run_id, run.claim) for run in list(self._runs.live.values()) if run.mine and run.claim}

    def lost(self, claims: set[tuple[str, str]]) -> None:
        """We gave no sign of life for too long: these are somebody else's by now."""
        self._loop.call_soon_threadsafe(self._lose, claims)

    def _lose(self, claims: set[tuple[str, str]]) -> None:
        for run_id, claim in claims:
            run = self._runs.live.get(run_id)
            if run is not None and run.mine and run.claim == claim:
                self._let_go(run)

    def outdated(self, refused: JournalRefused) -> None:
        """A newer version has brought the journal to a format that this one cannot write."""
        self._loop.call_soon_threadsafe(self._leave, f"{refused.message} {refused.hint}")

    # -- what people say --------------------------------------------------------------------------------

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
