"""Runs that concern no document of this client, for a client that lists all runs of its folders.

Of those it gets only the state: once when one begins, then as often as eyes can follow. Facts and text of
them are not passed on; whoever opens one asks for them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from loop_ls.contract.endings import ENDED
from loop_ls.text.json_value import JsonObject, plain_object

if TYPE_CHECKING:
    from loop_ls.server.documents.session import Session
    from loop_ls.server.runs.engine_connection import EngineLink
    from loop_ls.server.tasks import Tasks

logger = logging.getLogger(__name__)

#: Seconds between two states of one run.
EVERY = 0.4


class ForeignRuns:
    """At most one question about a run is on its way, and at most one waits for its turn."""

    def __init__(
        self, session: Session, tasks: Tasks, tell: Callable[[JsonObject], None], every: float = EVERY
    ) -> None:
        self._session, self._tasks = session, tasks
        self._tell, self._every = tell, every
        self._due: dict[str, asyncio.TimerHandle] = {}
        self._again: set[str] = set()
        self.live: dict[str, JsonObject] = {}

    def heard(self, link: EngineLink, run_id: str) -> None:
        """Something happened to a run."""
        if not self._session.lists_runs:
            return
        if run_id in self._due:
            self._again.add(run_id)
            return
        self._due[run_id] = asyncio.get_running_loop().call_later(self._every, self._next, link, run_id)
        self._tasks.start(self._read(link, run_id), f"state of {run_id}")

    def drop(self, run_id: str) -> None:
        """It is followed fact by fact from here on, or it is gone."""
        self._again.discard(run_id)
        self.live.pop(run_id, None)

    def all_again(self, link: EngineLink) -> None:
        """The engine is back: what went on may have ended meanwhile."""
        for run_id in tuple(self.live):
            self.heard(link, run_id)

    def close(self) -> None:
        for timer in self._due.values():
            timer.cancel()
        self._due.clear()

    def _next(self, link: EngineLink, run_id: str) -> None:
        del self._due[run_id]
        if run_id in self._again:
            self._again.discard(run_id)
            self.heard(link, run_id)

    async def _read(self, link: EngineLink, run_id: str) -> None:
        if (client := link.client) is None:
            return
        answer = await client.status(run_id)
        if not answer["ok"]:
            return
        state = plain_object(answer["state"])
        if state.get("status") in ENDED:
            self.live.pop(run_id, None)
        else:
            self.live[run_id] = state
        self._tell(state)
