"""The recorder of one live run: calls that are paid once, whatever crashes (see `ports.Recorder`).

A call is begun in the journal, done, and answered in the journal together with the facts that follow. Only
the call that is in progress when the engine dies is done again; its mark says so after the restart. The disk
is waited for beside the run, a few answers behind: those that come in while it writes may be paid again after
a power failure, which no call that takes its time is.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import asdict
from typing import Literal, cast

from loop_ls.contract.facts.kinds import (
    ApprovalResolved,
    ManualApprovalRequired,
    NoteGiven,
    Paused,
    PromptChanged,
    Resumed,
)
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import (
    NOTES,
    PROMPT,
    Allowance,
    Approval,
    Bill,
    Failure,
    ModelFailure,
    Recordable,
    Recorded,
    RecordedFailure,
    Skipped,
    Stopped,
    read_notes,
)
from loop_ls.engine.core.redaction import StreamMask
from loop_ls.engine.core.replay_source import Source, copied
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.events import Event
from loop_ls.engine.events.event import utc
from loop_ls.engine.journal import END, Journal, JournalRefused, When, plain
from loop_ls.engine.money.accounts import Accounts
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.runs.secret_mask import SecretMask
from loop_ls.text.json_value import Json, from_fields

#: Answers of one run that may be on their way to the disk at once.
UNSAFE = 8
Show = Callable[[str, str, dict[str, Json]], None]


class JournalRecorder:
    """`answered` are the keys that the journal knows of this run; `show` hears streamed text. `claim`: ours on the
    run, where several processes share the journal."""

    def __init__(
        self,
        run_id: str,
        journal: Journal,
        control: Control,
        answered: Iterable[str] = (),
        show: Show = lambda run_id, text, place: None,
        ledger: Accounts | None = None,
        claim: str = "",
    ) -> None:
        self.run_id, self._claim = run_id, claim
        self.mask = SecretMask()
        self._streams: dict[str, StreamMask] = {}  # by their places
        self._journal, self._control, self._show = journal, control, show
        self._ledger = ledger or Accounts(Ledger())
        self.source: Source | None = None
        self.settled: Callable[[str], Awaitable[None]] | None = None  # done before a call begins, with its key
        self.saved: Callable[[Place, str, int, str | None], Awaitable[None]] | None = None  # done after each iteration
        self._answered = set(answered)
        self._fresh: dict[str, Recorded] = {}  # answers that are on their way to the disk
        self._unsafe: deque[asyncio.Future[list[Event]]] = deque()  # the paid ones of them
        self._refused: JournalRefused | None = None

    def _append(
        self, key: str, facts: Sequence[Fact] = (), answer: Recorded | None = None, when: When = "disk"
    ) -> asyncio.Future[list[Event]]:
        return self._journal.append(self.run_id, key, facts, answer, when=when, patient=True, owned=self._claim)

    # -- calls -----------------------------------------------------------------------------------

    def recall(self, key: str) -> object:
        found = self._known(key)
        return None if found is None else found.get("value")

    def _known(self, key: str) -> Recorded | None:
        if key in self._fresh or key not in self._answered:
            return self._fresh.get(key)
        return self._journal.recall(self.run_id, key)

    def performs(self, key: str, many: bool = False) -> bool:
        """Whether the call under `key` will really be made, with `many` one of those that begin with it."""
        if self.source is not None and self.source.replay:
            return False
        if many or self.source is None:
            return many or self._known(key) is None
        return self._known(key) is None and self.source.performs(key)

    async def call(
        self,
        key: str,
        work: Callable[[], Awaitable[Recordable]],
        facts: Callable[[Recordable], Iterable[Fact]] = lambda answer: (),
        before: Sequence[Fact] = (),
    ) -> Recordable:
        known = self._known(key)
        if known is not None:
            return cast("Recordable", replayed(known))
        if self.settled is not None:
            await self.settled(key)
        await self._control.gate()
        if self.source is not None and (taken := self.source.answer(key)) is not None:
            return self._take(key, taken, facts, before)
        await self._committed(self._append(key, before, when="now"))
        await self._control.gate()
        try:
            # Masked at once: a replay reads the same.
            value = self.mask.value(plain(await self._control.interruptible(work)))
        except (ModelFailure, Failure) as failure:
            await self._answer(key, {"raised": written(failure)}, ())
            raise
        except asyncio.CancelledError:
            self._given_up(key)
            raise
        follows: Sequence[Fact] = ()
        try:
            follows = tuple(facts(value))
            if self._control.stopping:
                follows = discarded(follows)
            follows = (*follows, *self._ledger.count(follows))
        finally:
            await self._answer(key, {"value": value}, follows)  # it is paid: kept even if `facts` fails
        if self._control.stopping:
            raise Stopped
        return value

    def _take(
        self, key: str, answer: Recorded, facts: Callable[[Recordable], Iterable[Fact]], before: Sequence[Fact]
    ) -> Recordable:
        """What another run was answered is the answer here too, with the facts that follow from it."""
        follows = () if "raised" in answer else copied(facts(cast("Recordable", answer.get("value"))))
        follows = (*follows, *self._ledger.count(follows))
        self._fresh[key] = answer
        done = self._append(key, (*before, *follows), answer, when="soon")
        done.add_done_callback(lambda result: self._settled(key, result))
        return cast("Recordable", replayed(answer))

    async def _answer(self, key: str, answer: Recorded, facts: Sequence[Fact]) -> None:
        """Stored when the next call begins; the disk may be some answers behind. A cancelled wait does not
        undo it."""
        done = self._append(key, facts, answer)
        self._fresh[key] = answer
        done.add_done_callback(lambda result: self._settled(key, result))
        self._unsafe.append(done)
        while self._unsafe and (self._unsafe[0].done() or len(self._unsafe) > UNSAFE):
            await self._committed(self._unsafe.popleft())

    def _given_up(self, key: str) -> None:
        """A time limit ended the call: that is its answer, unless the whole engine leaves."""
        if not self._control.leaving:
            done = self._append(key, (), {"raised": written(given_up())})
            done.add_done_callback(lambda result: self._settled(key, result))

    # -- facts without a call ----------------------------------------------------------------------

    async def record(self, key: str, facts: Sequence[Fact] = (), answer: object = None) -> None:
        self._note(key, facts, plain(answer))

    async def now(self, key: str) -> float:
        known = cast("float | None", self.recall(key))
        if known is None:
            known = self._journal.clock()
            self._note(key, (), known)
        return known

    async def sleep(self, key: str, seconds: float) -> None:
        if self._was_there(key):
            seconds = 0.0
        left = await self.now(key) + seconds - self._journal.clock()
        if left > 0 and await self._control.stopped_within(min(left, seconds)):
            raise Stopped
        await self._control.gate()

    def _note(self, key: str, facts: Sequence[Fact], answer: object) -> None:
        self._unbroken()
        if key not in self._answered and key not in self._fresh:
            if self.source is not None:
                self.source.hear(key)
            facts = (*facts, *self._ledger.count(facts))
            self._fresh[key] = {"value": self.mask.value(answer)}
            done = self._append(key, facts, self._fresh[key], when="soon")
            done.add_done_callback(lambda result: self._settled(key, result))

    # -- people ------------------------------------------------------------------------------------

    async def approval(self, place: Place, asked: ManualApprovalRequired) -> Approval:
        key = place.part("approval")
        known = self.recall(key)
        if known is None:
            await self.gate()
            if self.source is not None and (taken := self.source.answer(key)) is not None:
                found = Approval.of_fact(taken.get("value"))
                resolved = ApprovalResolved(loop_id=asked.loop_id, **asdict(found)).fact(place)
                self._take(key, taken, lambda _: [resolved], [asked.fact(place)])
                return found
            # Begun, not answered: the answer comes under the same key, from whoever is the first.
            await self._committed(self._append(key, [asked.fact(place)], when="disk"))
            found = cast("Approval", await self._control.decided(place.key))
            self._answered.add(key)
        else:
            found = Approval.of_fact(known)
        await self.gate()
        return found

    async def outside(self, key: str, asked: Sequence[Fact], seconds: float | None, late: Recordable) -> Recordable:
        known = self._known(key)
        if known is not None:
            return cast("Recordable", known.get("value"))
        await self.gate()
        await self._committed(self._journal.append(self.run_id, key, asked, when="disk"))
        try:
            async with asyncio.timeout(seconds):
                found = cast("Recordable", await self._control.decided(key))
        except TimeoutError:
            # Whoever answered in this moment was first: then that is what the journal knows.
            await self._committed(self._journal.append(self.run_id, key, (), {"value": late}))
            found = cast("Recordable", (self._journal.recall(self.run_id, key) or {}).get("value", late))
        self._answered.add(key)
        await self.gate()
        return found

    # -- control and the rest ----------------------------------------------------------------------

    def skipped(self, loop: str, place: Place) -> Skipped:
        return Skipped()

    async def gate(self) -> None:
        self._unbroken()
        await self._control.gate()

    def changed(self) -> Mapping[str, Json]:
        return self._control.changed

    async def notes(self, place: Place, key: str) -> tuple[str, ...]:
        """Kept under the place, so a run that takes this one's answers takes its notes with its prompts. Where nobody
        is asked anything, nobody is told anything new."""
        if (known := self._known(noted := place.part(NOTES))) is not None:
            return read_notes(known.get("value"))
        if self._known(key) is not None:
            return ()
        if self.source is not None:
            if (known := self.source.noted(noted)) is not None:
                self._note(noted, (), known.get("value"))
                return read_notes(known.get("value"))
            if self.source.replay or not self.source.performs(key):
                return ()
        if taken := self._control.take_notes():
            self._note(noted, [NoteGiven(notes=len(taken)).fact(place)], list(taken))
        return taken

    async def changed_prompt(self, place: Place) -> str | None:
        """Kept under the place, so a run that takes this one's answers takes the prompt with its answer."""
        key, source = place.part(PROMPT), self.source
        known = self._known(key)
        if known is None and source is not None:
            known = {"value": source.prompt} if place.key == source.at and source.prompt else source.noted(key)
            if known is not None:
                self._note(key, [PromptChanged().fact(place)], known.get("value"))
        return None if known is None else str(known.get("value"))

    async def iterated(self, place: Place, loop: str, number: int, verdict: str | None) -> None:
        if self.saved is not None:
            await self.saved(place, loop, number, verdict)

    def _was_there(self, key: str) -> bool:
        """Whether the run whose answers are taken has waited here: then nobody waits again, and in a replay never."""
        return self.source is not None and (self.source.replay or self.source.noted(key) is not None)

    async def hold(self, key: str, reason: Literal["stalled"]) -> None:
        if self._known(key) is None and not self._was_there(key):
            self._note(key, [Paused(reason=reason).fact()], True)
            self._control.pause()

    async def park(self, key: str, until: float, because: str) -> None:
        if self._known(key) is not None or self._was_there(key):
            return
        if until > self._journal.clock() and self._known(f"{key}:parked") is None:
            # Once: after a restart it is paused by that fact, or somebody has resumed it meanwhile.
            parked = Paused(reason="exhausted", until=utc(until), because=because)
            self._note(f"{key}:parked", [parked.fact()], until)
            self._control.pause()
        await self._control.due(until, self._journal.clock)
        if self._control.paused:
            self._note(f"{key}:resumed", [Resumed().fact()], True)
            self._control.resume()
        await self._control.gate()
        self._note(key, (), True)

    def undivided(self) -> AbstractContextManager[None]:
        return self._control.undivided()

    def unbounded(self, bill: Bill) -> AbstractAsyncContextManager[Allowance]:
        return self._ledger.unbounded(bill)

    def active(self) -> float:
        return self._control.active()

    def stream(self, text: str, **place: Json) -> None:
        mask = self._streams.get(where := _at(place)) or self._streams.setdefault(where, self.mask.stream())
        if safe := mask.feed(text):
            self._show(self.run_id, safe, place)

    def streamed(self, **place: Json) -> None:
        mask = self._streams.pop(_at(place), None)
        if mask is not None and (rest := mask.rest()):
            self._show(self.run_id, rest, place)

    async def end(self, facts: Sequence[Fact]) -> None:
        """The last facts of the run, once."""
        await self._committed(self._append(END, facts, {"value": True}))

    async def _committed(self, done: asyncio.Future[list[Event]]) -> None:
        try:
            await done
        finally:
            self._heard(done)
        self._unbroken()

    def _settled(self, key: str, done: asyncio.Future[list[Event]]) -> None:
        self._heard(done)
        if not done.cancelled() and done.exception() is None:
            self._answered.add(key)
            self._fresh.pop(key, None)

    def _heard(self, done: asyncio.Future[list[Event]]) -> None:
        """A fact that could not be written ends the run: later ones must not hide the gap."""
        if done.done() and not done.cancelled() and isinstance(error := done.exception(), JournalRefused):
            self._refused = self._refused or error

    def _unbroken(self) -> None:
        if self._refused is not None:
            raise self._refused


def _at(place: Mapping[str, Json]) -> str:
    return json.dumps(place, sort_keys=True, default=str)


def discarded(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """What is kept of an answer that came after the stop: too late for the run, and paid all the same."""
    return tuple((kind, {**body, "discarded": True}) for kind, body in facts if kind == "call")


def given_up() -> Failure:
    """The answer of a call that a time limit ended."""
    return Failure("timeout", "The call was cancelled: a time limit was reached.", reason="timeout")


def written(failure: ModelFailure | Failure) -> RecordedFailure:
    """A failure of a call as a value of the journal."""
    kind = "model" if isinstance(failure, ModelFailure) else "failure"
    return plain(cast("RecordedFailure", {"kind": kind, **asdict(failure)}))


def replayed(answer: Recorded) -> object:
    """The recorded answer, or the failure that was its answer."""
    if "raised" not in answer:
        return answer.get("value")
    told = {name: value for name, value in answer["raised"].items() if name != "kind"}
    failure = ModelFailure if answer["raised"]["kind"] == "model" else Failure
    raise from_fields(failure, told)
