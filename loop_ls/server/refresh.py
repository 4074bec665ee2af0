"""Asks the client to ask again, when what it shows changed by something else than typing."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.server.client import Refused

if TYPE_CHECKING:
    from loop_ls.server.client import Client
    from loop_ls.server.tasks import Tasks

logger = logging.getLogger(__name__)

#: Seconds between two requests of one kind.
_EVERY = 0.25


class Refresh:
    """At most one request of a kind is on its way, and at most four in a second."""

    def __init__(self, client: Client, tasks: Tasks) -> None:
        self._client, self._tasks = client, tasks
        self._due: dict[str, asyncio.TimerHandle] = {}

    def lenses(self) -> None:
        if self._client.facts.lens_refresh:
            self._later(lsp.WORKSPACE_CODE_LENS_REFRESH)

    def inlays(self) -> None:
        if self._client.facts.inlay_refresh:
            self._later(lsp.WORKSPACE_INLAY_HINT_REFRESH)

    def tokens(self) -> None:
        if self._client.facts.token_refresh:
            self._later(lsp.WORKSPACE_SEMANTIC_TOKENS_REFRESH)

    def runs(self, begun_or_ended: bool = False) -> None:
        """What shows runs: lenses and hints with each fact, colours only when one begins or ends."""
        self.lenses()
        self.inlays()
        if begun_or_ended:
            self.tokens()

    def diagnostics(self) -> None:
        """For a client that pulls them; others are told."""
        if self._client.facts.diagnostic_refresh:
            self._later(lsp.WORKSPACE_DIAGNOSTIC_REFRESH)

    def close(self) -> None:
        for timer in self._due.values():
            timer.cancel()
        self._due.clear()

    def _later(self, method: str) -> None:
        if method not in self._due:
            self._due[method] = asyncio.get_running_loop().call_later(_EVERY, self._now, method)

    def _now(self, method: str) -> None:
        del self._due[method]
        self._tasks.start(self._ask(method), method)

    async def _ask(self, method: str) -> None:
        try:
            await self._client.ask(method)
        except (Refused, TimeoutError) as error:
            logger.info("The client rejected %s: %s", method, error)
