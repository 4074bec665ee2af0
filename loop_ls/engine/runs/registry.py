"""All runs of a data folder: those that go on, in memory; those that ended, in the journal.

A live run's state is folded as its facts are committed, so questions are answered without reading.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.contract.facts.payload import Error
from loop_ls.contract.ids import SHORTEST
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import Approval
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.events import Event, RunState, Status
from loop_ls.engine.journal import Journal, JournalRefused, RunRow
from loop_ls.engine.protection.guard import MARK
from loop_ls.engine.runs.isolation.isolation import MARK as WORKTREE
from loop_ls.engine.runs.isolation.isolation import Isolation
from loop_ls.text.json_value import JsonObject

PAGE = 1000
DAMAGED = "damaged"
#: Why a run stands until a person lets it go on: it may have paid for calls that the journal does not have any more.
REPAIRED: Final = "journal_repaired"
#: Formats of which each target has one run at a time.
ONE_AT_A_TIME = frozenset({"assistant", "enhance"})
#: Facts that answer a question which a run has asked outside of the engine.
ANSWERS = frozenset({"edit_acknowledged", "edit_refused", "loop_continued"})


@dataclass(eq=False)
class LiveRun:
    """A run that has not ended. `asked` makes control one after the other. `mine`: this engine runs it,
    not another one on the same journal, and holds the `claim` that the journal asks for (empty on one machine)."""

    run_id: str
    state: RunState
    control: Control
    answered: set[str] = field(default_factory=set)
    asked: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: asyncio.Task[None] | None = None
    lost: JsonObject | None = None  # how it ended, when the journal could not take that
    mine: bool = True
    found_in: Status | None = None  # its status before the journal had no room for it
    claim: str = ""
    isolation: Isolation | None = None  # of one that works in a worktree of its own


def control_of(state: RunState) -> Control:
    """Of a run that is taken up, with all that people said to it before."""
    control = Control(state.status == "paused" or state.reason == REPAIRED, state.status == "stopping", state.active)
    control.changed, control.notes = state.changed or {}, tuple(state.notes)
    return control


class Runs:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.live: dict[str, LiveRun] = {}
        self.damaged: dict[str, RunState] = {}  # unfinished, and what is written of them is not what was
        journal.listeners.append(self._hear)
        journal.parked = self._park
        self.standing: Callable[[str, JournalRefused | None], None] = lambda run_id, why: None

    def _hear(self, events: list[Event]) -> None:
        for event in events:
            run = self.live.get(event.run_id)
            if run is None and event.kind == "run_started" and self._journal.storage.shared:
                run = self.live[event.run_id] = LiveRun(event.run_id, RunState(event.run_id), Control(), mine=False)
            if run is None or event.seq <= run.state.last_seq:
                continue
            run.state = run.state.after(event)
            if event.kind == "loop_updated":
                run.control.changed = run.state.changed or {}
            if event.kind == "note_added":
                run.control.notes += (str(event.body["text"]),)
            if event.kind == "note_given" and not run.mine:
                run.control.notes = run.state.notes
            if event.kind == "approval_resolved":
                run.control.decide(str(event.body["place"]), Approval.of_fact(event.body))
            elif event.kind in ANSWERS and "question" in event.body:
                run.control.decide(str(event.body["question"]), event.body["answer"])
            if run.state.ended:
                del self.live[event.run_id]
                self._journal.let_go(event.run_id)
                if run.mine:
                    self._journal.keep_snapshot(event.run_id, run.state._asdict())

    def _park(self, run_id: str, why: JournalRefused | None) -> None:
        """What a run has to write cannot be written now: it stands until it can. No fact says so."""
        run = self.live.get(run_id)
        if run is None or run.state.ended:
            return
        if why is not None:
            error: Error = {"code": why.code, "message": why.message, "hint": why.hint}
            run.found_in = run.state.status
            run.state = run.state._replace(status="interrupted", reason=why.code, error=error)
        elif run.found_in is not None:
            run.state = run.state._replace(status=run.found_in, reason=None, error=None)
            run.found_in = None
        self.standing(run_id, why)

    # -- coming back -------------------------------------------------------------------------------

    async def load(self) -> dict[str, list[str]]:
        """Take up the unfinished runs of the journal: their ids, with the calls that were in progress."""
        found = await self._journal.read(self._unfinished)
        for run_id, state, answered, _ in found:
            self.live[run_id] = LiveRun(run_id, state, control_of(state), answered)
        return {run_id: in_flight for run_id, _, _, in_flight in found}

    async def load_all(self) -> None:
        """Know the unfinished runs of all engines on this journal; none of them is ours yet."""
        for state in await self._journal.read(self._states):
            known = self.live.get(state.run_id)
            if not state.ended and (known is None or state.last_seq > known.state.last_seq):
                self.live[state.run_id] = LiveRun(state.run_id, state, Control(), mine=False)

    def _states(self) -> list[RunState]:
        return [self.folded(run_id) for run_id in self._journal.storage.unfinished()]

    def _unfinished(self) -> list[tuple[str, RunState, set[str], list[str]]]:
        found = []
        for run_id in self._journal.storage.unfinished():
            state, answered, begun = self.taken_up(run_id)
            if _is_damaged(state):
                self.damaged[run_id] = state
            elif state.ended:
                self.keep(state)
            elif state.last_seq:
                # A person who is asked is no call: nothing is paid twice when the question is asked again. Nor is a
                # look at protected files, or a commit.
                calls = [key for key in begun if MARK not in key and WORKTREE not in key]
                in_flight = [key for key in calls if not key.endswith((":approval", ":asked"))]
                found.append((run_id, state, answered, in_flight))
        return found

    def taken_up(self, run_id: str, known: RunState = RunState()) -> tuple[RunState, set[str], list[str]]:  # noqa: B008
        """What an unfinished run is now, from the state that is known on; its keys that have an answer, and those that
        only began. In a thread that may wait."""
        state = self.folded(run_id, known)
        try:
            return state, *self._journal.load_answers(run_id)
        except JournalRefused as refused:
            if refused.code != DAMAGED:
                raise
            return _damaged(run_id, state, "an answer is missing or was changed"), set(), []

    def folded(self, run_id: str, state: RunState = RunState()) -> RunState:  # noqa: B008 - it never changes
        """The state that its facts give, from the one that is known on. A run of which something is damaged has
        failed: what is whole of it is shown, nothing is called, and the journal is left as it is (UP-48)."""
        more = True
        try:
            while more:
                page, more = self._journal.facts_now(run_id, state.last_seq, PAGE)
                for event in page:
                    if event.seq != state.last_seq + 1:
                        return _damaged(run_id, state, f"event {state.last_seq + 1} is missing")
                    state = state.after(event)
        except JournalRefused as refused:
            if refused.code != "damaged":
                raise
            return _damaged(run_id, state, f"event {state.last_seq + 1} or a later one cannot be read")
        except (ValueError, TypeError, KeyError, AttributeError):
            return _damaged(run_id, state, f"event {state.last_seq + 1} is invalid")
        if state.imported and not state.ended:  # nobody agreed to what it would do here
            return _damaged(run_id, state, "it was imported while it was running")
        return state

    def ended(self, state: RunState) -> None:
        """A run that is taken up has ended: by itself, or because its record is damaged."""
        if _is_damaged(state):
            self.damaged[state.run_id] = state
        self.keep(state)

    def keep(self, state: RunState) -> None:
        """Remember the state of a run that ended, unless it is damaged: somebody may restore it."""
        if not _is_damaged(state):
            self._journal.keep_snapshot(state.run_id, state._asdict())

    # -- one at a time -----------------------------------------------------------------------------

    def alone(self, started: RunStarted) -> RunState:
        """The state of a run that begins. An assistant has one loop at a time, whoever starts it; one
        that was asked to stop makes room at once. Raises `Refused`."""
        state = RunState(format=started.format, root=started.root, target=started.target, path=started.path)
        for run in self.live.values() if started.format in ONE_AT_A_TIME else ():
            other = run.state
            same = _whose(other) == _whose(state)
            if same and not (run.control.stopping or other.status == "stopping"):
                told = f"`{started.name}` already has a running loop: {run.run_id}."
                raise Refused("already_running", told, "Stop it, or wait until it ends.", {"runId": run.run_id})
        return state

    # -- questions ---------------------------------------------------------------------------------

    async def find(self, given: object) -> str:
        """The run that an id, whole or shortened, means. Raises `Refused`."""
        if not isinstance(given, str) or not given:
            raise Refused("bad_argument", "Missing `runId`.")
        await self._journal.hear_others()
        if given in self.live:
            return given
        found = await self._journal.read(self._journal.storage.matching, given, 3)
        if given in found:
            return given
        if found and len(given) < SHORTEST:
            told = f"`{given}` is too short for the id of a run."
            raise Refused("not_found", told, f"Use its first {SHORTEST} characters or more.")
        if len(found) == 1:
            return found[0]
        if found:
            raise Refused("not_found", f"Several runs start with `{given}`.", f"They are {', '.join(found)}, ...")
        raise Refused("not_found", f"Unknown run `{given}`.", "See `loop-ls runs`.")

    async def state(self, run_id: str) -> RunState:
        live = self.live.get(run_id)
        if live is not None:
            return live.state
        return await self._journal.read(self._ended_state, run_id)

    def _ended_state(self, run_id: str) -> RunState:
        try:
            row = RunRow(0, run_id, self._journal.storage.snapshot(run_id))
        except JournalRefused as refused:
            if refused.code != DAMAGED:
                raise
            row = RunRow(0, run_id, None, damaged=True)
        return self._state_of(row)

    async def newest(self, status: str | None, uri: str | None, limit: int) -> list[RunState]:
        """States, newest first. `status`: one of the engine or of the documents of loops, or `active`: all that have
        not ended."""
        await self._journal.hear_others()
        found: list[RunState] = []
        before: int | None = None
        while len(found) < limit:
            rows, states = await self._journal.read(self._page, before)
            for row, ended in zip(rows, states, strict=True):
                live = self.live.get(row.run)
                state = live.state if live else ended if ended.last_seq else await self.state(row.run)
                if state.last_seq and _wanted(state, status, uri):
                    found.append(state)
            if len(rows) < PAGE:
                break
            before = rows[-1].number
        return found[:limit]

    def _page(self, before: int | None) -> tuple[list[RunRow], list[RunState]]:
        rows = self._journal.storage.runs(before, PAGE)
        live = self.live
        return rows, [RunState() if row.run in live else self._state_of(row) for row in rows]

    def _state_of(self, row: RunRow) -> RunState:
        if row.run in self.damaged:
            return self.damaged[row.run]
        if row.damaged:
            return _damaged(row.run, RunState(), "its row was changed")
        kept = None
        with suppress(JournalRefused):  # damaged: it is only a cache
            kept = self._journal.unpacked(row.snapshot) if row.snapshot else None
        return _restored(kept) or self.folded(row.run)

    def __iter__(self) -> Iterator[LiveRun]:
        return iter(list(self.live.values()))


def _damaged(run_id: str, state: RunState, why: str) -> RunState:
    told: Error = {
        "code": DAMAGED,
        "message": f"The record of this run is damaged: {why}.",
        "hint": "It cannot continue. Restore a backup of the journal, or start it again.",
    }
    seq = max(1, state.last_seq)  # there is something to show
    return state._replace(
        run_id=run_id, status="failed", reason="error", error=told, ended_at=state.last_at, last_seq=seq
    )


def _is_damaged(state: RunState) -> bool:
    return state.error is not None and state.error.get("code") == DAMAGED


def _whose(state: RunState) -> tuple[object, ...]:
    """What has one loop at a time: an assistant, a document."""
    return state.format, state.root, state.path if state.format == "enhance" else state.target


def _wanted(state: RunState, status: str | None, uri: str | None) -> bool:
    if uri is not None and state.uri != uri:
        return False
    return status in (None, state.status, state.loop_status) or (status == "active" and not state.ended)


def _restored(kept: object) -> RunState | None:
    """A state from its snapshot; None where another version wrote it."""
    if not isinstance(kept, dict) or set(kept) != set(RunState._fields):
        return None
    listed = ("progress_log", "asked", "answers", "failed", "scripted")
    return RunState(**kept | {name: tuple(kept[name]) for name in listed})
