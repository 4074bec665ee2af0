"""What all runs of a project have spent, today and in all, for caps that hold across runs.

One account for each project. An engine alone reads it from the record once, when a run with such a cap begins, and
follows the journal from then on; engines that share a database have it there (`money.shared_ledger`). What is in no
record any more or never was, deleted runs and trials of conditions, an engine alone keeps beside it; engines that share
a database have the deleted runs in their accounts, and know of no trials.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.journal import Journal, JournalRefused
from loop_ls.engine.money.accounts import Day, DayLedger, today
from loop_ls.engine.money.caps import Caps
from loop_ls.engine.money.ledger import Cost, Ledger, cost_of, total
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
        project = run.state.account
        if self.accounts is not None:
            spans = ((True, day), (False, whole))
            ledgers = [
                SharedLedger(self.accounts, Account(project, daily, run.run_id, run.claim), caps)
                for daily, caps in spans
                if caps != Caps()
            ]
            self._shared[run.run_id] = tuple(ledgers)
            return ledgers
        try:
            return await self._own(project, day, whole)
        except JournalRefused as refused:
            raise Failure(refused.code, refused.message, refused.hint) from None

    async def of_trial(self, project: str, limits: object) -> Sequence[Ledger]:
        """The accounts of its project that a trial of a condition draws on. Raises `JournalRefused` where what it
        costs could not be kept."""
        if self.accounts is not None:
            return ()
        self._unrecorded.require_whole()
        return await self._own(project, Caps.over(limits, "perDay"), Caps.over(limits, "perProject"))

    def tried(self, project: str, call: JsonObject) -> None:
        """A trial was paid for: `call` is what a run would have recorded of it."""
        if self.accounts is not None:
            return
        self._unrecorded.add(project, {today(self._clock()): cost_of(call)})
        for ledger in self._projects.get(project, ()):
            ledger.count([("call", call)])

    async def _own(self, project: str, day: Caps, whole: Caps) -> Sequence[Ledger]:
        async with self._reading:
            if project not in self._projects and (day != Caps() or whole != Caps()):
                self._projects[project] = await self._read(project)
        known = self._projects.get(project)
        if known is None:
            return ()
        # Settings change, and a fork has those of its run: nobody loosens the caps of the runs beside it.
        return known.day.under(day), known.whole.under(whole)

    def hear(self, events: Sequence[Event]) -> None:
        if not self._projects and not self._shared:
            return
        for event in events:
            if event.kind == "call" and (run := self._runs.live.get(event.run_id)) is not None:
                ledgers = self._projects.get(run.state.account) or self._shared.get(event.run_id, ())
                for ledger in ledgers:
                    ledger.count([(event.kind, event.body)])

    async def without(self, runs: Sequence[RunState], forget: Callable[[], Awaitable[None]]) -> None:
        """`forget` removes these runs from the record: what they have cost stays spent. Raises `JournalRefused`."""
        paid = [state for state in runs if _counts(state, state.account) and _spent(state) != Cost()]
        if self.accounts is not None or not paid:
            await forget()
            return
        async with self._reading:  # nobody counts them twice, in the record and beside it
            since = today(self._clock())
            spent = [(state.account, await self._by_day(state, since)) for state in paid]
            self._keep(spent)
            try:
                await forget()
            except JournalRefused:  # it is in the record still
                self._keep(
                    [(project, {day: cost.taken_back() for day, cost in days.items()}) for project, days in spent]
                )
                raise

    def _keep(self, spent: Sequence[tuple[str, Mapping[Day, Cost]]]) -> None:
        """Raises `JournalRefused`."""
        try:
            self._unrecorded.add_all(spent)
        except OSError as error:
            told = f"The cost of deleted runs cannot be saved in the data folder: {error}."
            raise JournalRefused("io", told, "They are deleted as soon as it can be saved.") from None

    def gone(self, run_id: str) -> None:
        """A run does not go on here."""
        self._shared.pop(run_id, None)

    async def _read(self, project: str) -> _Project:
        since, days = today(self._clock()), self._unrecorded.of(project)
        whole = total(days.values())
        for state in [each for each in await self._runs.newest(None, None, MOST) if _counts(each, project)]:
            live = self._runs.live.get(state.run_id)
            found = live.state if live is not None else state
            whole = whole.plus(_spent(found))
            days = _together(days, await self._by_day(found, since))
        ledgers = DayLedger(Caps(), days, self._clock, "perDay."), Ledger(Caps(), whole, "perProject.")
        return _Project(*ledgers)

    async def _by_day(self, state: RunState, since: Day) -> Mapping[Day, Cost]:
        """What a run has spent, by the days that its facts say; one that was over before `since` in one sum."""
        if state.started_at is None or state.last_at is None:
            return {}
        begun, last = today(state.started_at), today(state.last_at)
        if begun == last or max(begun, last) < since:
            return {last: _spent(state)}
        found: dict[Day, Cost] = {}
        after, more = 0, True
        while more:
            page = await self._journal.facts(state.run_id, after, 1000)
            more = page.more and bool(page.events)
            for event in page.events:
                after = event.seq
                if event.kind == "call":
                    found = _together(found, {today(event.at): cost_of(event.body)})
        return found


def _together(one: Mapping[Day, Cost], other: Mapping[Day, Cost]) -> dict[Day, Cost]:
    return {**one, **{day: one.get(day, Cost()).plus(cost) for day, cost in other.items()}}


def _counts(state: RunState, project: str) -> bool:
    return state.account == project and not state.mock and not state.imported


def _spent(state: RunState) -> Cost:
    return Cost(state.cost_usd or 0.0, state.input_tokens + state.output_tokens)
