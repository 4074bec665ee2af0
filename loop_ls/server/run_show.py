"""Shows runs in the editor: notifications, progress, lenses, run diagnostics. Decides nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loop_ls.server.protocol import Refused
from loop_ls.server.run_progress import RunProgress
from loop_ls.server.run_text import TextFeed

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer
    from loop_ls.server.run_record import RunRecord

logger = logging.getLogger(__name__)

Json = dict[str, Any]
EVENT = "loopLs/event"
RUN = "loopLs/run"
#: Seconds between two requests to draw lenses again.
_LENSES_EVERY = 0.25


class RunShow:
    """Everything that an editor is told of runs."""

    def __init__(self, server: LoopServer) -> None:
        self._server = server
        self._texts = TextFeed(lambda event: server.protocol.notify(EVENT, event))
        self._progress: dict[str, RunProgress] = {}
        self._lenses: asyncio.TimerHandle | None = None

    def text(self, record: RunRecord, event: Json) -> None:
        self._texts.add(event)

    def fact(self, record: RunRecord, fact: Json) -> None:
        self._texts.push(record.run_id)
        self._server.protocol.notify(EVENT, fact)

    def state(self, record: RunRecord) -> None:
        """The folded state is as new as the facts."""
        self._server.protocol.notify(RUN, record.state)
        self._show_progress(record)
        opened = self._server.session.open.get(record.key)
        if opened is not None:
            self._server.publisher.publish_runs(opened)
            self.redraw_lenses()

    def lost(self, records: Iterable[RunRecord]) -> None:
        """The engine is gone and did not come back at once."""
        for record in records:
            record.state = {**record.state, "status": "interrupted", "reason": "engine_restart"}
            self._server.protocol.notify(RUN, record.state)
            if progress := self._progress.pop(record.run_id, None):
                progress.end("interrupted: the engine is gone")
        self.redraw_lenses()

    def redraw_lenses(self) -> None:
        """Ask for lenses again, now and then at most every quarter of a second."""
        if self._server.client.lens_refresh and self._lenses is None:
            self._lenses = asyncio.get_running_loop().call_later(_LENSES_EVERY, self._redraw)

    def close(self) -> None:
        self._texts.close()
        if self._lenses is not None:
            self._lenses.cancel()
            self._lenses = None

    def _show_progress(self, record: RunRecord) -> None:
        progress = self._progress.get(record.run_id)
        if progress is not None:
            progress.update()
            if record.ended:
                del self._progress[record.run_id]
        elif self._server.client.progress and not record.ended:
            self._progress[record.run_id] = RunProgress(self._server, record)

    def _redraw(self) -> None:
        self._lenses = None
        self._server.own(self._ask_lenses(), None, "lens refresh")

    async def _ask_lenses(self) -> None:
        try:
            await self._server.protocol.ask(types.WORKSPACE_CODE_LENS_REFRESH)
        except (Refused, TimeoutError) as error:
            logger.info("The client draws no lenses again: %s", error)
