"""What the routes need of an engine. `service.Engine` is one; tests bring a small one of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from loop_ls.engine.events import RunState

Answer = dict[str, Any]


class Operations(Protocol):
    """Answers are plain JSON objects; a refusal is `{ok: False, code, message, hint}`."""

    @property
    def status(self) -> Answer:
        """`{startedAt, running, listeners, position}`; `position` is that of the newest fact."""
        ...

    @property
    def live(self) -> list[RunState]:
        """The states of the runs that have not ended."""
        ...

    async def start(self, argument: Answer, user: str | None = None) -> Answer: ...

    async def control(self, verb: str, run_id: str, **details: Any) -> Answer: ...

    async def approve(
        self,
        run_id: str,
        loop_id: str | None = None,
        approved: Any = None,
        decision: Any = None,
        feedback: Any = None,
    ) -> Answer: ...

    async def delete(self, run_id: str, whose: Callable[[str | None], bool] | None = None) -> Answer: ...

    async def fork(self, run_id: str, iteration: Any = None, user: str | None = None, **given: Any) -> Answer: ...

    async def replay(self, run_id: str, argument: Answer | None = None, user: str | None = None) -> Answer: ...

    async def export(self, run_id: str) -> Answer: ...

    async def take_in(self, document: Any) -> Answer: ...

    async def test_until(self, argument: Answer, user: str | None = None) -> Answer: ...

    async def enhance(self, verb: str, run_id: str, given: Answer | None = None) -> Answer: ...

    async def beside(self, run_id: str, project: str | None = None) -> Answer: ...

    async def change(self, run_id: str, changes: Any) -> Answer: ...

    async def runs(self, status: str | None = None, uri: str | None = None, limit: int | None = None) -> Answer: ...

    async def state(self, run_id: str) -> Answer: ...

    async def prompts(self, run_id: str, place: str = "") -> Answer: ...

    async def graph(self, run_id: str, place: str = "") -> Answer: ...

    async def events(self, run_id: str | None = None, after: int = 0, limit: int | None = None) -> Answer: ...

    async def iteration_events(self, run_id: str, wanted: str | None = None) -> Answer: ...

    def subscribe(self, after: int | None = None, run_id: str | None = None) -> AsyncIterator[tuple[int, Answer]]:
        """`(position, event)` above position `after`, each once, until the engine ends."""
        ...
