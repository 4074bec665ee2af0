"""A session that watches the disk: files change without the editor, and the client tells of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.server.support.raw import LIMIT, RawClient

Json = dict[str, Any]

CAPABILITIES: Json = {
    "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}},
}
MADE, CHANGED, DELETED = 1, 2, 3


class Disk:
    """`begin` answers when the server watches; `tell` says what happened to paths."""

    def __init__(self, client: RawClient, folder: Path, options: Any = None) -> None:
        self.client, self.folder = client, folder
        client.begin(CAPABILITIES, folder, options)
        asked = client.wait(lambda m: m.get("method") == "client/registerCapability")
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})

    def tell(self, *happened: tuple[Path, int]) -> int:
        """The number of messages up to the last one that was waited for: the server may have seen on the disk what
        happened before it is told, and may have said so already."""
        at = self.client.heard
        changes = [{"uri": path.as_uri(), "type": kind} for path, kind in happened]
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        return at

    def until(self, uri: str, wanted: Callable[[list[Json]], bool], after: int = 0, limit: float = LIMIT) -> list[Json]:
        """The first findings that are published for a document and wanted."""

        def hit(message: Json) -> bool:
            params = message.get("params") or {}
            mine = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
            return mine and wanted(params["diagnostics"])

        found: list[Json] = self.client.wait(hit, limit, after)["params"]["diagnostics"]
        return found

    def with_code(self, uri: str, code: str, after: int = 0) -> Json:
        found = self.until(uri, lambda every: code in codes(every), after)
        return next(one for one in found if one["code"] == code)

    def without(self, uri: str, code: str, after: int = 0, limit: float = LIMIT) -> list[Json]:
        return self.until(uri, lambda every: code not in codes(every), after, limit)


def codes(findings: list[Json]) -> list[str]:
    return [str(one["code"]) for one in findings]
