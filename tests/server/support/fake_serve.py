"""`loop-ls serve` with a fake engine behind it: `python -m tests.server.support.fake_serve [words]`.

`down`: no engine can be started. `older`: the engine has runs from before, which come to be known late.
`boom`: the analysis of a document that speaks of `boom` raises.
`torn`: an edit that types `tear` raises.
`broken`: what handles documents, completion, renaming, commands and settings raises.
`stuck`: the reading of a folder never gets beyond its first files.
`modules`: at the end the names of all imported modules go to standard error, as one line of JSON.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import sys
from typing import Any

from loop_ls.server.rpc.lean_import import import_lean

import_lean()

from loop_ls.server.serve import serve_stdio  # noqa: E402 (as `loop-ls serve` does)


def _make_analysis_fail() -> None:
    from loop_ls.rules.engine.checker import Checker

    findings = Checker.findings

    def failing(self: Checker, workspace: Any, document: Any) -> Any:
        if "boom" in str(document.text):
            raise RuntimeError("analysis went boom")
        return findings(self, workspace, document)

    Checker.findings = failing  # type: ignore[method-assign]


def _make_edits_fail() -> None:
    from loop_ls.index.document import Document

    edit = Document.edit

    def failing(self: Document, span: Any, new: str, version: int | None = None) -> Document:
        if "tear" in new:
            raise IndexError("list index out of range")
        return edit(self, span, new, version)

    Document.edit = failing  # type: ignore[method-assign]


#: Messages that bring words of the user, and fail where everything is `broken`.
BROKEN = (
    *("textDocument/didOpen", "textDocument/didChange", "textDocument/completion", "completionItem/resolve"),
    *("textDocument/rename", "textDocument/codeAction", "workspace/symbol", "workspace/executeCommand"),
    *("workspace/didChangeConfiguration", "callHierarchy/incomingCalls", "inlayHint/resolve"),
)


def _make_routes_fail() -> None:
    from loop_ls.server.routes.table import ROUTES

    def failing(context: Any, params: Any) -> Any:
        raise RuntimeError("it is broken")

    for route in ROUTES:
        if route.method in BROKEN:
            route.__dict__["function"] = failing


def _make_reading_stop() -> None:
    from loop_ls.server.documents.indexing import Indexing

    parse = Indexing._parse

    async def stopping(self: Indexing, short: list[str], long: list[str], documents: list[Any]) -> None:
        if documents:
            await asyncio.Event().wait()
        await parse(self, short, long, documents)

    Indexing._parse = stopping  # type: ignore[method-assign]


def main() -> int:
    if "modules" in sys.argv:
        atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
        return serve_stdio()
    from tests.server.support.fake_engine import FakeEngineAccess

    logging.basicConfig(level="INFO", stream=sys.stderr)
    if "boom" in sys.argv:
        _make_analysis_fail()
    if "broken" in sys.argv:
        _make_routes_fail()
    if "torn" in sys.argv:
        _make_edits_fail()
    if "stuck" in sys.argv:
        _make_reading_stop()
    return serve_stdio(FakeEngineAccess(down="down" in sys.argv, older="older" in sys.argv))


if __name__ == "__main__":
    raise SystemExit(main())
