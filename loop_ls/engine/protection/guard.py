"""The guard of protected files: an agent's turn does not count before a person has seen what it did to them.

Before each turn of an agent that may write, what protected files are is recorded; after it they are compared. Where one
was touched, a person is asked, and no check, judge or further turn of the run begins before the answer. A turn whose
end nobody saw (a time limit, an engine that was killed) is compared before the next call of the run.
"""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypedDict, cast

from loop_ls.contract.facts.kinds import ManualApprovalRequired, NoteAdded, Warned
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import EndsRun, Failure, ModelFailure, Recorder
from loop_ls.engine.protection.kept import Kept
from loop_ls.engine.protection.patterns import Protected
from loop_ls.engine.protection.snapshot import MOST_FILES, Change, Scanner, Snapshot
from loop_ls.text.json_value import Json

#: What stands in the keys of what is recorded here. The run is part of it: a fork takes none of it over.
MARK = ":protected-"
#: So many files are named in a sentence, and so many in a question.
_NAMED, MOST_LISTED = 10, 200

logger = logging.getLogger(__name__)
_guard: ContextVar[Guard | None] = ContextVar("guard of protected files", default=None)


class _Before(TypedDict):
    """What is recorded of a turn before it begins."""

    of: str
    place: dict[str, str | int]
    partial: bool


class _After(TypedDict):
    """What is recorded after it. `total`: there may be more changes than are listed."""

    changes: list[Change]
    total: int


class Guard:
    """Of one run in the workspace `root`. `answered` are keys that the run has recorded already; `performed` says
    whether the call under a key will really be made, `works` whether a provider that is asked for a purpose may write:
    an agent at a step, and at any other work one whose tools nobody can take away. `exact` are the paths that this run
    depends on, looked up before its first turn and never again: what an agent makes itself is not among them. `data`:
    the engine's data folder."""

    def __init__(
        self,
        root: Path,
        data: Path,
        run_id: str,
        settings: Mapping[str, Json],
        exact: Callable[[], Iterable[str]] = tuple,
        works: Callable[[str, str], bool] = lambda provider, purpose: False,
        performed: Callable[[str, bool], bool] = lambda key, many: True,
        answered: Iterable[str] = (),
    ) -> None:
        self._root, self._data, self._settings, self._exact = root, data, settings, exact
        self._kept, self._performed, self.works = Kept(data, run_id), performed, works
        self._known: Scanner | None = None
        self._lock, self._ready = asyncio.Lock(), asyncio.Lock()
        self._allowed: dict[str, str | None] = {}
        self._unseen = list(_unseen(answered))
        self._told_partial = False

    @asynccontextmanager
    async def turn(self, recorder: Recorder, place: Place, key: str, many: bool) -> AsyncIterator[None]:
        """Raises what is done inside, and `EndsRun` where a person stops the run for what was touched."""
        await self.settle(recorder)
        if not self._performed(key, many):
            yield
            return
        turn = await self._begun(recorder, place)
        try:
            yield
        except (Failure, ModelFailure):
            self._unseen.append(turn)
            await self.settle(recorder)
            raise
        except BaseException:
            self._unseen.append(turn)
            raise
        self._unseen.append(turn)
        await self.settle(recorder)

    async def settle(self, recorder: Recorder) -> None:
        """Compare after each turn that has ended, and ask. One after the other: two turns at once see the same. It
        belongs to the turn: a pause waits for what comes after it."""
        if not self._unseen:
            return
        async with self._lock:
            with recorder.undivided():
                await self._settle(recorder)

    async def _settle(self, recorder: Recorder) -> None:
        while self._unseen:
            await self._settled(recorder, self._unseen[0])
            del self._unseen[0]

    async def _scanner(self, recorder: Recorder) -> Scanner:
        async def look() -> list[str]:
            return sorted(set(await asyncio.to_thread(lambda: list(self._exact()))))

        async with self._ready:
            if self._known is None:
                exact = await recorder.call(f"{MARK}paths-{recorder.run_id}", look)
                self._known = Scanner(self._root, Protected.of(self._settings, exact), self._kept.keep, (self._data,))
            return self._known

    async def _now(self, recorder: Recorder) -> Snapshot:
        return await asyncio.to_thread((await self._scanner(recorder)).take)

    # -- one turn ----------------------------------------------------------------------------------

    async def _begun(self, recorder: Recorder, place: Place) -> Place:
        """The place under which the turn is recorded."""
        number = 1
        while recorder.recall((own := _own(place, recorder.run_id, number)).part("before")) is not None:
            number += 1

        scanner = await self._scanner(recorder)

        async def look() -> _Before:
            fields = cast("dict[str, str | int]", place.fields())
            try:
                found = await asyncio.to_thread(scanner.take)
                name = await asyncio.to_thread(self._kept.keep_snapshot, found)
            except OSError as error:
                told = f"the list of protected files cannot be saved in {self._data}: {error.strerror or error}"
                raise Failure("protected_files", told, "free some space there, then start the run again") from error
            return {"of": name, "place": fields, "partial": found.partial}

        before = await recorder.call(own.part("before"), look)
        if before["partial"] and not self._told_partial:
            self._told_partial = True
            told = f"only the first {MOST_FILES:,} protected files are compared: there are more, or too many folders"
            await recorder.record(own.part("partial"), [Warned(code="protected_partly", message=told).fact(place)])
        return own

    async def _settled(self, recorder: Recorder, own: Place) -> None:
        before = cast("_Before | None", recorder.recall(own.part("before")))
        if before is None or recorder.recall(own.part("closed")) is not None:
            return
        was = await asyncio.to_thread(self._kept.snapshot, before["of"])
        place = _place_of(before)
        for number in range(1, 1_000):
            found = await self._compared(recorder, own, number, was)
            if not found["total"]:
                break
            asked_at = _at(place, f"{own.key}.{number}")
            decision = await self._asked(recorder, asked_at, found, was is None)
            if decision == "restore" and was is not None:
                await self._restored(recorder, own, number, place, was)
                continue
            if decision == "approve":
                await self._allow(recorder, was)
                break
            raise EndsRun(Failure("protected_files", f"a person stopped the run: {_told(found)}", "", "rejected"))
        await recorder.record(own.part("closed"), answer=True)

    async def _compared(self, recorder: Recorder, own: Place, number: int, was: Snapshot | None) -> _After:
        async def look() -> _After:
            if was is None:
                return {"changes": [], "total": 1}
            changes = self._new(was, await self._now(recorder))
            return {"changes": changes[:MOST_LISTED], "total": len(changes)}

        return await recorder.call(own.part(f"after.{number}"), look)

    def _new(self, was: Snapshot, now: Snapshot) -> list[Change]:
        """Without what a person has allowed meanwhile, after another turn."""
        nothing = object()
        return [
            change
            for change in was.changes(now)
            if self._allowed.get(change["path"], nothing) != now.entries.get(change["path"])
        ]

    async def _asked(self, recorder: Recorder, place: Place, found: _After, lost: bool) -> str:
        key = place.part("loop_id")
        loop_id = cast("str | None", recorder.recall(key))
        if loop_id is None:
            loop_id = str(uuid.uuid4())
            await recorder.record(key, answer=loop_id)
        told = _LOST if lost else f"{_sentence(_told(found))}\n\n{_listed(found)}"
        asked = ManualApprovalRequired(
            iteration=place.iteration or 1,
            output=told,
            loop_id=loop_id,
            protected=None if lost else [{"path": one["path"], "change": one["change"]} for one in found["changes"]],
        )
        return (await recorder.approval(place, asked)).decision

    async def _restored(self, recorder: Recorder, own: Place, number: int, place: Place, was: Snapshot) -> None:
        async def put_back() -> dict[str, str]:
            changes = self._new(was, await self._now(recorder))
            failed = await asyncio.to_thread(self._kept.put_back, self._root, was, changes)
            back = [change["path"] for change in changes if change["path"] not in failed]
            return {"back": _names(back), "failed": "; ".join(f"{path}: {why}" for path, why in failed.items())}

        def facts(found: dict[str, str]) -> list[Fact]:
            told: list[Fact] = []
            if found["back"]:
                message = f"protected files were restored: {found['back']}"
                told.append(Warned(code="protected_restored", message=message).fact(place))
                note = f"A person restored these files: {found['back']}. Leave them as they are."
                told.append(NoteAdded(text=note).fact())
            if found["failed"]:
                message = f"protected files could not be restored ({found['failed']})"
                told.append(Warned(code="protected_not_restored", message=message).fact(place))
            return told

        await recorder.call(own.part(f"restored.{number}"), put_back, facts)

    async def _allow(self, recorder: Recorder, was: Snapshot | None) -> None:
        now = await self._now(recorder)
        for change in (was or Snapshot()).changes(now):
            self._allowed[change["path"]] = now.entries.get(change["path"])

    def over(self) -> None:
        """The run has ended."""
        self._kept.over()


_LOST = (
    "The state of the protected files before this turn of the agent is no longer known (it is missing in the engine's "
    "data folder). Check the files, then decide whether the run may continue."
)


@contextmanager
def guarding(guard: Guard | None) -> Iterator[None]:
    """What is done inside, by tasks that are started there too, is guarded."""
    before = _guard.set(guard)
    try:
        yield
    finally:
        _guard.reset(before)


@asynccontextmanager
async def guarded(
    recorder: Recorder, place: Place, key: str, many: bool = False, writes: bool = True
) -> AsyncIterator[None]:
    """One turn of an agent, which is recorded under `key`; `many`: as several calls, of which that is the first. Not
    guarded is what cannot write (not `writes`), and what is outside of a run."""
    guard = _guard.get()
    if guard is None or not writes:
        yield
        return
    async with guard.turn(recorder, place, key, many):
        yield


@asynccontextmanager
async def asking(
    providers: Iterable[str], purpose: str, recorder: Recorder, place: Place, key: str
) -> AsyncIterator[None]:
    """One question to providers of which some may be agents that write."""
    guard = _guard.get()
    writes = guard is not None and any(guard.works(provider, purpose) for provider in providers)
    async with guarded(recorder, place, key, writes=writes):
        yield


def _own(place: Place, run_id: str, number: int) -> Place:
    return _at(place, f"{place.key}{MARK}{number}-{run_id}")


def _at(place: Place, key: str) -> Place:
    return Place(key, place.workflow, place.file, place.depth, place.loop, place.iteration)


def _place_of(before: _Before) -> Place:
    """Where a turn was, from its fields."""
    found = before["place"]
    loop, iteration = found.get("loop"), found.get("iteration")
    return Place(
        str(found.get("place", "")),
        str(found.get("workflow", "")),
        str(found.get("file", "")),
        int(found.get("depth", 0)),
        None if loop is None else str(loop),
        None if iteration is None else int(iteration),
    )


def _unseen(answered: Iterable[str]) -> Iterator[Place]:
    """Turns that began before the engine went away, and were not seen to their end."""
    known = {key for key in answered if MARK in key}
    for key in sorted(known):
        own = key.removesuffix(":before")
        if re.search(rf"{MARK}[^:/]*:before$", key) and f"{own}:closed" not in known:
            yield Place(own)


def _told(found: _After) -> str:
    """As the end of a sentence."""
    count = found["total"]
    names = _names([f"{one['path']} ({one['change']})" for one in found["changes"]], count)
    return f"the agent touched {'a protected file' if count == 1 else f'{count} protected files'}: {names}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _names(names: list[str], total: int | None = None) -> str:
    more = (total or len(names)) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _listed(found: _After) -> str:
    return "\n".join(f"- {one['path']}: {one['change']}" for one in found["changes"])
