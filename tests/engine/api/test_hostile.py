"""Requests made to reach what they should not, and several clients that want different things at once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from loop_ls.client import EngineClient
from tests.engine.api.conftest import TOKEN, EngineProject

LONG = 60
HEAD = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"


async def raw(project: EngineProject, sent: bytes) -> bytes:
    """The status line of the answer to these very bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", project.handover.port)
    writer.write(sent)
    async with asyncio.timeout(LONG):
        line = await reader.readline()
    writer.close()
    return line.strip()


IDS = [
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "%2e%2e%2fstate",
    "..%5c..%5cjournal.db",
    "%00",
    "%25",
    "%2a",
    "_",
    "%5b0-9%5d%2a",
    "'%20or%201=1--",
    "a%0d%0aX-Header:%20x",
    "%f0%9f%98%80",
    "%ff%fe",
    "a" * 5000,
]


async def test_an_id_is_an_id_and_no_path_or_pattern(project: EngineProject) -> None:
    await project.ended(await project.run(1))
    for run_id in IDS:
        for verb in ("", "/state", "/history", "/events", "/iterations/%2e%2e%2f1"):
            line = await raw(project, f"GET /api/v1/loops/{run_id}{verb} HTTP/1.1\r\n{HEAD}\r\n".encode())
            assert line.split()[1] == b"404", (run_id, verb, line)


async def test_no_such_id_is_controlled_or_deleted(project: EngineProject) -> None:
    project.program.hold.clear()
    known = await project.run(2)
    for run_id in IDS:
        for method, verb in (("POST", "/stop"), ("POST", "/approve"), ("DELETE", "")):
            head = f"{method} /api/v1/loops/{run_id}{verb} HTTP/1.1\r\n{HEAD}Content-Length: 0\r\n\r\n"
            assert (await raw(project, head.encode())).split()[1] in (b"404", b"405"), (run_id, verb)
    assert (await project.engine.state(known))["state"]["status"] == "running"


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "sub/../../x.yaml", "file:///etc/passwd"])
async def test_a_start_leads_nowhere_outside_of_its_root(project: EngineProject, path: str) -> None:
    root = project.folder.path / "project"
    root.mkdir()
    answer = await project.http.post("/api/v1/loops", json={"root": str(root), "path": path})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_argument")
    assert "outside" in answer.json()["error"]


@pytest.mark.parametrize(
    "head",
    [
        b"Host: localhost\r\nHost: localhost\r\n",
        b"Host: localhost\r\nHost: evil.example\r\n",
        b"Host: localhost@evil.example\r\n",
        b"Host: localhost:80:80\r\n",
        b"Host: \r\n",
        b"Host: localhost\r\nOrigin: https://evil.example\r\n",
        b"Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example\r\n",
        b"Host: localhost\r\nOrigin: http://localhost.evil.example\r\n",
        b"Host: localhost\r\nOrigin: \r\n",
    ],
)
async def test_host_and_origin_are_one_each_and_ours(project: EngineProject, head: bytes) -> None:
    token = f"Authorization: Bearer {TOKEN}\r\n".encode()
    line = await raw(project, b"GET /api/v1/loops HTTP/1.1\r\n" + head + token + b"\r\n")
    assert line.split()[1] in (b"400", b"403"), line


async def test_an_old_client_that_names_no_host_is_refused(project: EngineProject) -> None:
    token = f"Authorization: Bearer {TOKEN}\r\n".encode()
    assert (await raw(project, b"GET /api/v1/loops HTTP/1.0\r\n" + token + b"\r\n")).split()[1] == b"403"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: x\r\n",
        b"Transfer-Encoding: gzip\r\n",
        b"Bad Header: x\r\n",
        b"X: a\x00b\r\n",
        b"X: " + b"a" * 100_000 + b"\r\n",
    ],
)
async def test_heads_that_mean_two_things_or_nothing_are_refused(project: EngineProject, head: bytes) -> None:
    known = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    status = (await raw(project, b"POST /api/v1/loops HTTP/1.1\r\n" + known + head + b"\r\n{}")).split()
    assert status and int(status[1]) in (400, 413, 431, 501), status
    assert (await project.http.get("/health")).status_code == 200


async def test_a_body_larger_than_it_says_is_cut_off_at_a_megabyte(project: EngineProject) -> None:
    async def endless() -> Any:
        for _ in range(10_000):
            yield b"a" * 65_536

    with_limit = None
    try:
        with_limit = (await project.http.post("/api/v1/loops", content=endless())).status_code
    except httpx.TransportError:
        with_limit = 413  # it stopped reading before we had stopped writing
    assert with_limit == 413
    assert (await project.http.get("/health")).status_code == 200


async def test_a_megabyte_less_a_little_is_no_problem(project: EngineProject) -> None:
    path = project.folder.path / "w.yaml"
    path.write_text("x", "utf-8")
    body = {"root": str(project.folder.path), "path": str(path), "input": "1", "parameters": {"x": "a" * 1_000_000}}
    assert (await project.http.post("/api/v1/loops", json=body)).status_code == 201


async def test_two_clients_that_want_different_things_at_once(project: EngineProject, client: EngineClient) -> None:
    project.program.hold.clear()
    run_id = await project.run(3)
    async with EngineClient(project.folder.path, project.handover) as other:
        wishes = [(client.pause, other.resume), (client.resume, other.pause)] * 10
        answers = [await asyncio.gather(one(run_id), two(run_id)) for one, two in wishes]
        stopped = await asyncio.gather(*(each.stop(run_id) for each in (client, other) * 5))
    for answer in (each for pair in answers for each in pair):
        assert answer["ok"], answer  # asking for what is so already is no error
        assert answer["runs"][0]["status"] in ("paused", "running")
    assert {answer["ok"] for answer in stopped} == {True}
    kinds = [event["kind"] for event in (await client.events(run_id))["events"]]
    control = [kind for kind in kinds if kind in ("paused", "resumed")]
    assert control == ["paused", "resumed"] * (len(control) // 2) + ["paused"] * (len(control) % 2)
    assert kinds.count("stopping") == 1
    assert kinds.count("cancelled") == 1
    assert kinds[-1] == "cancelled"


async def test_delete_and_stop_at_once_leave_no_half(project: EngineProject, client: EngineClient) -> None:
    project.program.hold.clear()
    run_id = await project.run(3)
    first, second = await asyncio.gather(client.delete(run_id), client.stop(run_id))
    assert second["ok"] or second["code"] == "not_found"
    assert first["ok"] or first["code"] == "wrong_status"
    again = await client.delete(run_id)
    assert again["ok"] or again["code"] == "not_found"
    assert (await client.status(run_id))["code"] == "not_found"
    assert json.loads((await project.http.get("/api/v1/loops")).text)["count"] == 0
