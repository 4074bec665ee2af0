"""The server as a whole: what is made at start, what happens when, and how it ends.

Holds the parts together and does none of their work.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any

from loop_ls import __version__
from loop_ls.formats.common.did_you_mean import learn
from loop_ls.server import dynamic_registration as registrations
from loop_ls.server.capabilities import ClientFacts, client_facts, server_capabilities
from loop_ls.server.command_names import COMMANDS
from loop_ls.server.diagnostics.publisher import Publisher
from loop_ls.server.diagnostics.workspace_stream import Reports
from loop_ls.server.documents.session import Session
from loop_ls.server.documents.text_sync import Texts
from loop_ls.server.refresh import Refresh
from loop_ls.server.routes import LATE, register, register_late
from loop_ls.server.rpc.message_queue import Inbox
from loop_ls.server.rpc.protocol import LoopProtocol
from loop_ls.server.tasks import Tasks
from loop_ls.server.warm_up import practise, rehearse

if TYPE_CHECKING:
    from pathlib import Path

    from loop_ls.rules.engine.finding import Finding
    from loop_ls.server.commands import Commands
    from loop_ls.server.crash_reports import CrashReports
    from loop_ls.server.documents.indexing import Indexing
    from loop_ls.server.documents.session import OpenDocument
    from loop_ls.server.runs.commands import Runs
    from loop_ls.server.runs.engine_connection import Door

logger = logging.getLogger(__name__)

#: Seconds without a message after which start-up work that can wait is done.
_QUIET = 0.25
#: A client that asks without a pause waits no longer than this for what is known of the files it opened.
_PATIENCE = 2.0


class LoopServer:
    """One server for one client."""

    def __init__(self, door: Door | None = None) -> None:
        self.protocol = LoopProtocol(self)
        self.client = ClientFacts()
        self.tasks = Tasks()
        self.session = Session()
        self.publisher = Publisher(self)
        self.reports = Reports(self)
        self.texts = Texts(self)
        self.refresh = Refresh(self)
        self._door = door
        #: The client tells of files that change on the disk.
        self.watches_files = False
        self._warm = False
        self._started = False
        self.late_groups: set[str] = set()
        self._ended: asyncio.Future[int] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._waiting_since: float | None = None
        self._crashes: CrashReports | None = None
        register(self)

    # -- the conversation ---------------------------------------------------------------------

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        self.client = client_facts(params)
        self.session.begin(params, self.client)
        # While the client reads the answer: load what its first document needs.
        asyncio.get_running_loop().call_soon(rehearse)
        return {
            "capabilities": server_capabilities(self.client, COMMANDS),
            "serverInfo": {"name": "loop-ls", "version": __version__},
        }

    def initialized(self) -> None:
        self.own(registrations.register(self), None, "registrations")
        self._started = True
        self._later()

    def settle(self) -> None:
        """A batch of messages was handled: say what changed by it."""
        self.publisher.flush()
        if not gc.isenabled():
            # A document was opened: its tree need not be walked by any later collection.
            gc.freeze()
            gc.enable()
        if self._started and self.session.open:
            # The first diagnostics are out: now the files that nobody has open.
            self._started = False
            asyncio.get_running_loop().call_soon(lambda: self.indexing.start())
        self._later()

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
        self._idle = self._waiting_since = None
        self.indexing.start()
        self._warm_up()
        new, self.texts.new = self.texts.new, []
        for opened in new:
            learn(opened.document.names)
            if opened.folder.partial:
                self.own(self.indexing.look_beside(opened), None, "called workflows")
            if self.session.trusted:
                self.runs.opened(opened)
        for opened in self.session.open.values():
            if opened not in new and self.indexing.may_lie_beside(opened):
                self.own(self.indexing.look_beside(opened), None, "called workflows")
        if self.texts.fresh and quiet:
            # A fresh tree would otherwise be walked by every later collection, in the middle of a keystroke.
            self.texts.fresh = False
            gc.collect()
            gc.freeze()

    def _warm_up(self) -> None:
        if not self._warm:
            self._warm = True
            self.own(self._warm_slowly(), None, "warm-up")

    async def _warm_slowly(self) -> None:
        """Import what requests need: each costs its first user some milliseconds. Messages go first."""
        for method in LATE:
            register_late(self, method)
            await asyncio.sleep(0)
        practise()

    async def close(self) -> None:
        """`shutdown`: let go of the engine and end what runs here. Runs go on in the engine."""
        if "indexing" in self.__dict__:
            self.indexing.close()
        if "runs" in self.__dict__:
            await self.runs.close()
        self.refresh.close()
        await self.tasks.close()

    # -- parts that a session may never need, or not before its first diagnostics ---------------

    @cached_property
    def indexing(self) -> Indexing:
        from loop_ls.server.documents.indexing import Indexing

        return Indexing(self)

    @cached_property
    def runs(self) -> Runs:
        from loop_ls.server.runs.commands import Runs

        return Runs(self, self._door)

    @cached_property
    def commands(self) -> Commands:
        from loop_ls.server.commands import Commands

        return Commands(self)

    def run_findings(self, opened: OpenDocument) -> tuple[Finding, ...]:
        """What runs said about a document."""
        return self.runs.findings(opened) if "runs" in self.__dict__ else ()

    # -- services for the parts ---------------------------------------------------------------

    def own(
        self, work: Coroutine[Any, Any, Any], failed: Callable[[BaseException], None] | None, name: str = "notification"
    ) -> asyncio.Task[Any]:
        return self.tasks.start(work, name, failed)

    def crash_report(self, method: str, params: Any, error: BaseException) -> Path | None:
        """The file that tells of a fault of ours, in the data folder of the project that it hit (UP-34)."""
        from pathlib import Path

        from loop_ls.client.engine_location import data_folder
        from loop_ls.server.crash_reports import CrashReports

        if self._crashes is None:
            self._crashes = CrashReports()
        document = params.get("textDocument") if isinstance(params, dict) else None
        uri = document.get("uri") if isinstance(document, dict) else None
        opened = self.session.find(uri) if isinstance(uri, str) else None
        folder = opened.folder if opened is not None else next(self.session.all_folders(), None)
        root, setting = (None, None) if folder is None else (folder.path, folder.data_dir)
        return self._crashes.write(
            data_folder(root or Path.home(), setting), method, params, self.place_of(params), error
        )

    def place_of(self, params: Any) -> str:
        """Document and version that a message is about, for the log."""
        document = params.get("textDocument") if isinstance(params, dict) else None
        uri = document.get("uri") if isinstance(document, dict) else None
        if not isinstance(uri, str):
            return ""
        opened = self.session.find(uri)
        return uri if opened is None else f"{uri} version {opened.document.version}"

    # -- running ------------------------------------------------------------------------------

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
        await self.close()
        return status
