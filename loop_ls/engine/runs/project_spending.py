"""What all runs of a project have spent, today and in all, for caps that hold across runs.

One account for each project. An engine alone reads it from the record once, when a run with such a cap begins, and
follows the journal from then on; engines that share a database have it there (`money.shared_ledger`). What is in no
record any more or never was, deleted runs and trials of conditions, an engine alone keeps beside it; engines that share
a database have the deleted runs in their accounts, and know of no trials.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.journal import Journal, JournalRefused
from loop_ls.engine.money.accounts import Day, DayLedger, today
from loop_ls.engine.money.caps import Caps
from loop_ls.engine.money.ledger import Cost, Ledger, cost_of
from loop_ls.engine.money.shared_ledger import Account, SharedAccounts, SharedLedger
from loop_ls.engine.runs.registry import LiveRun, Runs
from loop_ls.engine.runs.unrecorded_spending import UnrecordedSpending
from loop_ls.text.json_value import JsonObject

MOST = 1_000_000


class _Project(NamedTuple):
    day: DayLedger
    whole: Ledger


class ProjectSpending:
    """`hear` is called with every batch of facts."""

    def __init__(
        self, journal: Journal, runs: Runs, clock: Callable[[], float], unrecorded: UnrecordedSpending
    ) -> None:
        self._journal, self._runs, self._clock, self._unrecorded = journal, runs, clock, unrecorded
        self._projects: dict[str, _Project] = {}
        self._reading = asyncio.Lock()
        self.accounts: SharedAccounts | None = None  # of engines that share a database
        self._shared: dict[str, tuple[SharedLedger, ...]] = {}  # by our runs
        journal.listeners.append(self.hear)

    async def ledgers(self, run: LiveRun, limits: object) -> Sequence[Ledger]:
        """The shared accounts of a run, under the caps that its settings say. Raises `Failure` where nobody knows
        what is spent."""
        day, whole = Caps.over(limits, "perDay"), Caps.over(limits, "perProject")
        root = run.state.root
        if self.accounts is not None:
            spans = ((True, day), (False, whole))
            ledgers = [
                SharedLedger(self.accounts, Account(root, daily, run.run_id, run.claim), caps)
                for daily, caps in spans
                if caps != Caps()
            ]
            self._shared[run.run_id] = tuple(ledgers)
            return ledgers
        try:
            return await self._own(root, day, whole)
        except JournalRefused as refused:
            raise Failure(refused.code, refused.message, refused.hint) from None

    async def of_trial(self, root: str, limits: object) -> Sequence[Ledger]:
        """The accounts of its project that a trial of a condition draws on. Raises `JournalRefused` where what it
        costs could not be kept."""
        if self.accounts is not None:
            return ()
        self._unrecorded.require_whole()
        return await self._own(root, Caps.over(limits, "perDay"), Caps.over(limits, "perProject"))

    def tried(self, root: str, call: JsonObject) -> None:
        """A trial was paid for: `call` is what a run would have recorded of it."""
        if self.accounts is not None:
            return
        self._unrecorded.add(root, today(self._clock()), cost_of(call))
        for ledger in self._projects.get(root, ()):
            ledger.count([("call", call)])

    async def _own(self, root: str, day: Caps, whole: Caps) -> Sequence[Ledger]:
        async with self._reading:
            if root not in self._projects and (day != Caps() or whole != Caps()):
                self._projects[root] = await self._read(root)
        project = self._projects.get(root)
        if project is None:
            return ()
        # Settings change, and a fork has those of its run: nobody loosens the caps of the runs beside it.
        return project.day.under(day), project.whole.under(whole)

    def hear(self, events: Sequence[Event]) -> None:
        if not self._projects and not self._shared:
            return
        for event in events:
            if event.kind == "call" and (run := self._runs.live.get(event.run_id)) is not None:
                ledgers = self._projects.get(run.state.root) or self._shared.get(event.run_id, ())
                for ledger in ledgers:
                    ledger.count([(event.kind, event.body)])

    async def without(self, runs: Sequence[RunState], forget: Callable[[], Awaitable[None]]) -> None:
        """`forget` removes these runs from the record: what they have cost stays spent. Raises `JournalRefused`."""
        paid = [state for state in runs if _counts(state, state.root) and _spent(state) != Cost()]
        if self.accounts is not None or not paid:
            await forget()
            return
        async with self._reading:  # nobody counts them twice, in the record and beside it
            day = today(self._clock())
            spent = [(state.root, await self._on_day(state, day), _spent(state)) for state in paid]
            self._keep(day, spent)
            try:
                await forget()
            except JournalRefused:  # it is in the record still
                self._keep(day, [(root, last.taken_back(), whole.taken_back()) for root, last, whole in spent])
                raise

    def _keep(self, day: Day, spent: Sequence[tuple[str, Cost, Cost]]) -> None:
        """Raises `JournalRefused`."""
        try:
            self._unrecorded.add_all(day, spent)
        except OSError as error:
            told = f"The cost of deleted runs cannot be saved in the data folder: {error}."
            raise JournalRefused("io", told, "They are deleted as soon as it can be saved.") from None

    def gone(self, run_id: str) -> None:
        """A run does not go on here."""
        self._shared.pop(run_id, None)

    async def _read(self, root: str) -> _Project:
        since = today(self._clock())
        day, whole = self._unrecorded.of(root, since)
        states = [each for each in await self._runs.newest(None, None, MOST) if _counts(each, root)]
        for state in states:
            live = self._runs.live.get(state.run_id)
            found = live.state if live is not None else state
            cost = _spent(found)
            whole = whole.plus(cost)
            day = day.plus(await self._on_day(found, since))
        ledgers = DayLedger(Caps(), day, self._clock, "perDay."), Ledger(Caps(), whole, "perProject.")
        return _Project(*ledgers)

    async def _on_day(self, state: RunState, day: tuple[int, int, int]) -> Cost:
        """What a run has spent on that day, the last one so far."""
        if state.last_at is None or today(state.last_at) != day:
            return Cost()
        begun = state.started_at is not None and today(state.started_at) == day
        return _spent(state) if begun else await self._of_day(state.run_id, day)

    async def _of_day(self, run_id: str, day: tuple[int, int, int]) -> Cost:
        """Of a run that began before: what its facts of the day say."""
        found, after = Cost(), 0
        while True:
            page = await self._journal.facts(run_id, after, 1000)
            for event in page.events:
                after = event.seq
                if event.kind == "call" and today(event.at) == day:
                    found = found.plus(cost_of(event.body))
            if not page.more or not page.events:
                return found


def _counts(state: RunState, root: str) -> bool:
    return state.root == root and not state.mock and not state.imported


def _spent(state: RunState) -> Cost:
    return Cost(state.cost_usd or 0.0, state.input_tokens + state.output_tokens)
