"""The journal as the engine uses it: facts and answers in, events out, on the running loop.

A storage that is prompt is written to right here, in microseconds; a thread waits for the disk. One that
is not is written to by that thread, and whatever has queued up becomes one transaction. Listeners hear of
facts after they are stored, in the order of their positions. Knows no run's meaning and no SQL.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar, TypeVarTuple, cast

from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.ports import Recorded
from loop_ls.engine.events import Event
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.serialization import enter, pack, unpack
from loop_ls.engine.journal.storage import Entry, Row, Storage
from loop_ls.text.hash import hash_of
from loop_ls.text.json_value import Json, JsonObject

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
BATCH = 256
#: Entries of one turn of the loop that do not wait for one another.
EAGER = 2
#: Seconds that a journal which somebody else holds is waited for.
BUSY = 20.0
#: Characters of long texts that a transaction may hold on the loop's own time.
HEAVY = 100_000
#: Characters after which a page of facts ends, however many were asked for.
PAGE_WEIGHT = 4_000_000
#: Refusals that pass: what a run has to write is kept, and offered again after so many seconds.
NO_ROOM = frozenset({"disk_full", "read_only", "busy"})
OFFER_AGAIN = 5.0
Listener = Callable[[list[Event]], None]
#: Takes out of a value of the record what nobody may read.
Mask = Callable[[object], object]


#: `disk`: the future waits until the entry survives a power failure. `now`: until it survives the end of
#: this process; a prompt storage mostly has it before `append` returns. `soon`: the same, with the next
#: entry, or in the next turn of the loop.
When = Literal["disk", "now", "soon"]


class Page(NamedTuple):
    """Facts in order; `more`: there may be further ones behind the last."""

    events: list[Event]
    more: bool


def _unmasked(value: object) -> object:
    return value


def weight(event: Event) -> int:
    """About how much memory an event holds: its texts."""
    return sum(len(value) for value in event.body.values() if isinstance(value, str))


@dataclass(slots=True)
class _Waiting:
    entry: Entry
    facts: list[Fact]
    done: asyncio.Future[list[Event]]
    added: list[Event] | None = None  # stored already: only the disk is waited for
    patient: bool = False  # kept here until there is room for it
    parked: bool = False


_Result = tuple[_Waiting, "list[Row] | JournalRefused"]


class Journal:
    """Open it inside the running loop; `close` writes what is queued and ends the threads."""

    def __init__(self, storage: Storage, clock: Callable[[], float] = time.time) -> None:
        self.storage, self.clock = storage, clock
        self.listeners: list[Listener] = []
        self.forgotten: list[Callable[[str], None]] = []
        self.accounts: dict[str, Callable[[], dict[str, Json]]] = {}  # what runs have spent: each fact says it
        self.masks: dict[str, Mask] = {}  # what runs must not write down: values go through it before they are packed
        #: Hears of a run that stands, and why; None: it goes on.
        self.parked: Callable[[str, JournalRefused | None], None] = lambda run, why: None
        self._parked: list[_Waiting] = []
        self._standing: dict[str, JournalRefused] = {}  # runs of which nothing is written before what is parked of them
        self._stopped: set[str] = set()  # runs of which it was said that they stand
        self._offering: asyncio.TimerHandle | None = None
        self._queue: queue.SimpleQueue[list[_Waiting] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._held: list[_Waiting] = []  # for the next transaction
        self._queued = 0  # entries that the thread writes, of which nothing was heard yet
        self._closed = False
        self._eager = EAGER
        self.told = 0  # the position up to which listeners have heard, where others write too
        self._order = threading.Lock()
        self._answers: dict[str, dict[str, Recorded]] = {}
        self._readers = ThreadPoolExecutor(1, "journal-reader")
        self._tidiers = ThreadPoolExecutor(1, "journal-tidier")
        self._tidying: Future[None] | None = None
        self._thread = threading.Thread(target=self._write, name="journal-writer", daemon=True)
        self._thread.start()

    # -- writing ---------------------------------------------------------------------------------

    def append(
        self,
        run: str,
        key: str | None = None,
        facts: Sequence[Fact] = (),
        answer: Recorded | None = None,
        keep: Mapping[str, str] | None = None,
        when: When = "disk",
        owned: str = "",
        ongoing: bool = False,
        queued: bool = False,
        patient: bool = False,
    ) -> asyncio.Future[list[Event]]:
        """Add an entry, in order; the future gives the facts it added once they are stored. Without
        `answer` the call of `key` begins. `keep` are texts by their hash, stored with it. `owned`: only
        while this claim on the run holds. `ongoing`: only while it goes on. `queued`: and put the run into the queue
        of all processes. `patient`: where there is no room for it now, it and all that follows of its run is kept
        in memory until there is; the future waits. Nobody has to await it."""
        texts = dict(keep or {})
        spent = account() if facts and (account := self.accounts.get(run)) else {}
        mask = self.masks.get(run, _unmasked)
        entered = [(kind, *enter({**cast("JsonObject", mask(body)), **spent}, texts)) for kind, body in facts]
        seen: list[Fact] = [(kind, body) for kind, body, _ in entered]
        packed = [(kind, text) for kind, _, text in entered]
        value = None if answer is None else pack(mask(answer), texts)
        entry = Entry(run, key, value, packed, texts, self.clock(), owned=owned, ongoing=ongoing, queued=queued)
        return self._put(entry, seen, when, patient)

    def keep_snapshot(self, run: str, state: JsonObject) -> asyncio.Future[list[Event]]:
        """Remember the folded state of a run that ended."""
        texts: dict[str, str] = {}
        _, packed = enter(state, texts)
        return self._put(Entry(run, snapshot=packed, texts=texts), [], "soon")

    def adopt(
        self,
        run: str,
        facts: Sequence[tuple[float, str, JsonObject]],
        answers: Mapping[str, Json],
        texts: Mapping[str, str],
    ) -> asyncio.Future[list[Event]]:
        """A whole run from elsewhere, at once: facts with their own times, and what was answered."""
        for at, kind, body in facts[:-1]:
            kept = dict(texts)
            seen, packed = enter(body, kept)
            self._held.append(self._waiting(Entry(run, None, None, [(kind, packed)], kept, at), [(kind, seen)]))
            texts = {}
        for key, answer in answers.items():
            kept = {}
            self._held.append(self._waiting(Entry(run, key, pack(answer, kept), [], kept, self.clock()), []))
        at, kind, body = facts[-1]
        kept = dict(texts)
        seen, packed = enter(body, kept)
        done = self._put(Entry(run, None, None, [(kind, packed)], kept, at), [(kind, seen)])
        self._flush()
        return done

    def _waiting(self, entry: Entry, facts: list[Fact]) -> _Waiting:
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        done.add_done_callback(_seen)
        return _Waiting(entry, facts, done)

    def forget(self, run: str) -> asyncio.Future[list[Event]]:
        """Remove a run that has ended. Whoever keeps something beside it is told once it is gone."""
        done = self._put(Entry(run, forget=True), [])
        done.add_done_callback(lambda told: self._gone(run, told))
        return done

    def _gone(self, run: str, told: asyncio.Future[list[Event]]) -> None:
        if not told.cancelled() and told.exception() is None:
            for hear in self.forgotten:
                hear(run)

    def _put(
        self, entry: Entry, facts: list[Fact], when: When = "disk", patient: bool = False
    ) -> asyncio.Future[list[Event]]:
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        done.add_done_callback(_seen)
        if self._closed:
            done.set_exception(JournalRefused("closed", "The journal is closed: the engine is shutting down."))
            return done
        if not entry.owned and (away := self.storage.refusing()) is not None:
            done.set_exception(away)
            return done
        entry.durable = when == "disk"
        self._held.append(_Waiting(entry, facts, done, patient=patient))
        if when != "soon" and self.storage.prompt and self._first_of_turn():
            self._flush()
        elif len(self._held) == 1:
            self._loop.call_soon(self._flush)  # what follows in this turn of the loop costs no further journey
        return done

    def _first_of_turn(self) -> bool:
        """The first entries of a turn of the loop are written at once; where hundreds of runs wake up
        together, the rest is one transaction."""
        if self._eager == EAGER:
            self._loop.call_soon(self._next_turn)
        self._eager -= 1
        return self._eager >= 0

    def _next_turn(self) -> None:
        self._eager = EAGER

    def _flush(self) -> None:
        """Everything held as one transaction: right here if that takes microseconds and the thread has
        nothing older to write, else by the thread."""
        held, self._held = self._held, []
        if not held:
            return
        if self._queued or not self.storage.prompt or _size(held) > HEAVY:
            self._queued += len(held)
            self._queue.put(held)
            return
        results = self._stored(held)
        if _busy(results):  # somebody else holds the file: that is waited for elsewhere
            self._queued += len(held)
            self._queue.put(held)
            return
        self._tell(results)
        if unsafe := [waiting for waiting, _ in results if not (waiting.parked or waiting.done.done())]:
            self._queue.put(unsafe)

    def _write(self) -> None:
        """The thread: write what was not written on the loop, then wait once for the disk."""
        while batch := self._queue.get():
            leaving = False
            while len(batch) < BATCH and not self._queue.empty():
                found = self._queue.get()
                if found is None:
                    leaving = True
                    break
                batch = batch + found
            new = self._oldest_first([waiting for waiting in batch if waiting.added is None])
            results = self._patiently(new) if new else []
            unsynced = self._synced(waiting.entry.durable for waiting in batch)
            try:
                with self._order:
                    self._loop.call_soon_threadsafe(self._settle, batch, results, unsynced, self._line_up(results))
            except RuntimeError:
                return  # the loop has ended: nobody is left to hear
            if leaving:
                return
            if self.storage.untidy and (self._tidying is None or self._tidying.done()):
                self._tidying = self._tidiers.submit(self.storage.tidy)

    def _oldest_first(self, new: list[_Waiting]) -> list[_Waiting]:
        """What was parked is offered again before all that its runs have said since."""
        offered = [waiting for waiting in new if waiting.parked]
        for waiting in offered:
            self._standing.pop(waiting.entry.run, None)
        return offered + [waiting for waiting in new if not waiting.parked]

    def _synced(self, durable: Iterable[bool]) -> JournalRefused | None:
        try:
            if any(durable):
                self.storage.sync()
        except JournalRefused as refused:
            return refused
        except Exception as error:  # a fault of ours must not end the thread that all runs need
            return _fault(error)
        return None

    def _patiently(self, batch: list[_Waiting]) -> list[_Result]:
        """Stored, as soon as nobody else holds the file (UP-67)."""
        deadline = time.monotonic() + BUSY
        while True:
            results = self._stored(batch)
            if not _busy(results) or time.monotonic() > deadline or self._closed:
                return results
            time.sleep(0.05)

    def _stored(self, batch: list[_Waiting]) -> list[_Result]:
        if self._standing and (behind := [each for each in batch if each.patient and each.entry.run in self._standing]):
            free = [each for each in batch if each not in behind]
            told = [(each, self._standing[each.entry.run]) for each in behind]
            return [*(self._stored(free) if free else []), *told]
        try:
            rows = self.storage.write([waiting.entry for waiting in batch])
            return list(zip(batch, rows, strict=True))
        except JournalRefused as error:
            if len(batch) == 1 or error.code == "busy":
                if batch[0].patient and error.code in NO_ROOM and error.code != "busy":
                    self._standing[batch[0].entry.run] = error
                return [(waiting, error) for waiting in batch]
        except Exception as error:
            if len(batch) == 1:
                return [(batch[0], _fault(error))]
        # One entry of many may be at fault: the others must not suffer for it.
        return [result for waiting in batch for result in self._stored([waiting])]

    def _tell(self, results: list[_Result], facts: list[Event] | None = None) -> None:
        """Facts are stored: show them, or those that are `facts` where others write too. Only what must
        be on the disk has to wait for that."""
        shown: list[_Waiting] = []
        for waiting, result in results:
            if isinstance(result, JournalRefused):
                if not self._park(waiting, result):
                    _refuse(waiting, result)
                continue
            waiting.parked = False
            if waiting.entry.run in self._stopped:
                self._stopped.discard(waiting.entry.run)
                self.parked(waiting.entry.run, None)
            waiting.added = [
                Event(row.run, row.seq, row.at, kind, body, row.position)
                for row, (kind, body) in zip(result, waiting.facts, strict=False)
            ]
            shown.append(waiting)
            if facts is None:
                self._show(waiting.added)
        self._show(facts or [])
        for waiting in shown:
            if not waiting.entry.durable and not waiting.done.done():
                waiting.done.set_result(waiting.added or [])

    def _park(self, waiting: _Waiting, refused: JournalRefused) -> bool:
        """Keep what a run has to write until there is room, unless that is no matter of room, or the end."""
        if not waiting.patient or refused.code not in NO_ROOM or self._closed:
            return False
        run = waiting.entry.run
        if run not in self._stopped:
            self._stopped.add(run)
            self.parked(run, refused)
        waiting.parked = True
        self._parked.append(waiting)
        self._standing[run] = refused
        if self._offering is None:
            self._offering = self._loop.call_later(OFFER_AGAIN, self._offer)
        return True

    def _offer(self) -> None:
        """Try again to write what is parked, in its order."""
        self._offering = None
        parked, self._parked = self._parked, []
        self._queued += len(parked)
        self._queue.put(parked)

    def _show(self, facts: list[Event]) -> None:
        if facts:
            for listener in self.listeners:
                listener(facts)

    def _settle(
        self,
        batch: list[_Waiting],
        results: list[_Result],
        unsynced: JournalRefused | None,
        facts: list[Event] | None,
    ) -> None:
        self._queued -= len(results)
        self._tell(results, facts)
        for waiting in batch:
            if waiting.parked:
                continue
            if unsynced is not None:
                _refuse(waiting, unsynced)
            elif not waiting.done.done():
                waiting.done.set_result(waiting.added or [])

    # -- together with other processes -------------------------------------------------------------

    def catch_up(self, position: int | None = None) -> None:
        """Show what others wrote up to `position`, else all of it. From any thread but the loop's."""
        with self._order:
            if position is None or position > self.told:
                facts = self._missed(position)
                with suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(self._show, facts)

    async def hear_others(self) -> None:
        """Show what others had written by now, before something is answered or decided by what was heard: who was
        told of a question or an end by one engine may speak to another one in the next moment."""
        if self.storage.shared:
            await self.read(self.catch_up)

    def _line_up(self, results: list[_Result]) -> list[Event] | None:
        """What to show once these are stored: None where nobody else wrote in between."""
        if not self.storage.shared:
            return None
        positions = sorted(row.position for _, rows in results if isinstance(rows, list) for row in rows)
        if positions == list(range(self.told + 1, self.told + 1 + len(positions))):
            self.told += len(positions)
            return None
        return self._missed(positions[-1])

    def _missed(self, position: int | None) -> list[Event]:
        """Facts behind those that were shown; the rest comes later if the database is away now."""
        found: list[Event] = []
        with suppress(JournalRefused):
            more = True
            while more and (position is None or self.told < position):
                page, more = self._page(self.storage.since(self.told, BATCH), BATCH)
                found += page
                self.told = page[-1].position if page else self.told
                more = more and bool(page)
        return found

    # -- reading ---------------------------------------------------------------------------------

    def recall(self, run: str, key: str) -> Recorded | None:
        """The answer of `key`, read at once; None where there is none."""
        if (loaded := self._answers.get(run)) is not None and key in loaded:
            return loaded[key]
        packed = self.storage.value(run, key)
        return None if packed is None else cast("Recorded", self.unpacked(packed))

    def load_answers(self, run: str) -> tuple[set[str], list[str]]:
        """Keep what a run was answered at hand, where reading means a network -> its keys, those that have
        an answer and those that only began."""
        if not self.storage.shared:
            return self.storage.keys(run)
        found = self.storage.answers(run)
        self._answers[run] = {
            key: cast("Recorded", self.unpacked(value)) for key, value in found.items() if value is not None
        }
        return set(self._answers[run]), sorted(key for key, value in found.items() if value is None)

    def let_go(self, run: str) -> None:
        """The run is over, or somebody else's."""
        self._answers.pop(run, None)

    def unpacked(self, packed: str) -> JsonObject:
        try:
            return unpack(packed, self.text)
        except ValueError:
            raise JournalRefused("damaged", "The record of this run is damaged: invalid JSON.") from None

    def text(self, name: str) -> str:
        """A long text by its hash. Raises `JournalRefused` for one that is missing or is another text now."""
        found = self.storage.text(name)
        if hash_of(found) != name:
            raise JournalRefused("damaged", "The record of this run is damaged: a text is missing.")
        return found

    async def facts(self, run: str, after: int = 0, limit: int = 1000) -> Page:
        """Facts of a run with `seq` above `after`."""
        return await self.read(self.facts_now, run, after, limit)

    async def since(self, position: int, limit: int = 1000) -> Page:
        """Facts of all runs above `position`."""
        return await self.read(lambda: self._page(self.storage.since(position, limit), limit))

    async def newest(self, kinds: Sequence[str], position: int, limit: int) -> Page:
        """Facts of these kinds of all runs above `position`, the newest first."""
        return await self.read(lambda: self._page(self.storage.newest(kinds, position, limit), limit))

    def facts_now(self, run: str, after: int = 0, limit: int = 1000) -> Page:
        return self._page(self.storage.facts(run, after, limit), limit)

    def _page(self, rows: list[Row], limit: int) -> Page:
        """Rows are short; it is their long texts that must not fill the memory."""
        events: list[Event] = []
        size = 0
        for row in rows:
            events.append(Event(row.run, row.seq, row.at, row.kind, self.unpacked(row.body), row.position))
            size += weight(events[-1])
            if size > PAGE_WEIGHT:
                return Page(events, True)
        return Page(events, len(rows) == limit)

    async def read(self, work: Callable[[*Arguments], T], *args: *Arguments) -> T:
        """Do a read outside the loop's thread."""
        return await self._loop.run_in_executor(self._readers, work, *args)

    async def close(self) -> None:
        if self._offering is not None:
            self._offering.cancel()
            self._offer()  # the last time
        self._closed = True
        self.storage.leave()
        self._flush()
        self._queue.put(None)
        await self._loop.run_in_executor(self._readers, self._thread.join, 10)
        await self._loop.run_in_executor(self._readers, self._tidiers.shutdown)
        self._readers.shutdown(wait=False)
        self.storage.close()


def _busy(results: list[_Result]) -> bool:
    first = results[0][1]
    return isinstance(first, JournalRefused) and first.code == "busy"


def _size(held: list[_Waiting]) -> int:
    return sum(len(text) for waiting in held for text in waiting.entry.texts.values())


def _refuse(waiting: _Waiting, refused: JournalRefused) -> None:
    if not waiting.done.done():
        waiting.done.set_exception(refused)


def _fault(error: Exception) -> JournalRefused:
    return JournalRefused("io", f"The journal could not be written: {error!r}.")


def _seen(done: asyncio.Future[list[Event]]) -> None:
    """Nobody has to await an entry: its error reaches the run by its recorder."""
    if not done.cancelled():
        done.exception()
