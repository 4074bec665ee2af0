"""A run's record in memory, for tests of everything that works through the `Recorder` port.

It keeps the promises of the real one: a known key does no work again, answers are JSON, facts come
with their answer, a stop ends the call in flight. `again()` is the same journal after a restart.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Literal

from loop_ls.contract.facts.kinds import ApprovalResolved, ManualApprovalRequired, Paused, Resumed
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Approval, Decision, Fact, Failure, Json, ModelFailure, Stopped

_FAILURES = {"Failure": Failure, "ModelFailure": ModelFailure}


class MemoryRecorder:
    """The `Recorder` port without a journal file. `worked` lists the keys whose work was really done."""

    def __init__(self, run_id: str = "run-1") -> None:
        self.run_id = run_id
        self.entries: dict[str, str] = {}
        self.facts: list[Fact] = []
        self.worked: list[str] = []
        self.texts: list[tuple[str, dict[str, Json]]] = []
        self.slept: list[float] = []
        self._going = asyncio.Event()
        self._going.set()
        self._stopped = False
        self._undivided = 0
        self._decisions: asyncio.Queue[Approval] = asyncio.Queue()
        self._told: asyncio.Queue[Json] = asyncio.Queue()
        self._calls: set[asyncio.Future[Any]] = set()

    def again(self) -> MemoryRecorder:
        """A recorder for the same run after a crash: same journal, nothing in flight."""
        other = MemoryRecorder(self.run_id)
        other.entries, other.facts = dict(self.entries), list(self.facts)
        return other

    def of(self, kind: str) -> list[dict[str, Json]]:
        """The bodies of all facts of one kind, in order."""
        return [body for name, body in self.facts if name == kind]

    def pause(self) -> None:
        self._going.clear()

    def resume(self) -> None:
        self._going.set()

    def stop(self) -> None:
        """What a person's stop does: the calls in flight end at once, and nothing new begins."""
        self._stopped = True
        self._going.set()
        for call in self._calls:
            call.cancel()

    def decide(self, approved: bool, feedback: str | None = None, decision: Decision | None = None) -> None:
        """What a person will answer to the next question that nobody has answered yet."""
        self._decisions.put_nowait(Approval(approved, decision or ("approve" if approved else "reject"), feedback))

    async def approval(self, place: Place, asked: ManualApprovalRequired) -> Approval:
        key = place.part("approval")
        if key not in self.entries:
            if f"{key}:begun" not in self.entries:
                self._write(f"{key}:begun", {"answer": None}, [asked.fact(place)])
            decided = await self._unless_stopped(self._decisions.get())
            resolved = ApprovalResolved(loop_id=asked.loop_id, **asdict(decided))
            self._write(key, {"answer": asdict(decided)}, [resolved.fact(place)])
        return Approval(**_opened(self.entries[key]))

    def tell(self, answer: Json) -> None:
        """What the outside will answer to the next question that nobody has answered yet."""
        self._told.put_nowait(answer)

    async def outside(self, key: str, asked: Sequence[Fact], seconds: float | None, late: Json) -> Json:
        if key not in self.entries:
            if f"{key}:begun" not in self.entries:
                self._write(f"{key}:begun", {"answer": None}, asked)
            try:
                async with asyncio.timeout(seconds):
                    told = await self._unless_stopped(self._told.get())
            except TimeoutError:
                told = late
            self._write(key, {"answer": told})
        return _opened(self.entries[key])

    def recall(self, key: str) -> Json:
        return _opened(self.entries[key]) if key in self.entries else None

    async def call(
        self,
        key: str,
        work: Callable[[], Awaitable[Json]],
        facts: Callable[[Json], Iterable[Fact]] = lambda answer: (),
        before: Sequence[Fact] = (),
    ) -> Json:
        if key in self.entries:
            return _opened(self.entries[key])
        if self._stopped:
            raise Stopped
        self.worked.append(key)
        await self.record(f"{key}:begun", before)
        try:
            answer = json.loads(json.dumps(await self._unless_stopped(work())))
        except (Failure, ModelFailure) as failure:
            self._write(key, {"failure": type(failure).__name__, "fields": asdict(failure)})
            raise
        self._write(key, {"answer": answer}, facts(answer))
        return answer

    async def record(self, key: str, facts: Sequence[Fact] = (), answer: Json = None) -> None:
        if key not in self.entries:
            self._write(key, {"answer": answer}, facts)

    def changed(self) -> dict[str, Json]:
        return {}

    async def hold(self, key: str, reason: Literal["stalled"]) -> None:
        if key not in self.entries:
            self._write(key, {"answer": True}, [Paused(reason=reason).fact()])
            self.pause()

    async def park(self, key: str, until: float, because: str) -> None:
        """Time passes at once."""
        if key not in self.entries:
            self._write(key, {"answer": True}, [Paused(reason="exhausted", because=because).fact(), Resumed().fact()])

    @contextmanager
    def undivided(self) -> Iterator[None]:
        self._undivided += 1
        try:
            yield
        finally:
            self._undivided -= 1

    async def gate(self) -> None:
        if not self._undivided:
            await self._going.wait()
        if self._stopped:
            raise Stopped

    def stream(self, text: str, **place: Json) -> None:
        self.texts.append((text, place))

    def streamed(self, **place: Json) -> None:
        return

    async def now(self, key: str) -> float:
        if key not in self.entries:
            self._write(key, {"answer": asyncio.get_running_loop().time()})
        return float(_opened(self.entries[key]))

    async def sleep(self, key: str, seconds: float) -> None:
        if key in self.entries:
            return
        self.slept.append(seconds)
        await self._unless_stopped(asyncio.sleep(seconds))
        self._write(key, {"answer": None})

    def left_usd(self) -> float | None:
        return None

    def active(self) -> float:
        return asyncio.get_running_loop().time()

    def _write(self, key: str, entry: Json, facts: Iterable[Fact] = ()) -> None:
        self.entries[key] = json.dumps(entry)
        self.facts += [(kind, json.loads(json.dumps(body))) for kind, body in facts]

    async def _unless_stopped(self, work: Awaitable[Json]) -> Json:
        if self._stopped:
            raise Stopped
        call = asyncio.ensure_future(work)
        self._calls.add(call)
        try:
            return await call
        except asyncio.CancelledError:
            if self._stopped:
                raise Stopped from None
            raise
        finally:
            self._calls.discard(call)
            call.cancel()


def _opened(entry: str) -> Json:
    found = json.loads(entry)
    if "failure" in found:
        raise _FAILURES[found["failure"]](**found["fields"])
    return found["answer"]
