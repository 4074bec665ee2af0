"""The parts of the server that runs are shown through, and the port by which what is shown acts on a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from loop_ls.client.session import EngineClient
    from loop_ls.server.client import Client
    from loop_ls.server.documents.session import OpenDocument, Session
    from loop_ls.server.documents.text_sync import Texts
    from loop_ls.server.refresh import Refresh
    from loop_ls.server.tasks import Tasks


class RunPublisher(Protocol):
    """Publishes what runs said about a document."""

    def publish_runs(self, opened: OpenDocument) -> None: ...


@dataclass(frozen=True, slots=True)
class RunContext:
    session: Session
    client: Client
    tasks: Tasks
    texts: Texts
    refresh: Refresh
    publisher: RunPublisher


class RunAccess(Protocol):
    """Reaches the engine that has a run."""

    async def ask_home(
        self, run_id: str, ask: Callable[[EngineClient], Awaitable[Mapping[str, object]]]
    ) -> JsonObject: ...

    async def data_folder(self, run_id: str) -> Path | None: ...
