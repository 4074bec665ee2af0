"""A run's record in memory, for tests of everything that works through the `Recorder` port.

It keeps the promises of the real one: a known key does no work again, answers are what the journal would give
back, facts come with their answer, a stop ends the call in flight. Pause and stop are the real ones. `again()` is
the same journal after a restart.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import asdict
from typing import Literal, cast

from loop_ls.contract.facts.kinds import ApprovalResolved, ManualApprovalRequired, NoteGiven, Paused, Resumed
from loop_ls.contract.facts.payload import Fact
from loop_ls.contract.questions import Decision
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import (
    NOTES,
    Allowance,
    Approval,
    Bill,
    Failure,
    ModelFailure,
    Recordable,
    Recorded,
    Skipped,
    Stopped,
    read_notes,
)
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.journal import plain
from loop_ls.engine.money.accounts import Accounts
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.runs.journal_recorder import discarded, given_up, replayed, written
from loop_ls.text.json_value import Json


class MemoryRecorder:
    """The `Recorder` port without a journal file. `worked` lists the keys whose work was really done, `slept` the
    seconds of each wait that was begun. `accounts` are those of the run, where it has any."""

    def __init__(self, run_id: str = "run-1") -> None:
        self.run_id = run_id
        self.entries: dict[str, Recorded] = {}
        self.facts: list[Fact] = []
        self.worked: list[str] = []
        self.texts: list[tuple[str, dict[str, Json]]] = []
        self.slept: list[float] = []
        self.accounts = Accounts(Ledger())
        self.clock: Callable[[], float] = _time_of_the_loop
        self.control = Control(clock=_time_of_the_loop)
        self._begun: set[str] = set()
        self._decisions = _Answers(self.control)
        self._told = _Answers(self.control)

    def again(self) -> MemoryRecorder:
        """A recorder for the same run after a crash: same journal, nothing in flight."""
        other = MemoryRecorder(self.run_id)
        other.entries, other.facts, other._begun = dict(self.entries), list(self.facts), set(self._begun)
        return other

    def of(self, kind: str) -> list[dict[str, Json]]:
        """The bodies of all facts of one kind, in order."""
        return [body for name, body in self.facts if name == kind]

    def pause(self) -> None:
        self.control.pause()

    def resume(self) -> None:
        self.control.resume()

    def stop(self) -> None:
        """What a person's stop does: the calls in progress end at once, and nothing new begins."""
        self.control.stop()

    def decide(self, approved: bool, feedback: str | None = None, decision: Decision | None = None) -> None:
        """What a person answers to the oldest open question, or to the next one where none is open."""
        answer = Approval(approved, decision or ("approve" if approved else "reject"), feedback)
        self._decisions.tell(asdict(answer))

    async def approval(self, place: Place, asked: ManualApprovalRequired) -> Approval:
        key = place.part("approval")
        if key not in self.entries:
            await self.gate()
            self._begin(key, [asked.fact(place)])
            decided = asdict(Approval.of_fact(await self._decisions.ask(key)))
            resolved = ApprovalResolved(loop_id=asked.loop_id, **decided)
            self._write(key, {"value": decided}, [resolved.fact(place)])
        await self.gate()
        return Approval.of_fact(replayed(self.entries[key]))

    async def notes(self, place: Place, key: str) -> tuple[str, ...]:
        noted = place.part(NOTES)
        if noted in self.entries:
            return read_notes(self.recall(noted))
        taken = () if key in self.entries else self.control.take_notes()
        if taken:
            self._write(noted, {"value": list(taken)}, [NoteGiven(notes=len(taken)).fact(place)])
        return taken

    async def changed_prompt(self, place: Place) -> str | None:
        return None

    def tell(self, answer: Json) -> None:
        """What the outside answers to the oldest open question, or to the next one where none is open."""
        self._told.tell(answer)

    async def outside(self, key: str, asked: Sequence[Fact], seconds: float | None, late: Recordable) -> Recordable:
        if key not in self.entries:
            await self.gate()
            self._begin(key, asked)
            try:
                async with asyncio.timeout(seconds):
                    told = cast("Recordable", await self._told.ask(key))
            except TimeoutError:
                told = late
            self._write(key, {"value": told})
            await self.gate()
        return cast("Recordable", self.recall(key))

    def recall(self, key: str) -> object:
        return self.entries[key].get("value") if key in self.entries else None

    async def call(
        self,
        key: str,
        work: Callable[[], Awaitable[Recordable]],
        facts: Callable[[Recordable], Iterable[Fact]] = lambda answer: (),
        before: Sequence[Fact] = (),
    ) -> Recordable:
        if key in self.entries:
            return cast("Recordable", replayed(self.entries[key]))
        await self.gate()
        self._begin(key, before)
        self.worked.append(key)
        try:
            value = plain(await self.control.interruptible(work))
        except (Failure, ModelFailure) as failure:
            self._write(key, {"raised": written(failure)})
            raise
        except asyncio.CancelledError:
            if not self.control.leaving:
                self._write(key, {"raised": written(given_up())})
            raise
        follows: Sequence[Fact] = ()
        try:
            follows = tuple(facts(value))
            follows = (*follows, *self.accounts.count(follows))
        finally:
            entry: Recorded = {"value": value}
            self._write(key, entry, discarded(follows) if self.control.stopping else follows)
        if self.control.stopping:
            raise Stopped
        return value

    async def record(self, key: str, facts: Sequence[Fact] = (), answer: object = None) -> None:
        if key not in self.entries:
            self._write(key, {"value": answer}, (*facts, *self.accounts.count(facts)))

    def changed(self) -> dict[str, Json]:
        return {}

    async def iterated(self, place: Place, loop: str, number: int, verdict: str | None) -> None:
        return

    async def hold(self, key: str, reason: Literal["stalled"]) -> None:
        if key not in self.entries:
            self._write(key, {"value": True}, [Paused(reason=reason).fact()])
            self.pause()

    async def park(self, key: str, until: float, because: str) -> None:
        """Time passes at once."""
        self._write(key, {"value": True}, [Paused(reason="exhausted", because=because).fact(), Resumed().fact()])

    def undivided(self) -> AbstractContextManager[None]:
        return self.control.undivided()

    def skipped(self, loop: str, place: Place) -> Skipped:
        return Skipped()

    async def gate(self) -> None:
        await self.control.gate()

    def stream(self, text: str, **place: Json) -> None:
        self.texts.append((text, place))

    def streamed(self, **place: Json) -> None:
        return

    async def now(self, key: str) -> float:
        self._write(key, {"value": self.clock()})
        return cast("float", self.recall(key))

    async def sleep(self, key: str, seconds: float) -> None:
        left = await self.now(key) + seconds - self.clock()
        if left > 0:
            self.slept.append(seconds)
            if await self.control.stopped_within(min(left, seconds)):
                raise Stopped
        await self.gate()

    def unbounded(self, bill: Bill) -> AbstractAsyncContextManager[Allowance]:
        return self.accounts.unbounded(bill)

    def active(self) -> float:
        return self.control.active()

    def _begin(self, key: str, facts: Iterable[Fact]) -> None:
        """What holds once the call has begun is said once, also where a crash lies between."""
        if key not in self._begun:
            self._begun.add(key)
            self.facts += _plain(facts)

    def _write(self, key: str, entry: Recorded, facts: Iterable[Fact] = ()) -> None:
        """The first entry of a key stays."""
        if key not in self.entries:
            self.entries[key] = plain(entry)
            self.facts += _plain(facts)


class _Answers:
    """Answers from outside in their order, for questions in theirs, whichever comes first."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._early: deque[Json] = deque()
        self._open: deque[str] = deque()

    def tell(self, answer: Json) -> None:
        if self._open:
            self._control.decide(self._open.popleft(), answer)
        else:
            self._early.append(answer)

    async def ask(self, key: str) -> Json:
        if self._early:
            self._control.decide(key, self._early.popleft())
        else:
            self._open.append(key)
        try:
            return cast("Json", await self._control.decided(key))
        finally:
            if key in self._open:
                self._open.remove(key)


def _plain(facts: Iterable[Fact]) -> list[Fact]:
    return [(kind, plain(body)) for kind, body in facts]


def _time_of_the_loop() -> float:
    """The clock of the event loop, which tests may have made a virtual one. It stands where none runs."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return 0.0
