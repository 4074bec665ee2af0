"""Server-sent events: missed ones first, each once, with positions; slow listeners slow nobody."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx

from tests.engine.api.conftest import EngineProject

LONG = 60


async def parts(response: httpx.Response) -> AsyncIterator[dict[str, str]]:
    """Whole events as their fields, in order."""
    rest = ""
    async for chunk in response.aiter_text():
        rest += chunk
        *whole, rest = rest.split("\n\n")
        for event in whole:
            yield dict(line.split(": ", 1) for line in event.split("\n"))


async def listened(
    project: EngineProject, query: str = "", until: str = "completed", **more: Any
) -> list[dict[str, str]]:
    found = []
    async with asyncio.timeout(LONG), project.http.stream("GET", f"/api/v1/events{query}", **more) as response:
        assert response.headers["content-type"] == "text/event-stream"
        async for event in parts(response):
            found.append(event)
            if f'"kind":"{until}"' in event.get("data", ""):
                break
    return found


def facts(events: list[dict[str, str]]) -> list[dict[str, Any]]:
    return [body for event in events if "position" in (body := json.loads(event["data"])) and "kind" in body]


async def test_everything_from_the_beginning(project: EngineProject) -> None:
    run_id = await project.run(3)
    await project.ended(run_id)
    found = await listened(project, "?after=0")
    assert found[0]["event"] == "hello"
    seen = facts(found)
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
    assert [int(event["id"]) for event in found[1:]] == [event["position"] for event in seen]


async def test_last_event_id_goes_on_where_it_ended(project: EngineProject) -> None:
    run_id = await project.run(3)
    await project.ended(run_id)
    whole = await listened(project, "?after=0")
    middle = whole[4]["id"]
    rest = await listened(project, "?after=0", headers={"Last-Event-ID": middle})
    assert rest[1:] == whole[5:]


async def test_without_a_place_it_begins_now(project: EngineProject) -> None:
    await project.ended(await project.run(2))
    listening = asyncio.create_task(listened(project))
    while not project.presence.listeners:
        await asyncio.sleep(0)
    run_id = await project.run(1)
    assert {event["runId"] for event in facts(await listening)} == {run_id}


async def test_one_run_only(project: EngineProject) -> None:
    first, second = await project.run(1), await project.run(1)
    await project.ended(first)
    await project.ended(second)
    assert {event["runId"] for event in facts(await listened(project, f"?after=0&run={second[:8]}"))} == {second}
    answer = await project.http.get("/api/v1/events?run=nowhere")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_streamed_text_is_shown_without_a_number(project: EngineProject) -> None:
    project.program.hold.clear()
    async with asyncio.timeout(LONG), project.http.stream("GET", "/api/v1/events") as response:
        events = parts(response)
        assert (await anext(events))["event"] == "hello"
        await project.run(1)
        kinds, numbered = [], []
        async for event in events:
            kinds.append(json.loads(event["data"])["kind"])
            numbered.append("id" in event)
            if kinds[-1] == "text":
                project.program.hold.set()
            if kinds[-1] == "completed":
                break
    assert "text" in kinds
    assert numbered == [kind != "text" for kind in kinds]


async def test_a_quiet_stream_has_a_heartbeat(project: EngineProject, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.engine.api.stream.HEARTBEAT_SECONDS", 0.05)
    async with asyncio.timeout(LONG), project.http.stream("GET", "/api/v1/events") as response:
        async for chunk in response.aiter_text():
            if ": still here\n\n" in chunk:
                break


async def test_a_listener_that_does_not_read_holds_up_nobody(project: EngineProject, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.engine.api.stream.PATIENCE_SECONDS", 0.5)
    deaf = socket.create_connection(("127.0.0.1", project.handover.port))
    token = project.handover.token
    deaf.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    async with asyncio.timeout(LONG):
        while not project.presence.listeners:
            await asyncio.sleep(0.01)
    for number in range(200):  # more than the buffers of two sockets hold
        fact = ("progress", {"iteration": number, "learning": f"{number} " * 20_000})
        await project.engine.journal.append("run-x", None, [fact])
    assert (await project.ended(await project.run(20)))["reason"] == "condition_met"
    async with asyncio.timeout(LONG):
        while project.presence.listeners:
            await asyncio.sleep(0.01)
    deaf.close()


async def test_the_engine_says_goodbye(project: EngineProject) -> None:
    async with asyncio.timeout(LONG), project.http.stream("GET", "/api/v1/events") as response:
        names = []
        async for event in parts(response):
            names.append(event.get("event"))
            if names == ["hello"]:
                project.engine.feed.close()
        assert names == ["hello", "bye"]
