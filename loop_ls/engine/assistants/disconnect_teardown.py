"""Whose sockets are there, and what happens to the runs of a user whose last one left.

Only the last socket counts, only after the grace time, and whoever comes back in time changes nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping

from loop_ls.engine.events import RunState

#: How long a teardown may take in all, whatever one run does.
BOUND = 5.0
SWITCH, GRACE = "RONDOFLOW_TEARDOWN_ON_DISCONNECT", "RONDOFLOW_TEARDOWN_GRACE_MS"
GRACE_MS = 60_000
#: Origin of runs that were started over a socket.
SOCKET = "socket"
User = str | None
Pause = Callable[[float], Awaitable[None]]


class DisconnectTeardown:
    """`teardown` ends the runs of a user; `grace` in seconds, None: never. `pause` waits for so long."""

    def __init__(
        self, teardown: Callable[[User], Awaitable[None]], grace: float | None, pause: Pause = asyncio.sleep
    ) -> None:
        self._teardown, self._grace, self._pause = teardown, grace, pause
        self._sockets: Counter[User] = Counter()
        self._waiting: dict[User, asyncio.Task[None]] = {}
        self._closed = False

    @property
    def total(self) -> int:
        return self._sockets.total()

    def there(self, user: User) -> bool:
        return self._sockets[user] > 0

    def came(self, user: User) -> None:
        self._sockets[user] += 1
        waiting = self._waiting.pop(user, None)
        if waiting is not None:
            waiting.cancel()

    def left(self, user: User) -> None:
        self._sockets[user] -= 1
        self.expect(user)

    def expect(self, user: User) -> None:
        """Somebody whose runs go on has the grace time to come, or to come back."""
        if self._grace is not None and not self._closed and not self.there(user):
            earlier = self._waiting.pop(user, None)
            if earlier is not None:
                earlier.cancel()
            self._waiting[user] = asyncio.get_running_loop().create_task(self._later(user, self._grace))

    async def aclose(self) -> None:
        """The engine leaves: its runs go on when it comes back, so nobody's leaving counts any more."""
        self._closed = True
        waiting = list(self._waiting.values())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _later(self, user: User, grace: float) -> None:
        await self._pause(grace)
        if not self.there(user):
            await self._teardown(user)
        self._waiting.pop(user, None)


def grace_of(environ: Mapping[str, str], on: bool = True, ms: int = GRACE_MS) -> float | None:
    """Seconds of grace; None: runs are never torn down. The variables of the original program win over
    the settings, read as it reads them: only `0` is off, and a number counts as far as it is one."""
    switch = environ.get(SWITCH)
    if switch == "0" or (switch is None and not on):
        return None
    found = re.match(r"\s*[+-]?\d+", environ.get(GRACE, ""))
    given = int(found.group()) if found else -1
    return (given if given >= 0 else ms) / 1000


def started_over_sockets(live: Iterable[RunState]) -> set[User]:
    """Whose sockets started loops that go on: they may all be gone since an engine before."""
    return {run.user for run in live if run.format == "assistant" and run.origin == SOCKET and not run.detach}


def attended_runs(live: Iterable[RunState], user: User) -> list[str]:
    """The loops of assistants that end with their user. A detached run is nobody's."""
    return [run.run_id for run in live if run.format == "assistant" and run.user == user and not run.detach]


async def tear_down(runs: Iterable[str], stop: Callable[[str], Awaitable[object]], bound: float = BOUND) -> None:
    """Stop all of them at once; one that raises or hangs keeps nobody. Never raises."""
    tasks = [asyncio.ensure_future(stop(run_id)) for run_id in runs]
    if not tasks:
        return
    done, hanging = await asyncio.wait(tasks, timeout=bound)
    for task in hanging:
        task.cancel()
    for task in done:
        task.exception()
