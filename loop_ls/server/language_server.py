"""The language server of one client: its life cycle, and what is done when nobody waits.

Speaks through pygls (`rpc`), answers by the table of routes, and leaves the work to the parts of its context.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, cast

from lsprotocol import types as lsp

from loop_ls import __version__
from loop_ls.contract.operations import COMMANDS
from loop_ls.server.capabilities import client_facts, server_capabilities
from loop_ls.server.client import Client
from loop_ls.server.routes.table import ROUTES, Kind, Route
from loop_ls.server.rpc.message_queue import Inbox
from loop_ls.server.rpc.protocol import RpcServer
from loop_ls.server.tasks import Tasks
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loop_ls.server.context import Context
    from loop_ls.server.rpc.protocol import LoopProtocol
    from loop_ls.server.runs.engine_connection import EngineAccess

logger = logging.getLogger(__name__)

#: Seconds without a message after which start-up work that can wait is done.
_QUIET = 0.25
#: A client that asks without a pause waits no longer than this for what is known of the files it opened.
_PATIENCE = 2.0


class LoopServer:
    """One server for one client."""

    def __init__(self, access: EngineAccess | None = None) -> None:
        self._rpc = RpcServer(self)
        self._client = Client(self._rpc.protocol)
        self._tasks = Tasks()
        self._access = access
        self._context: Context | None = None
        self._begin_with: JsonObject = {}
        self._warm = False
        self._started = False
        self._ended: asyncio.Future[int] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._waiting_since: float | None = None
        self._register()

    @property
    def protocol(self) -> LoopProtocol:
        return self._rpc.protocol

    @property
    def context(self) -> Context:
        """Built when it is needed first: what it imports takes as long as all of a start before it."""
        if self._context is None:
            from loop_ls.server.context import build

            context = build(self._client, self._tasks, self._access)
            context.session.begin(self._begin_with, self._client.facts)
            self._context = context
        return self._context

    def _register(self) -> None:
        register = self._rpc.feature
        # pygls marks what it registers, which a bound method does not allow.
        register(lsp.INITIALIZE)(partial(self._initialize))
        register(lsp.INITIALIZED)(partial(self._initialized))
        register(lsp.SHUTDOWN)(partial(self._shutdown))
        for route in ROUTES:
            answer: Callable[[Route, JsonObject], object] = (
                self._answer_later if route.kind is Kind.WAIT else self._answer
            )
            register(route.method)(partial(answer, route))

    def _answer(self, route: Route, params: JsonObject) -> object:
        return route.function(self.context, params)

    async def _answer_later(self, route: Route, params: JsonObject) -> object:
        return await cast("Awaitable[object]", route.function(self.context, params))

    # -- the conversation ---------------------------------------------------------------------

    def _initialize(self, params: JsonObject) -> JsonObject:
        self._client.facts = client_facts(params)
        self._begin_with = params
        # While the client reads the answer: load what its first document needs.
        asyncio.get_running_loop().call_soon(self._rehearse)
        return {
            "capabilities": server_capabilities(self._client.facts, tuple(COMMANDS)),
            "serverInfo": {"name": "loop-ls", "version": __version__},
        }

    def _rehearse(self) -> None:
        from loop_ls.server.warm_up import rehearse

        assert self.context
        rehearse()
        gc.freeze()  # what was imported stays

    def _initialized(self, params: JsonObject) -> None:
        from loop_ls.server import dynamic_registration

        self._tasks.start(dynamic_registration.register(self.context), "registrations")
        self._started = True
        self._later()

    async def _shutdown(self, params: JsonObject) -> None:
        await self._close()

    async def _close(self) -> None:
        if self._context is not None:
            await self._context.close()

    def settled(self) -> None:
        """A batch of messages was handled: say what changed by it."""
        context = self._context
        if context is None:
            return
        context.publisher.flush()
        if not gc.isenabled():
            # A document was opened: its tree need not be walked by any later collection.
            gc.freeze()
            gc.enable()
        if self._started and context.session.open:
            # The first diagnostics are out: now the files that nobody has open.
            self._started = False
            asyncio.get_running_loop().call_soon(lambda: context.indexing.start())
        self._later()

    # -- what can wait ------------------------------------------------------------------------

    def _later(self) -> None:
        """Work that can wait runs when the client has been quiet for a moment, or never is."""
        loop = asyncio.get_running_loop()
        if self._waiting_since is None:
            self._waiting_since = loop.time()
        if self._idle is not None:
            self._idle.cancel()
        left = self._waiting_since + _PATIENCE - loop.time()
        self._idle = loop.call_later(min(_QUIET, max(0.0, left)), self._quiet, left > 0)

    def _quiet(self, quiet: bool) -> None:
        from loop_ls.formats.common.did_you_mean import learn

        context = self.context
        session, texts, indexing = context.session, context.texts, context.indexing
        self._idle = self._waiting_since = None
        indexing.start()
        self._warm_up()
        new, texts.new = texts.new, []
        for opened in new:
            learn(opened.document.names)
            if opened.folder.partial:
                self._tasks.start(indexing.look_beside(opened), "called workflows")
            if session.trusted:
                context.runs.get().opened(opened)
        for opened in session.open.values():
            if opened not in new and indexing.may_lie_beside(opened):
                self._tasks.start(indexing.look_beside(opened), "called workflows")
        if texts.fresh and quiet:
            # A fresh tree would otherwise be walked by every later collection, in the middle of a keystroke.
            texts.fresh = False
            gc.collect()
            gc.freeze()

    def _warm_up(self) -> None:
        if not self._warm:
            self._warm = True
            self._tasks.start(self._warm_slowly(), "warm-up")

    async def _warm_slowly(self) -> None:
        """Import what requests need: each costs its first user some milliseconds. Messages go first."""
        from loop_ls.server.warm_up import practise

        for route in ROUTES:
            route.load()
            await asyncio.sleep(0)
        practise()

    # -- running ------------------------------------------------------------------------------

    def failed(self, method: str, params: object, error: BaseException) -> Path | None:
        """A fault of ours: into the log, and into a file; where that is."""
        if self._context is None:  # it may be what cannot be built
            logger.error("%s failed", method, exc_info=error)
            return None
        crashes = self._context.crashes
        place, report = crashes.place_of(params), crashes.write(method, params, error)
        told = f"; to report it, attach {report}" if report else ""
        logger.error("%s failed%s%s", method, f" for {place}" if place else "", told, exc_info=error)
        return report

    def listen(self) -> Inbox:
        """Where messages of the client go from now on. Called inside the running loop."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        return Inbox(loop, self.protocol.receive)

    def stop(self, status: int) -> None:
        """End the process with this status. The first reason counts."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(status)

    async def ended(self) -> int:
        assert self._ended is not None
        status = await self._ended
        await self._close()
        return status
