"""Clients that send or read slowly, or never: the engine keeps nothing for them and serves the others."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
from contextlib import suppress
from typing import Any

import pytest

from loop_ls.engine.api import answers, connection
from tests.engine.api.conftest import TOKEN, EngineProject

LONG = 60
HEAD = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"


async def closed(reader: asyncio.StreamReader) -> bytes:
    """What came until the engine ended the connection."""
    async with asyncio.timeout(LONG):
        try:
            return await reader.read()
        except ConnectionError:
            return b""


@pytest.mark.parametrize("sent", [b"", b"GET /hea", b"GET /health HTTP/1.1\r\nHost: local"])
async def test_a_head_that_never_ends_is_not_waited_for(project: EngineProject, monkeypatch: Any, sent: bytes) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", project.handover.port)
    writer.write(sent)
    assert await closed(reader) == b""
    writer.close()
    assert (await project.http.get("/health")).status_code == 200


async def test_a_second_head_has_the_same_limit(project: EngineProject, monkeypatch: Any) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", project.handover.port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.write(b"GET /hea")
    assert b"managers" in await closed(reader)
    writer.close()


async def test_a_request_may_take_longer_than_its_head(project: EngineProject, monkeypatch: Any) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr("loop_ls.engine.api.stream.HEARTBEAT_SECONDS", 0.15)
    beats = 0
    async with asyncio.timeout(LONG), project.http.stream("GET", "/api/v1/events") as response:
        async for line in response.aiter_lines():
            beats += line == ": still here"
            if beats == 3:
                break
    assert beats == 3


async def test_a_body_that_never_ends_is_a_bad_request(project: EngineProject, monkeypatch: Any) -> None:
    monkeypatch.setattr(answers, "BODY_SECONDS", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", project.handover.port)
    writer.write(f"POST /api/v1/loops HTTP/1.1\r\n{HEAD}Content-Length: 50\r\n\r\n{{".encode())
    async with asyncio.timeout(LONG):
        assert (await reader.readline()).startswith(b"HTTP/1.1 400")
    writer.close()


async def test_an_answer_that_nobody_reads_is_given_up(project: EngineProject, monkeypatch: Any) -> None:
    monkeypatch.setattr(connection, "WRITE_SECONDS", 0.3)
    given_up, give_up = asyncio.Event(), connection.Connection._give_up
    monkeypatch.setattr(connection.Connection, "_give_up", lambda each: (give_up(each), given_up.set()))
    run_id = await project.run(1)
    await project.ended(run_id)
    fact = ("progress", {"iteration": 1, "learning": "x" * 900_000})
    for _ in range(10):
        await project.engine.journal.append(run_id, None, [fact])
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect(("127.0.0.1", project.handover.port))
    deaf.sendall(f"GET /api/v1/loops/{run_id}/events HTTP/1.1\r\n{HEAD}\r\n".encode())
    deaf.settimeout(LONG)
    await asyncio.wait_for(given_up.wait(), LONG)
    came = b""
    with suppress(ConnectionError):
        while part := await asyncio.to_thread(deaf.recv, 1 << 20):
            came += part
    assert len(came) < 9_000_000, "the rest was thrown away"
    deaf.close()


async def test_a_thousand_readers_of_which_some_hang(project: EngineProject, monkeypatch: Any) -> None:
    """Every reader that reads has every fact, in order; the engine waits for none."""
    monkeypatch.setattr("loop_ls.engine.api.stream.PATIENCE_SECONDS", 3600)
    monkeypatch.setattr(connection, "WRITE_SECONDS", 3600)
    count, deaf = 1000, 5
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("this machine allows too few open files for a thousand readers in one process")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    request = f"GET /api/v1/events?after=0 HTTP/1.1\r\n{HEAD}\r\n".encode()
    hung = []
    for _ in range(deaf):
        hung.append(socket.create_connection(("127.0.0.1", project.handover.port)))
        hung[-1].sendall(request)

    async def read() -> list[int]:
        reader, writer = await asyncio.open_connection("127.0.0.1", project.handover.port, limit=1 << 20)
        writer.write(request)
        seen: list[int] = []
        try:
            while True:
                line = await reader.readline()
                if line.startswith(b"data:") and b'"position":' in line and b'"kind":' in line:
                    event = json.loads(line[5:])
                    seen.append(event["position"])
                    if event["kind"] == "completed":
                        return seen
        finally:
            writer.close()

    readers = [asyncio.create_task(read()) for _ in range(count)]
    async with asyncio.timeout(LONG):
        while project.presence.listeners < count + deaf:
            await asyncio.sleep(0.01)
        run_id = await project.run(5)
        state = await project.ended(run_id)
        found = await asyncio.gather(*readers)
    assert state["reason"] == "condition_met"
    whole = list(range(1, int(project.engine.status["position"]) + 1))
    assert all(seen == whole for seen in found)
    for each in hung:
        each.close()
