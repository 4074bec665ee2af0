"""The prompts of a run, read from its record: the program goes its way once more, over recorded answers.

Nothing is asked, started or written: a call that is recorded is taken from the record, and at the first
one that is not the way ends. Prompts are not kept, because a history in each would make the record grow
with its square.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from loop_ls.engine.asking import request_of
from loop_ls.engine.journal import Journal
from loop_ls.engine.plan import Program, read_plan
from loop_ls.engine.ports import (
    EmbedReply,
    Fact,
    Failure,
    Json,
    ModelFailure,
    ModelReply,
    ModelRequest,
    Stopped,
)
from loop_ls.engine.recorder import replayed
from loop_ls.engine.refusal import Refused
from loop_ls.engine.unrecorded import Unrecorded

#: More prompts than this are not given at once: `place` says which are wanted.
MOST = 200
#: After so many calls others get their turn.
BREATH = 20

Row = dict[str, Any]


async def prompts(journal: Journal, programs: Mapping[str, Program], run_id: str, place: str = "") -> list[Row]:
    """`[{place, purpose, provider, model, prompt, system?}]` of the calls at `place` or inside it, in the
    order in which they were made. Raises `Refused`."""
    started = (await journal.facts(run_id, 0, 1)).events[0]
    if started.body.get("format") != "workflow":
        raise Refused("bad_argument", "Only the prompts of a workflow can be read from its record.")
    plan = await journal.read(read_plan, run_id, started.body, journal.storage.text)
    reader = Reader(run_id, journal, place)
    with suppress(Stopped, Failure, ModelFailure):
        await programs["workflow"].run(plan, reader, Nobody())
    return reader.found


class Reader(Unrecorded):
    """The recorder of a way that was gone already."""

    def __init__(self, run_id: str, journal: Journal, place: str) -> None:
        self.run_id, self.found = run_id, list[Row]()
        self._journal, self._place, self._calls = journal, place, 0
        self._noted: dict[str, Json] = {}

    async def call(
        self,
        key: str,
        work: Callable[[], Awaitable[Json]],
        facts: Callable[[Json], Iterable[Fact]] = lambda answer: (),
        before: Sequence[Fact] = (),
    ) -> Json:
        """`work` is never done; only what it would ask is read."""
        self._calls += 1
        if self._calls % BREATH == 0:
            await asyncio.sleep(0)
        request = request_of(work)
        if request is not None and self._wanted(request.place):
            self.found.append(_row(request))
        answer = self._journal.recall(self.run_id, key)
        if answer is None or len(self.found) >= MOST:
            raise Stopped
        return replayed(answer)

    def _wanted(self, place: str) -> bool:
        return not self._place or place == self._place or place.startswith((f"{self._place}/", f"{self._place}:"))

    def recall(self, key: str) -> Json:
        """Only what was noted on this way: a short cut past a finished iteration would lead past its prompts."""
        return self._noted.get(key)

    async def record(self, key: str, facts: Sequence[Fact] = (), answer: Json = None) -> None:
        self._noted.setdefault(key, answer)

    async def now(self, key: str) -> float:
        known = self._journal.recall(self.run_id, key)
        return float(known.get("value") or 0.0) if known else 0.0

    async def sleep(self, key: str, seconds: float) -> None:
        return


class Nobody:
    """Models that are never asked."""

    def problem(self, name: str) -> ModelFailure | None:
        return None

    async def ask(self, request: ModelRequest, on_text: Any = None, on_wait: Any = None) -> ModelReply:
        raise Stopped

    async def embed(self, request: Any, on_wait: Any = None) -> EmbedReply:
        raise Stopped


def _row(request: ModelRequest) -> Row:
    row = {
        "place": request.place,
        "purpose": request.purpose,
        "provider": request.provider,
        "model": request.model,
        "prompt": request.prompt,
        "system": request.system,
    }
    return {name: value for name, value in row.items() if value is not None}
