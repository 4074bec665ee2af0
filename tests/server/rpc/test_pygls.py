"""What pygls 2.1 does otherwise than a server needs, and that our protocol does not.

Each pair begins with pygls alone. If that half fails after an update, pygls was mended: the override in
`loop_ls/server/rpc/protocol.py` may go, and the pair with it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import JsonRPCProtocol, default_converter
from pygls.server import JsonRPCServer

from loop_ls.server.rpc.protocol import RpcServer

Json = dict[str, Any]


class Wire:
    """The writer of a server: what was sent, as messages."""

    def __init__(self) -> None:
        self.sent: list[Json] = []

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data.decode().rpartition("\r\n\r\n")[2]))

    def close(self) -> None: ...


class Plain:
    """pygls as it comes."""

    def __init__(self) -> None:
        self.server = JsonRPCServer(JsonRPCProtocol, default_converter)
        self.protocol, self.wire = self.server.protocol, Wire()
        self.protocol.set_writer(self.wire)

    def receive(self, message: Json) -> None:
        self.protocol.handle_message(self.protocol.structure_message({"jsonrpc": "2.0", **message}))


class Ours:
    """Our protocol, in a session that has begun. It is its own host."""

    def __init__(self, begun: bool = True) -> None:
        self.faults: list[str] = []
        self.status: int | None = None
        self.server = RpcServer(self)
        self.protocol, self.wire = self.server.protocol, Wire()
        self.protocol.writer = self.wire
        self.server.feature("initialize")(lambda params: {})
        if begun:
            self.receive({"id": "begin", "method": "initialize", "params": {}})
            self.wire.sent.clear()

    def receive(self, message: Json) -> None:
        self.protocol.receive([{"jsonrpc": "2.0", **message}])

    def settled(self) -> None: ...

    def failed(self, method: str, params: Any, error: BaseException) -> Path | None:
        self.faults.append(f"{method}: {error}")
        return None

    def stop(self, status: int) -> None:
        self.status = status


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def waiting(params: Any) -> None:
    await asyncio.Event().wait()


# -- futures -----------------------------------------------------------------------------------


async def at_once(params: Any) -> None:
    """A handler that is a coroutine and waits for nothing."""


async def test_pygls_keeps_the_future_of_every_notification_with_an_async_handler() -> None:
    plain, ours = Plain(), Ours()
    for each in (plain, ours):
        each.server.feature("loop/seen")(at_once)
        for _ in range(3):
            each.receive({"method": "loop/seen", "params": {}})
    await settle()
    assert len(plain.protocol._request_futures) == 3
    assert ours.protocol._request_futures == {}


async def test_pygls_takes_an_answer_for_the_request_of_the_client_that_has_the_same_id() -> None:
    plain, ours = Plain(), Ours()
    for each in (plain, ours):
        each.server.feature("loop/wait")(waiting)
        each.receive({"id": 1, "method": "loop/wait", "params": {}})
    with pytest.raises(RuntimeError, match="set_result"):
        plain.receive({"id": 1, "result": "an answer to nothing"})
    ours.receive({"id": 1, "result": "an answer to nothing"})
    assert list(ours.protocol._request_futures) == [1]
    for each in (plain, ours):
        for future in each.protocol._request_futures.values():
            future.cancel()
    await settle()


async def test_pygls_never_forgets_a_request_that_nobody_answers_and_does_not_take_it_back() -> None:
    plain, ours = Plain(), Ours()
    for ask in (
        plain.protocol.send_request_async("workspace/configuration"),
        ours.protocol.ask("workspace/configuration"),
    ):
        task = asyncio.ensure_future(ask)
        await settle()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(plain.protocol._request_futures) == len(plain.protocol._result_types) == 1
    assert [one["method"] for one in plain.wire.sent] == ["workspace/configuration"]
    assert ours.protocol._request_futures == ours.protocol._result_types == {}
    asked, taken_back = ours.wire.sent
    assert (taken_back["method"], taken_back["params"]) == ("$/cancelRequest", {"id": asked["id"]})


async def test_an_error_of_the_client_is_raised_whatever_it_looks_like() -> None:
    for error, code in (({"code": -32803, "message": "no"}, -32803), ({"code": "x", "message": 3}, 0), ("no", 0)):
        ours = Ours()
        task = asyncio.ensure_future(ours.protocol.ask("workspace/applyEdit"))
        await settle()
        ours.receive({"id": ours.wire.sent[0]["id"], "error": error})
        with pytest.raises(JsonRpcException) as raised:
            await task
        assert raised.value.code in (code, -32603)


# -- life cycle ---------------------------------------------------------------------------------


def test_pygls_has_no_life_cycle_of_its_own_for_json_rpc() -> None:
    plain, ours = Plain(), Ours(begun=False)
    for each in (plain, ours):
        each.server.feature("loop/ask")(lambda params: "done")
        each.receive({"id": 1, "method": "loop/ask", "params": {}})
    assert plain.wire.sent[0]["result"] == "done"
    assert ours.wire.sent[0]["error"]["code"] == -32002
    plain.protocol._shutdown = ours.protocol._shutdown = True
    for each in (plain, ours):
        each.wire.sent.clear()
        each.receive({"id": 2, "method": "loop/ask", "params": {}})
    assert plain.wire.sent == []  # whoever asked waits for ever
    assert ours.wire.sent[0]["error"]["code"] == -32600


async def test_shutdown_ends_what_runs_and_exit_waits_for_its_answer() -> None:
    ours, let_go = Ours(), asyncio.Event()

    async def shutdown(params: Any) -> None:
        await let_go.wait()

    ours.server.feature("loop/wait")(waiting)
    ours.server.feature("shutdown")(shutdown)
    ours.receive({"id": 1, "method": "loop/wait", "params": {}})
    ours.receive({"id": 2, "method": "shutdown"})
    ours.receive({"method": "exit"})
    await settle()
    assert ours.status is None
    let_go.set()
    await settle()
    assert ours.status == 0
    assert {one["id"]: one.get("error", {}).get("code") for one in ours.wire.sent} == {1: -32800, 2: None}


def test_exit_without_shutdown_is_a_failure() -> None:
    ours = Ours()
    ours.receive({"method": "exit"})
    assert ours.status == 1


# -- what comes in and goes out -------------------------------------------------------------------


def test_pygls_cannot_take_a_message_whose_params_do_not_have_the_shape() -> None:
    plain, ours, seen = Plain(), Ours(), []
    broken = {"id": 7, "method": "loop/ask", "params": {"class": 1, "jsonrpc": "2.0"}}
    for each in (plain, ours):
        each.server.feature("loop/ask")(lambda params: seen.append(params))
    plain.receive(broken)
    assert not isinstance(seen.pop(), dict)
    ours.receive(broken)
    assert seen == [broken["params"]]


def raising(error: Exception) -> Callable[[Any], None]:
    def handler(params: Any) -> None:
        raise error

    return handler


def test_pygls_reports_what_the_client_did_wrong_as_a_fault_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    plain, ours = Plain(), Ours()
    for each in (plain, ours):
        each.server.feature("loop/ask")(raising(JsonRpcInvalidParams("no position")))
        caplog.clear()
        each.receive({"id": 1, "method": "loop/ask", "params": {}})
        assert each.wire.sent[0]["error"] == {"code": -32602, "message": "no position"}
        loud = [one for one in caplog.records if one.levelno >= logging.WARNING]
        assert bool(loud) is (each is plain)
    assert ours.faults == []


def test_pygls_sends_the_trace_of_a_fault_to_the_client() -> None:
    plain, ours = Plain(), Ours()
    for each in (plain, ours):
        each.server.feature("loop/ask")(raising(ValueError("broken")))
        each.receive({"id": 1, "method": "loop/ask", "params": {}})
    assert __file__ in json.dumps(plain.wire.sent[0]["error"]["data"])
    assert "data" not in ours.wire.sent[0]["error"]
    assert "broken" in ours.wire.sent[0]["error"]["message"]
    assert ours.faults == ["loop/ask: broken"]


@pytest.mark.parametrize("result", [float("nan"), {1, 2}], ids=["not a number", "no JSON"])
def test_pygls_leaves_a_request_without_an_answer_that_can_be_read(result: Any) -> None:
    plain, ours = Plain(), Ours()
    for each in (plain, ours):
        each.server.feature("loop/ask")(lambda params: result)
        each.receive({"id": 1, "method": "loop/ask", "params": {}})
    assert plain.wire.sent == [] or plain.wire.sent[0]["result"] != plain.wire.sent[0]["result"]
    assert ours.wire.sent[0]["error"]["code"] == -32603


def test_pygls_logs_every_text_of_the_user(caplog: pytest.LogCaptureFixture) -> None:
    plain, ours = Plain(), Ours()
    caplog.set_level(logging.INFO)
    for each in (plain, ours):
        caplog.clear()
        each.protocol.notify("loop/told", {"text": "a word of the user's"})
        assert ("a word of the user's" in caplog.text) is (each is plain)


def test_pygls_reads_the_id_of_a_cancellation_as_an_attribute_of_an_object() -> None:
    ours = Ours()
    for params in ({}, {"id": None}, {"id": [1]}, {"id": 99}):
        ours.receive({"method": "$/cancelRequest", "params": params})
    assert ours.wire.sent == []
    with pytest.raises(AttributeError):
        Plain().protocol._handle_notification("$/cancelRequest", {"id": 99})
