"""The facts of one iteration, found without reading those of all others.

An iteration begins with a fact that names it. It is over when the next one of its loop begins (where iterations run
side by side, when it has ended itself as well), when its loop or what that lies in ends, or the run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from loop_ls.contract.run_view.fold import RunView
from loop_ls.engine.events import Event
from loop_ls.engine.journal import Journal

PAGE = 200
#: Iterations with the same number, in different loops, of which the places are looked at one by one.
FEW = 20
ENDS = frozenset({"completed", "failed", "cancelled"})
LOOP_ENDS = frozenset({"step_completed", "step_failed", "iteration", "iteration_failed"})
DONE = frozenset({"iteration", "iteration_failed", "judged"})


async def facts_of_iteration(
    journal: Journal, run_id: str, wanted: str | None, view_of: Callable[[str], Awaitable[RunView]]
) -> list[Event]:
    """Of the latest one, or of the last one that has `wanted` as its place or number; the first fact of the run
    comes before them. Raises `JournalRefused`."""
    head = (await journal.facts(run_id, 0, 1)).events
    if wanted is None:
        begun = await journal.read(journal.storage.iterations, run_id, None, None, 1)
        rest = [event async for event in _from(journal, run_id, max(2, *begun) if begun else 2)]
        return head + rest
    seq = await _begin_of(journal, run_id, wanted, view_of)
    return [] if seq is None else head + await _until_over(journal, run_id, seq)


async def _from(journal: Journal, run_id: str, seq: int) -> AsyncIterator[Event]:
    after, more = seq - 1, True
    while more:
        page = await journal.facts(run_id, after, PAGE)
        for event in page.events:
            yield event
        more = page.more and bool(page.events)
        after = page.events[-1].seq if page.events else after


async def _begin_of(
    journal: Journal, run_id: str, wanted: str, view_of: Callable[[str], Awaitable[RunView]]
) -> int | None:
    last = wanted.rpartition("/")[2].partition(".")[0]
    if not last.isascii() or not last.isdigit() or len(last) > 15:
        return None
    begun = await journal.read(journal.storage.iterations, run_id, int(last), None, FEW + 1)
    if wanted == last:
        return begun[0] if begun else None
    for seq in begun[:FEW]:
        if any(event.body.get("place") == wanted for event in (await journal.facts(run_id, seq - 1, 1)).events):
            return seq
    if len(begun) <= FEW:
        return None
    row = (await view_of(run_id)).rows.get(wanted)
    return None if row is None or row.kind != "iteration" else row.first


async def _until_over(journal: Journal, run_id: str, seq: int) -> list[Event]:
    found: list[Event] = []
    place, finished, followed = "", False, False
    async for event in _from(journal, run_id, seq):
        at = str(event.body.get("place", ""))
        if not found:
            place = at
        elif event.kind in ENDS or (event.kind in LOOP_ENDS and _lies_in(place, at)):
            found.append(event)
            break
        elif event.kind == "iteration_started" and _loop(at) == _loop(place):
            followed = True
        finished = finished or (event.kind in DONE and (at == place or at.startswith(f"{place}:")))
        found.append(event)
        if followed and finished:
            break
    return found


def _lies_in(place: str, loop: str) -> bool:
    return bool(loop) and place.startswith((f"{loop}/", f"{loop}:"))


def _loop(place: str) -> str:
    return place.rpartition("/")[0]
