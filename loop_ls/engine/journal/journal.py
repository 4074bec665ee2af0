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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from loop_ls.engine.events import Event
from loop_ls.engine.journal.border import enter, pack, plain, unpack
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.storage import Entry, Row, Storage
from loop_ls.engine.ports import Fact, Json

T = TypeVar("T")
BATCH = 256
#: Characters of long texts that a transaction may hold on the loop's own time.
HEAVY = 100_000
#: Characters after which a page of facts ends, however many were asked for.
PAGE_WEIGHT = 4_000_000
Listener = Callable[[list[Event]], None]
#: `disk`: the future waits until the entry survives a power failure. `now`: until it survives the end of
#: this process; a prompt storage has it before `append` returns. `soon`: the same, with the next entry, or
#: in the next turn of the loop.
When = Literal["disk", "now", "soon"]


class Page(NamedTuple):
    """Facts in order; `more`: there may be further ones behind the last."""

    events: list[Event]
    more: bool


def weight(event: Event) -> int:
    """About how much memory an event holds: its texts."""
    return sum(len(value) for value in event.body.values() if isinstance(value, str))


@dataclass(slots=True)
class _Waiting:
    entry: Entry
    facts: list[Fact]
    done: asyncio.Future[list[Event]]
    added: list[Event] | None = None  # stored already: only the disk is waited for


_Result = tuple[_Waiting, "list[Row] | JournalRefused"]


class Journal:
    """Open it inside the running loop; `close` writes what is queued and ends the threads."""

    def __init__(self, storage: Storage, clock: Callable[[], float] = time.time) -> None:
        self.storage, self.clock = storage, clock
        self.listeners: list[Listener] = []
        self._queue: queue.SimpleQueue[list[_Waiting] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._held: list[_Waiting] = []  # for the next transaction
        self._queued = 0  # entries that the thread writes, of which nothing was heard yet
        self._closed = False
        self._readers = ThreadPoolExecutor(1, "journal-reader")
        self._thread = threading.Thread(target=self._write, name="journal-writer", daemon=True)
        self._thread.start()

    # -- writing ---------------------------------------------------------------------------------

    def append(
        self,
        run: str,
        key: str | None = None,
        facts: Sequence[Fact] = (),
        answer: Any = ...,
        keep: Mapping[str, str] | None = None,
        when: When = "disk",
    ) -> asyncio.Future[list[Event]]:
        """Add an entry, in order; the future gives the facts it added once they are stored. Without
        `answer` the call of `key` begins. `keep` are texts by their hash, stored with it. Nobody has
        to await it."""
        texts = dict(keep or {})
        entered = [(kind, *enter(body, texts)) for kind, body in facts]
        seen: list[Fact] = [(kind, body) for kind, body, _ in entered]
        packed = [(kind, text) for kind, _, text in entered]
        value = None if answer is ... else pack(answer, texts)
        return self._put(Entry(run, key, value, packed, texts, self.clock()), seen, when)

    def keep_snapshot(self, run: str, state: dict[str, Any]) -> asyncio.Future[list[Event]]:
        """Remember the folded state of a run that ended."""
        texts: dict[str, str] = {}
        packed = pack(plain(state), texts)
        return self._put(Entry(run, snapshot=packed, texts=texts), [], "soon")

    def forget(self, run: str) -> asyncio.Future[list[Event]]:
        """Remove a run that has ended."""
        return self._put(Entry(run, forget=True), [])

    def _put(self, entry: Entry, facts: list[Fact], when: When = "disk") -> asyncio.Future[list[Event]]:
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        done.add_done_callback(_seen)
        if self._closed:
            done.set_exception(JournalRefused("closed", "The journal is closed: the engine is leaving."))
            return done
        entry.durable = when == "disk"
        self._held.append(_Waiting(entry, facts, done))
        if when != "soon":
            self._flush()
        elif len(self._held) == 1:
            self._loop.call_soon(self._flush)
        return done

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
        self._tell(results)
        if unsafe := [waiting for waiting, _ in results if not waiting.done.done()]:
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
            new = [waiting for waiting in batch if waiting.added is None]
            results = self._stored(new) if new else []
            unsynced = self._synced(waiting.entry.durable for waiting in batch)
            try:
                self._loop.call_soon_threadsafe(self._settle, batch, results, unsynced)
            except RuntimeError:
                return  # the loop has ended: nobody is left to hear
            if leaving:
                return
            self.storage.tidy()

    def _synced(self, durable: Iterable[bool]) -> JournalRefused | None:
        try:
            if any(durable):
                self.storage.sync()
        except JournalRefused as refused:
            return refused
        except Exception as error:  # a fault of ours must not end the thread that all runs need
            return _fault(error)
        return None

    def _stored(self, batch: list[_Waiting]) -> list[_Result]:
        try:
            rows = self.storage.write([waiting.entry for waiting in batch])
            return list(zip(batch, rows, strict=True))
        except JournalRefused as error:
            if len(batch) == 1:
                return [(batch[0], error)]
        except Exception as error:
            if len(batch) == 1:
                return [(batch[0], _fault(error))]
        # One entry of many may be at fault: the others must not suffer for it.
        return [result for waiting in batch for result in self._stored([waiting])]

    def _tell(self, results: list[_Result]) -> None:
        """Facts are stored: show them. Only what must be on the disk has to wait for that."""
        for waiting, result in results:
            if isinstance(result, JournalRefused):
                _refuse(waiting, result)
                continue
            waiting.added = [
                Event(row.run, row.seq, row.at, kind, body, row.position)
                for row, (kind, body) in zip(result, waiting.facts, strict=False)
            ]
            if waiting.added:
                for listener in self.listeners:
                    listener(waiting.added)
            if not waiting.entry.durable and not waiting.done.done():
                waiting.done.set_result(waiting.added)

    def _settle(self, batch: list[_Waiting], results: list[_Result], unsynced: JournalRefused | None) -> None:
        self._queued -= len(results)
        self._tell(results)
        for waiting in batch:
            if unsynced is not None:
                _refuse(waiting, unsynced)
            elif not waiting.done.done():
                waiting.done.set_result(waiting.added or [])

    # -- reading ---------------------------------------------------------------------------------

    def recall(self, run: str, key: str) -> Json:
        """The answer of `key`, read at once; None where there is none."""
        packed = self.storage.value(run, key)
        return None if packed is None else self.unpacked(packed)

    def unpacked(self, packed: str) -> Json:
        return unpack(packed, self.storage.text)

    async def facts(self, run: str, after: int = 0, limit: int = 1000) -> Page:
        """Facts of a run with `seq` above `after`."""
        return await self.read(self.facts_now, run, after, limit)

    async def since(self, position: int, limit: int = 1000) -> Page:
        """Facts of all runs above `position`."""
        return await self.read(lambda: self._page(self.storage.since(position, limit), limit))

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

    async def read(self, work: Callable[..., T], *args: Any) -> T:
        """Do a read outside the loop's thread."""
        return await self._loop.run_in_executor(self._readers, work, *args)

    async def close(self) -> None:
        self._closed = True
        self._flush()
        self._queue.put(None)
        await self._loop.run_in_executor(self._readers, self._thread.join, 10)
        self._readers.shutdown(wait=False)
        self.storage.close()


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
