"""A run's record in memory, for tests of everything that works through the `Recorder` port.

It keeps the promises of the real one: a known key does no work again, answers are JSON, facts come
with their answer, a stop ends the call in flight. `again()` is the same journal after a restart.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from loop_ls.engine.ports import Fact, Json, Stopped


class MemoryRecorder:
    """The `Recorder` port without a journal file. `worked` lists the keys whose work was really done."""

    def __init__(self, run_id: str = "run-1") -> None:
        self.run_id = run_id
        self.answers: dict[str, str] = {}
        self.facts: list[Fact] = []
        self.worked: list[str] = []
        self.texts: list[tuple[str, dict[str, Json]]] = []
        self.slept: list[float] = []
        self._going = asyncio.Event()
        self._going.set()
        self._stopped = False
        self._calls: set[asyncio.Future[Any]] = set()

    def again(self) -> MemoryRecorder:
        """A recorder for the same run after a crash: same journal, nothing in flight."""
        other = MemoryRecorder(self.run_id)
        other.answers, other.facts = dict(self.answers), list(self.facts)
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

    async def call(
        self,
        key: str,
        work: Callable[[], Awaitable[Json]],
        facts: Callable[[Json], Iterable[Fact]] = lambda answer: (),
    ) -> Json:
        if key in self.answers:
            return json.loads(self.answers[key])
        if self._stopped:
            raise Stopped
        self.worked.append(key)
        written = json.dumps(await self._unless_stopped(work()))
        answer = json.loads(written)
        self.answers[key] = written
        self.facts += [(kind, json.loads(json.dumps(body))) for kind, body in facts(answer)]
        return answer

    async def record(self, key: str, facts: Sequence[Fact]) -> None:
        if key not in self.answers:
            self.answers[key] = "null"
            self.facts += [(kind, json.loads(json.dumps(body))) for kind, body in facts]

    async def gate(self) -> None:
        await self._going.wait()
        if self._stopped:
            raise Stopped

    def stream(self, text: str, **place: Json) -> None:
        self.texts.append((text, place))

    async def now(self, key: str) -> float:
        return float(json.loads(self.answers.setdefault(key, json.dumps(asyncio.get_running_loop().time()))))

    async def sleep(self, key: str, seconds: float) -> None:
        if key in self.answers:
            return
        self.slept.append(seconds)
        await self._unless_stopped(asyncio.sleep(seconds))
        self.answers[key] = "null"

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
