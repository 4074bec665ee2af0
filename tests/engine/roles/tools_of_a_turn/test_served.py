"""Tools of a stage over MCP: who is answered, by what, and until when; carried by `loop-ls mcp --stage`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from loop_ls.engine.core.messages import ToolSpec
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.model_calls.tool_loop import Outcome
from loop_ls.engine.roles.served.endpoint import CONNECTIONS, serving
from loop_ls.text.json_value import Json

SECONDS = 60


class Tools:
    """`echo` answers, `wait` only once `free` is set, `broken` cannot be had."""

    def __init__(self) -> None:
        self.free, self.waiting = asyncio.Event(), asyncio.Event()
        self.stopped = self.unlisted = False

    async def offered(self) -> tuple[ToolSpec, ...]:
        if self.unlisted:
            raise RuntimeError("a mistake of ours")
        return (ToolSpec("echo", "Says it again.", {"type": "object", "properties": {"text": {"type": "string"}}}),)

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Outcome:
        if name == "broken":
            raise Failure("tool_failed", "It is broken.")
        if name == "faulty":
            raise RuntimeError("a mistake of ours")
        if name == "wait":
            self.waiting.set()
            try:
                await self.free.wait()
            except asyncio.CancelledError:
                self.stopped = True
                raise
        return Outcome(str(arguments.get("text")))


class Line:
    """A connection to the port, by lines."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, key: str, first: str | None = None) -> Line:
        told = json.loads(key)
        made = cls(*await asyncio.open_connection("127.0.0.1", told["port"]))
        made.say(told["token"] if first is None else first)
        return made

    def say(self, line: str) -> None:
        self.writer.write(f"{line}\n".encode())

    def ask(self, method: str, id_: Any = 1, **params: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}))

    async def heard(self) -> Any:
        async with asyncio.timeout(SECONDS):
            line = await self.reader.readline()
        return json.loads(line) if line else None


async def test_who_knows_the_token_is_answered() -> None:
    async with serving(Tools()) as key:
        line = await Line.to(key)
        line.ask("tools/call", name="echo", arguments={"text": "ü"})
        assert (await line.heard())["result"] == {"content": [{"type": "text", "text": "ü"}], "isError": False}


@pytest.mark.parametrize("first", ["", "wrong", "POST / HTTP/1.1\r\nHost: 127.0.0.1", "ü"])
async def test_who_does_not_is_not(first: str) -> None:
    async with serving(Tools()) as key:
        line = await Line.to(key, first)
        line.ask("tools/list")
        try:
            assert await line.heard() is None
        except ConnectionResetError:  # what it said was not even read
            return


async def test_no_more_connect_than_a_program_needs() -> None:
    async with serving(Tools()) as key:
        lines = [await Line.to(key) for _ in range(CONNECTIONS)]
        for line in lines:
            line.ask("ping")
            assert (await line.heard())["result"] == {}
        more = await Line.to(key)
        try:
            assert await more.heard() is None
        except ConnectionResetError:
            return


@pytest.mark.parametrize(
    ("said", "code"),
    [
        pytest.param("[" * 100_000, -32700, id="deep"),
        *(("no JSON", -32700), ("[]", -32600), ("7", -32600), ('{"id": 1, "method": 7}', -32600)),
        *(('{"id": 1, "method": "resources/list"}', -32601), ('{"id": 1, "method": "tools/call"}', -32602)),
        ('{"id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": []}}', -32602),
    ],
)
async def test_what_is_no_request_is_said_and_ends_nothing(said: str, code: int) -> None:
    async with serving(Tools()) as key:
        line = await Line.to(key)
        line.say('{"jsonrpc": "2.0", "method": "notifications/cancelled"}')
        line.say(said)
        assert (await line.heard())["error"]["code"] == code
        line.ask("ping")
        assert (await line.heard())["result"] == {}


async def test_a_tool_that_takes_long_keeps_no_other_waiting_and_ends_with_the_turn() -> None:
    tools = Tools()
    async with serving(tools) as key:
        line = await Line.to(key)
        line.ask("tools/call", 1, name="wait")
        await asyncio.wait_for(tools.waiting.wait(), SECONDS)
        line.ask("tools/call", 2, name="broken")
        answer = await line.heard()
        assert (answer["id"], answer["result"]["isError"]) == (2, True)
        assert answer["result"]["content"][0]["text"] == "It is broken."
    assert tools.stopped
    assert await line.heard() is None


@pytest.mark.parametrize("method", ["tools/call", "tools/list"])
async def test_a_mistake_in_one_answer_is_told_there_and_ends_no_other(method: str) -> None:
    """A program whose server of tools is gone works on without them, and nobody knows why."""
    tools = Tools()
    async with serving(tools) as key:
        line = await Line.to(key)
        line.ask("tools/call", 1, name="wait")
        await asyncio.wait_for(tools.waiting.wait(), SECONDS)
        tools.unlisted = True
        line.ask(method, 2, name="faulty")
        answer = await line.heard()
        assert (answer["id"], answer["error"]["code"]) == (2, -32603)
        assert "a mistake of ours" not in answer["error"]["message"]
        tools.free.set()
        assert (await line.heard())["id"] == 1
        line.ask("ping", 3)
        assert (await line.heard())["result"] == {}


async def test_strangers_who_say_nothing_keep_no_program_out() -> None:
    """Everybody on this machine reaches the port."""
    async with serving(Tools()) as key:
        port = json.loads(key)["port"]
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * CONNECTIONS)]
        line = await Line.to(key)
        line.ask("ping")
        assert (await line.heard())["result"] == {}
        more = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * CONNECTIONS)]
        line.ask("ping")
        assert (await line.heard())["result"] == {}
        for _, writer in (*silent, *more):
            writer.close()


async def test_a_client_of_the_sdk_uses_them_by_the_program_that_carries_its_messages(tmp_path: Path) -> None:
    file = tmp_path / "key.txt"
    words = ["-P", "-m", "loop_ls", "mcp", "--stage", str(file)]
    started = StdioServerParameters(command=sys.executable, args=words, env={"LOOP_LS_STAGE": "1"})
    async with serving(Tools()) as key:
        file.write_text(key)
        async with Client(stdio_client(started)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
            answer = await client.call_tool("echo", {"text": "long " * 100_000})
            assert [getattr(part, "text", "") for part in answer.content] == ["long " * 100_000]
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stderr=asyncio.subprocess.PIPE)
    _, errors = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode == 1
    assert b"its turn has ended" in errors
