"""The server in one process: what is built when, and what a fault in building it does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]
HOVER = {"textDocument": {"uri": "untitled:a.yaml"}, "position": {"line": 0, "character": 0}}


class Wire:
    def __init__(self) -> None:
        self.sent: list[Json] = []

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))

    def close(self) -> None: ...


def begun() -> tuple[LoopServer, Wire]:
    server, wire = LoopServer(), Wire()
    server.protocol.writer = wire
    server.listen().receive([{"id": 1, "method": "initialize", "params": {"capabilities": {}}}])
    return server, wire


async def test_initialize_is_answered_before_anything_is_built() -> None:
    server, wire = begun()
    assert wire.sent[0]["result"]["serverInfo"]["name"] == "loop-ls"
    assert server._context is None
    assert server.context is server.context


async def test_a_request_is_answered_though_what_it_needs_cannot_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*parts: Any) -> None:
        raise OSError("no folder can be read")

    server, wire = begun()
    with monkeypatch.context() as patched:
        patched.setattr("loop_ls.server.context.build", broken)
        server.protocol.receive([{"id": 2, "method": "textDocument/hover", "params": HOVER}])
    server.protocol.receive([{"id": 3, "method": "textDocument/hover", "params": HOVER}])
    failed, answered = wire.sent[1:]
    assert (failed["id"], failed["error"]["code"]) == (2, -32603)
    assert "no folder can be read" in failed["error"]["message"]
    assert (answered["id"], answered["result"]) == (3, None)
