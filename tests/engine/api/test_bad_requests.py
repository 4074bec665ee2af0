"""Requests that nobody should send get a typed answer, and the engine lives on."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from tests.engine.api.conftest import EngineProject


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"{", "invalid_format"),
        (b"\xff\xfe", "invalid_format"),
        (b"[" * 100_000, "invalid_format"),
        (b"[1]", "validation_error"),
        (b"null", "validation_error"),
        (b'"text"', "validation_error"),
        (b"{}", "missing_field"),
        (b"", "missing_field"),
        (b'{"path": 7}', "validation_error"),
        (b'{"path": "/etc/passwd", "root": "/nowhere-at-all"}', "bad_argument"),
        (b'{"path": "w\\u0000.yaml", "root": "/tmp"}', "bad_argument"),
        (b'{"path": "/w\\ud800.yaml"}', "bad_argument"),
        (b'{"path": "w.yaml", "root": "/tmp\\u0000"}', "bad_argument"),
        (b'{"path": "w.yaml", "root": "' + b"x" * 5000 + b'"}', "bad_argument"),
        (b'{"path": "w.yaml", "root": "/tmp", "texts": {"\\ud800": ""}}', "bad_argument"),
    ],
)
async def test_a_start_that_is_none(project: EngineProject, sent: bytes, code: str) -> None:
    answer = await project.http.post("/api/v1/loops", content=sent)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert set(answer.json()) <= {"error", "code", "hint", "details"}


async def test_a_body_has_a_limit(project: EngineProject) -> None:
    answer = await project.http.post("/api/v1/loops", content=b'{"x": "' + b"a" * 1_100_000 + b'"}')
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("query", ["after=-1", "after=x", "after=1e3", "after=" + "9" * 40, "limit=²"])
async def test_numbers_are_numbers(project: EngineProject, query: str) -> None:
    run_id = await project.run(1)
    answer = await project.http.get(f"/api/v1/loops/{run_id}/events?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/v1/nothing"), ("GET", "/"), ("POST", "/api/v2/loops")])
async def test_a_wrong_place_is_404(project: EngineProject, method: str, path: str) -> None:
    answer = await project.http.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_a_wrong_method_is_405(project: EngineProject) -> None:
    answer = await project.http.put("/api/v1/loops", json={})
    assert (answer.status_code, answer.json()["code"]) == (405, "not_allowed")


async def test_a_fault_of_ours_is_typed_and_says_nothing_secret(project: EngineProject, monkeypatch: Any) -> None:
    async def broken(*args: Any, **more: Any) -> Any:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(project.engine, "runs", broken)
    answer = await project.http.get("/api/v1/loops")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "secret detail" not in answer.text
    monkeypatch.undo()
    assert (await project.http.get("/api/v1/loops")).status_code == 200


async def test_bytes_that_are_no_http_harm_nobody(project: EngineProject) -> None:
    import asyncio

    for sent in (b"\x00" * 1000, b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", project.handover.port)
        writer.write(sent)
        async with asyncio.timeout(60):
            with suppress(OSError):  # a reset is an answer too
                await writer.drain()
                writer.write_eof()
                await reader.read()
        writer.close()
    assert (await project.http.get("/health")).status_code == 200


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        ("fork", {"iteration": "two"}, "iteration"),
        ("replay", {"uri": 4}, "uri"),
        ("approve", {"loopId": 4}, "loopId"),
        ("approve", {"decision": "perhaps"}, "decision"),
        ("stop", {"cause": 4}, "cause"),
        ("enhance/acknowledge", {"planId": "p"}, "outcome"),
        ("enhance/choose", {"choice": "wait"}, "choice"),
        ("enhance/feedback", {"text": ["x"]}, "text"),
    ],
)
async def test_a_body_of_another_type_is_refused_before_the_engine_sees_it(
    project: EngineProject, verb: str, body: dict[str, Any], field: str
) -> None:
    run_id = await project.run(1)
    answer = await project.http.post(f"/api/v1/loops/{run_id}/{verb}", json=body)
    code = "missing_field" if verb == "enhance/acknowledge" else "validation_error"
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert f"`{field}`" in answer.json()["error"]
