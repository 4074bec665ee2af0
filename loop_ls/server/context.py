"""What handlers work with: the state of the conversation, and the parts that act on it.

Built in one place, once, and never handed to a part: each part gets the others that it needs.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from loop_ls.server.crash_reports import CrashReports
from loop_ls.server.diagnostics.publisher import Publisher
from loop_ls.server.diagnostics.reports import Reports
from loop_ls.server.diagnostics.workspace_stream import WorkspaceStreams
from loop_ls.server.documents.session import Session
from loop_ls.server.documents.text_sync import Texts
from loop_ls.server.refresh import Refresh
from loop_ls.server.runs.late_runs import LateRuns
from loop_ls.text.record import record

if TYPE_CHECKING:
    from loop_ls.server.client import Client
    from loop_ls.server.documents.indexing import Indexing
    from loop_ls.server.documents.outline import Outlines
    from loop_ls.server.documents.token_results import TokenResults
    from loop_ls.server.runs.commands import Runs
    from loop_ls.server.runs.engine_connection import EngineAccess
    from loop_ls.server.tasks import Tasks


@record
class Context:
    """Parts that a session may never need, or not before its first diagnostics, are imported on first use."""

    client: Client
    tasks: Tasks
    session: Session
    crashes: CrashReports
    refresh: Refresh
    reports: Reports
    streams: WorkspaceStreams
    publisher: Publisher
    texts: Texts
    runs: LateRuns

    @cached_property
    def indexing(self) -> Indexing:
        from loop_ls.server.documents.indexing import Indexing

        return Indexing(self.session, self.client, self.tasks, self.refresh, self.publisher)

    @cached_property
    def outlines(self) -> Outlines:
        from loop_ls.server.documents.outline import Outlines

        return Outlines()

    @cached_property
    def token_results(self) -> TokenResults:
        from loop_ls.server.documents.token_results import TokenResults

        return TokenResults(self.session)

    async def close(self) -> None:
        """Let go of the engine and end what runs here. Runs go on in the engine."""
        self.indexing.close()
        await self.runs.close()
        self.refresh.close()
        await self.tasks.close()


def build(client: Client, tasks: Tasks, access: EngineAccess | None) -> Context:
    session = Session()
    crashes = CrashReports(session)
    refresh = Refresh(client, tasks)
    reports = Reports(session, client)
    streams = WorkspaceStreams(session, client, reports)

    def make_runs() -> Runs:
        from loop_ls.server.runs.commands import Runs
        from loop_ls.server.runs.context import RunContext

        return Runs(RunContext(session, client, tasks, texts, refresh, publisher), access)

    runs = LateRuns(make_runs)
    publisher = Publisher(session, client, reports, streams, runs.findings, crashes)
    texts = Texts(session, client, publisher)
    return Context(client, tasks, session, crashes, refresh, reports, streams, publisher, texts, runs)
