"""The small MCP server of the tests and one of the official package answer alike, to us and to bare messages."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from loop_ls.engine.tools import Sessions
from loop_ls.testing import mcp_server

NAMES = ("echo", "add", "fail")
SERVERS = {
    "fake": [sys.executable, "-S", mcp_server.FILE, "only", *NAMES],
    "official": [sys.executable, str(Path(__file__).with_name("official_server.py"))],
}
VERSION = "2025-06-18"


@pytest.fixture(params=SERVERS)
def command(request: pytest.FixtureRequest) -> list[str]:
    return SERVERS[request.param]


@pytest_asyncio.fixture(params=SERVERS, scope="module", loop_scope="module")
async def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sessions]:
    """One for all tests: the official server takes more than a second to start."""
    folder = tmp_path_factory.mktemp("tools")
    made = Sessions({"one": {"command": SERVERS[request.param]}}, folder, {"PATH": os.environ["PATH"]})
    yield made
    await made.aclose(now=True)


@pytest.mark.asyncio(loop_scope="module")
async def test_tools_are_listed_with_their_schemas(session: Sessions) -> None:
    tools = {tool.name: tool for tool in await session.tools(("one",))}
    assert set(tools) == set(NAMES)
    assert tools["echo"].description == "Says the text again."
    assert tools["echo"].schema["type"] == "object"
    assert tools["echo"].schema["properties"]["text"]["type"] == "string"
    assert tools["add"].schema["properties"]["a"]["type"] == "number"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("text", ["plain", "ä\n\u2028\tß 😀", "x" * 10_000, '{"a": 1}'])
async def test_a_text_comes_back_as_it_was(session: Sessions, text: str) -> None:
    result = await session.call("one", "echo", {"text": text}, 30)
    assert (result.shown(), result.failed) == (text, False)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_tool_that_raises_has_failed_with_its_words(session: Sessions) -> None:
    result = await session.call("one", "fail", {}, 30)
    assert result.failed
    assert "fail" in result.shown()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("arguments", [{}, {"a": 1}, {"a": "one", "b": 2}])
async def test_arguments_that_do_not_fit_are_a_failure_of_the_tool(session: Sessions, arguments: Any) -> None:
    assert (await session.call("one", "add", {"a": 1, "b": 2}, 30)).shown() == "3"
    assert (await session.call("one", "add", arguments, 30)).failed


@pytest.mark.asyncio(loop_scope="module")
async def test_calls_beside_each_other_are_answered_each(session: Sessions) -> None:
    calls = (session.call("one", "echo", {"text": str(number)}, 30) for number in range(8))
    assert [result.shown() for result in await asyncio.gather(*calls)] == [str(number) for number in range(8)]


class Wire:
    """Bare messages to a server, one line each."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, method: str, number: int | None = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def ask(self, method: str, number: int, **params: Any) -> dict[str, Any]:
        self.send(method, number, **params)
        return self.answer()

    def initialize(self, version: str = VERSION) -> dict[str, Any]:
        client = {"name": "tests", "version": "1"}
        told = self.ask("initialize", 1, protocolVersion=version, capabilities={}, clientInfo=client)
        self.send("notifications/initialized")
        return told


@pytest.fixture
def wire(command: list[str]) -> Iterator[Wire]:
    made = Wire(command)
    yield made
    made.process.kill()
    made.process.communicate(timeout=60)


def test_the_version_that_was_asked_is_spoken_and_tools_are_announced(wire: Wire) -> None:
    result = wire.initialize()["result"]
    assert result["protocolVersion"] == VERSION
    assert "tools" in result["capabilities"]
    assert result["serverInfo"]["name"] == "test"


def test_a_version_that_there_is_not_is_answered_with_one_that_there_is(wire: Wire) -> None:
    result = wire.initialize("1999-01-01")["result"]
    assert result["protocolVersion"].startswith("202")


def test_a_ping_is_answered_and_a_notification_is_not(wire: Wire) -> None:
    wire.initialize()
    wire.send("notifications/cancelled", requestId=99)
    answer = wire.ask("ping", 2)
    assert (answer["id"], answer["result"]) == (2, {})


def test_a_method_that_there_is_not_is_an_error_of_its_own(wire: Wire) -> None:
    wire.initialize()
    assert wire.ask("no/such/method", 3)["error"]["code"] in (-32601, -32602)


def test_no_tool_is_called_before_the_server_was_greeted(wire: Wire) -> None:
    assert "error" in wire.ask("tools/call", 4, name="echo", arguments={"text": "x"})


def test_a_tool_that_there_is_not_is_refused(wire: Wire) -> None:
    wire.initialize()
    answer = wire.ask("tools/call", 5, name="no_such_tool", arguments={})
    assert "error" in answer or answer["result"]["isError"]
