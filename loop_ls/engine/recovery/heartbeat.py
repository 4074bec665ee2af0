"""Whether the parts of an engine that bring loops forward are alive: each one beats, and is heard.

A start is refused at once where one of them has been silent for too long, instead of leaving a loop that
nothing moves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from loop_ls.engine.core.errors import Refused
from loop_ls.text.json_value import JsonObject

#: Seconds of silence after which a part counts as gone, and between two beats.
SILENCE, BEAT = 15.0, 5.0
#: What is behind the words of the health document.
PARTS = {"loops": "advances loops", "tasks": "executes loops"}


class Heartbeat:
    """`check` is asked before each beat of `tasks`: it raises where no work can be done."""

    def __init__(self, check: Callable[[], Awaitable[object]], clock: Callable[[], float] = time.monotonic) -> None:
        self._check, self._clock = check, clock
        self._beats: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        for part in PARTS:
            self._beats[part] = self._clock()
        self._task = asyncio.create_task(self._go_on(), name="heartbeat")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1)

    def is_ready(self, part: str) -> bool:
        return part in self._beats and self._clock() - self._beats[part] <= SILENCE

    def wire(self) -> JsonObject:
        return {part: {"ready": self.is_ready(part)} for part in PARTS}

    def require_ready(self) -> None:
        """Raises `Refused`."""
        for part, told in PARTS.items():
            if not self.is_ready(part):
                message = f"The part of the engine that {told} is not responding."
                raise Refused(
                    "engine_not_ready",
                    message,
                    "Stop it with loop-ls engine stop; the next run starts it again.",
                    {"manager": part},
                )

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            self._beats["loops"] = self._clock()
            try:
                async with asyncio.timeout(BEAT):
                    await self._check()
            except Exception:
                continue
            self._beats["tasks"] = self._clock()


def unready(health: object, workspace_id: str) -> Refused | None:
    """Why an engine that shows this health document takes no start for a workspace; None: it does."""
    hint = "See `loop-ls engine status`."
    if not isinstance(health, dict):
        return Refused("engine_not_ready", "The engine returned an unreadable health status.", hint)
    if health.get("status") != "ok":
        return Refused("engine_not_ready", f"The status of the engine is `{health.get('status')}`.", hint)
    if health.get("workspace_id") != workspace_id:
        return Refused("engine_not_ready", "The engine serves another workspace.", hint)
    managers = health.get("managers")
    for part, told in PARTS.items():
        state = managers.get(part) if isinstance(managers, dict) else None
        if not (isinstance(state, dict) and state.get("ready") is True):
            message = f"The part of the engine that {told} is not responding."
            return Refused("engine_not_ready", message, hint)
    return None
