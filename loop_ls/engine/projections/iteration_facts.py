"""The facts of one iteration, found without reading those of all others.

An iteration begins with a fact that names it. It is over when the next one of its loop begins, or the run ends;
where iterations run side by side, when it has ended itself as well.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from loop_ls.engine.events import Event
from loop_ls.engine.journal import Journal

PAGE = 200
ENDS = frozenset({"completed", "failed", "cancelled"})
DONE = frozenset({"iteration", "iteration_failed", "judged"})


async def facts_of_iteration(journal: Journal, run_id: str, wanted: str | None) -> list[Event]:
    """Of the latest one, or of the last one that has `wanted` as its place or number; the first fact of the run
    comes before them. Raises `JournalRefused`."""
    head = (await journal.facts(run_id, 0, 1)).events
    if wanted is None:
        begun = await journal.read(journal.storage.iterations, run_id, None, None, 1)
        rest = [event async for event in _from(journal, run_id, max(2, *begun) if begun else 2)]
        return head + rest
    seq = await _begin_of(journal, run_id, wanted)
    return [] if seq is None else head + await _until_over(journal, run_id, seq)


async def _from(journal: Journal, run_id: str, seq: int) -> AsyncIterator[Event]:
    after, more = seq - 1, True
    while more:
        page = await journal.facts(run_id, after, PAGE)
        for event in page.events:
            yield event
        more = page.more and bool(page.events)
        after = page.events[-1].seq if page.events else after


async def _begin_of(journal: Journal, run_id: str, wanted: str) -> int | None:
    last = wanted.rpartition("/")[2].partition(".")[0]
    if not last.isascii() or not last.isdigit() or len(last) > 15:
        return None
    before: int | None = None
    while begun := await journal.read(journal.storage.iterations, run_id, int(last), before, PAGE):
        for seq in begun:
            if wanted == last:
                return seq
            if any(event.body.get("place") == wanted for event in (await journal.facts(run_id, seq - 1, 1)).events):
                return seq
        before = begun[-1]
    return None


async def _until_over(journal: Journal, run_id: str, seq: int) -> list[Event]:
    found: list[Event] = []
    place, finished, followed = "", False, False
    async for event in _from(journal, run_id, seq):
        at = str(event.body.get("place", ""))
        if not found:
            place = at
        elif event.kind in ENDS or (event.kind == "iteration_started" and _loop(at) == _loop(place)):
            followed = True
        finished = finished or (event.kind in DONE and at.partition(":")[0] == place)
        found.append(event)
        if followed and finished:
            break
    return found


def _loop(place: str) -> str:
    return place.rpartition("/")[0]
