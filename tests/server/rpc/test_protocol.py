"""The conversation itself: order, malformed messages, cancelling, the end. Bytes only, no library."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from loop_ls.server.rpc.framing import frame
from tests.server.support.flows import LOOP
from tests.server.support.raw import RawClient, insert

Json = dict[str, Any]
URI = "untitled:flow.yaml"
HOVER = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """One session for all malformed messages: none of them may spoil it for the next."""
    with RawClient(env={"LOOP_LS_DATA_DIR": str(tmp_path_factory.mktemp("data"))}) as client:
        client.begin()
        yield client


def code(answer: Json) -> int:
    found: int = answer["error"]["code"]
    return found


def test_initialize_comes_first_and_once(server: RawClient) -> None:
    assert code(server.ask("textDocument/hover", HOVER)) == -32002
    server.open(URI, LOOP)  # ignored: there is no session yet
    assert server.begin()["serverInfo"]["name"] == "loop-ls"
    assert code(server.ask("initialize", {"capabilities": {}})) == -32600
    assert server.ask("textDocument/hover", HOVER)["result"] is None


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]', -32700),
        (b'{"jsonrpc":"2.0","id":null,"method":"textDocument/hover"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"textDocument/hover"}', -32600),
        (b'{"jsonrpc":"2.0","id":900}', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0","id":900,"method":5}', -32600),
        (b'{"jsonrpc":"2.0","id":900,"method":"textDocument/fly"}', -32601),
        (b'{"jsonrpc":"2.0","id":900,"method":"$/fly"}', -32601),
        (b'{"jsonrpc":"2.0","id":900,"method":"textDocument/hover"}', -32602),
        (b'{"jsonrpc":"2.0","id":900,"method":"textDocument/hover","params":[1]}', -32602),
        (
            b'{"jsonrpc":"2.0","id":900,"method":"textDocument/hover","params":{"textDocument":{"jsonrpc":"2.0"}}}',
            -32602,
        ),
        (b'{"jsonrpc":"2.0","id":900,"method":"workspace/executeCommand","params":{}}', -32602),
        (b'{"jsonrpc":"2.0","id":900,"method":"textDocument/diagnostic","params":{"textDocument":7}}', -32602),
    ],
)
def test_every_malformed_request_is_answered_with_an_error(running: RawClient, body: bytes, wanted: int) -> None:
    before = len(running.received)
    running.send_bytes(frame(body))
    answer = running.wait(lambda message: "error" in message, after=before)
    assert code(answer) == wanted
    assert answer["error"]["message"]
    assert running.ask("textDocument/hover", HOVER)["result"] is None
    assert not [m for m in running.received if m.get("method") == "window/showMessage"]


@pytest.mark.parametrize(
    "message",
    [
        {"method": "textDocument/didOpen", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": URI}}},
        {"method": "textDocument/didChange", "params": {"textDocument": {"uri": URI}, "contentChanges": [{"text": 5}]}},
        {
            "method": "textDocument/didChange",
            "params": {"textDocument": {"uri": "file:///nowhere"}, "contentChanges": []},
        },
        {"method": "textDocument/didClose", "params": None},
        {"method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///nowhere"}}},
        {"method": "$/cancelRequest", "params": {"id": 99}},
        {"method": "$/cancelRequest", "params": 4},
        {"method": "$/setTrace", "params": {"value": "verbose"}},
        {"method": "workspace/didChangeConfiguration", "params": 4},
        {"method": "textDocument/didSave", "params": None},
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "\ud800", "text": LOOP}}},
        {"method": "workspace/didChangeWatchedFiles", "params": {"changes": 1}},
        {"method": "workspace/didChangeWorkspaceFolders", "params": {"event": {"added": 3}}},
        {"method": "workspace/didChangeWorkspaceFolders", "params": {"event": {"added": [{"uri": 3}]}}},
        {"method": "window/workDoneProgress/cancel", "params": {"token": {}}},
        {"method": "fly", "params": {}},
        {"id": "unknown", "result": 1},
        {"id": 77, "error": {"code": 1, "message": "x"}},
    ],
)
def test_no_notification_is_answered_or_ends_the_server(running: RawClient, message: Json) -> None:
    before = len(running.received)
    running.send({"jsonrpc": "2.0", **message})
    assert running.ask("textDocument/hover", HOVER)["result"] is None
    assert [m for m in running.received[before:] if m.get("method") == "window/showMessage" or "error" in m] == []
    assert b"Traceback" not in running.log  # a fault of the client is none of ours: no report about it


def test_a_request_taken_back_in_the_same_breath_is_answered_as_cancelled(server: RawClient) -> None:
    server.begin()
    ask = {"jsonrpc": "2.0", "id": 50, "method": "textDocument/hover", "params": HOVER}
    server.send(ask, {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 50}})
    answer = server.answer(50)
    # It may have been answered already: then the cancellation came too late.
    assert "result" in answer or code(answer) == -32800


def test_after_shutdown_only_exit_counts(server: RawClient) -> None:
    server.begin()
    assert server.ask("shutdown")["result"] is None
    assert code(server.ask("textDocument/hover", HOVER)) == -32600
    server.notify("exit")
    assert server.exit_status() == 0


def test_shutdown_and_exit_in_one_breath_are_a_clean_end(server: RawClient) -> None:
    server.begin()
    ends = [{"jsonrpc": "2.0", "id": 60, "method": "shutdown"}, {"jsonrpc": "2.0", "method": "exit"}]
    server.send(*ends)
    assert server.exit_status() == 0


def test_exit_without_shutdown_is_a_failure(server: RawClient) -> None:
    server.begin()
    server.notify("exit")
    assert server.exit_status() == 1


def test_UP_32_the_end_of_input_ends_the_server_cleanly(server: RawClient) -> None:
    server.begin()
    server.open(URI, LOOP)
    server.diagnostics(URI)
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.exit_status() == 1
    assert b"Traceback" not in server.log


def test_changes_are_applied_in_order_and_the_last_one_is_published(server: RawClient) -> None:
    server.begin()
    server.open(URI, LOOP)
    server.diagnostics(URI, 1)
    messages = [
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didChange",
            "params": {"textDocument": {"uri": URI, "version": n + 2}, "contentChanges": [insert(n, 0, f"# {n}\n")]},
        }
        for n in range(50)
    ]
    server.send(*messages)
    server.diagnostics(URI, 51)
    versions = [m["params"]["version"] for m in server.received if m.get("method") == "textDocument/publishDiagnostics"]
    assert versions == sorted(versions)
    assert len(versions) <= 51


def test_messages_survive_every_way_of_being_cut(server: RawClient) -> None:
    server.begin()
    body = frame(json.dumps({"jsonrpc": "2.0", "id": 1000, "method": "textDocument/hover", "params": HOVER}).encode())
    for byte in body:
        server.send_bytes(bytes([byte]))
    assert server.answer(1000)["result"] is None


def test_what_json_cannot_hold_is_not_sent_back(server: RawClient) -> None:
    server.begin()
    assert code(server.ask("completionItem/resolve", {"label": "x", "data": float("nan")})) == -32603
    assert b"NaN" not in server.raw


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_in_a_terminal_is_no_crash(server: RawClient) -> None:
    server.begin()
    server.process.send_signal(signal.SIGINT)
    assert server.exit_status() == 130
    assert b"Traceback" not in server.log
