"""Fork, replay, export, import and answers to questions over HTTP, by the client that every surface uses."""

from __future__ import annotations

import asyncio
from typing import Any

from loop_ls.client.session import EngineClient

EngineProject = Any


async def test_a_fork_takes_what_was_finished(project: EngineProject, client: EngineClient) -> None:
    first = await project.run(3)
    await project.ended(first)
    answer = await client.fork(first[:6], 3)
    assert answer["ok"], answer
    state = await project.ended(answer["runId"])
    assert (state["iteration"], state["source"]["iteration"]) == (3, 3)
    assert (await client.fork(first, 9))["code"] == "bad_argument"
    assert (await client.fork("zzzz", 1))["code"] == "not_found"


async def test_a_replay_is_a_run_of_its_own(project: EngineProject, client: EngineClient) -> None:
    first = await project.run(2)
    await project.ended(first)
    project.program.hold.clear()  # nothing is really done, so nothing waits
    answer = await client.replay(first)
    assert (await project.ended(answer["runId"]))["status"] == "completed"


async def test_a_run_goes_out_and_comes_in(project: EngineProject, client: EngineClient) -> None:
    first = await project.run(2)
    await project.ended(first)
    exported = (await client.export(first))["run"]
    assert (await client.delete(first))["ok"]
    assert await client.take_in(exported) == {"ok": True, "runId": first, "known": False}
    assert (await client.status(first))["state"]["imported"] is True
    assert (await client.take_in({"kind": "no run"}))["code"] == "bad_argument"


async def test_a_large_run_comes_in_though_other_bodies_are_small(project: EngineProject, client: EngineClient) -> None:
    first = await project.run(1)
    await project.ended(first)
    exported = (await client.export(first))["run"]
    exported["facts"][-1]["body"]["finalOutput"] = "x" * 2_000_000
    exported["facts"][0]["at"] -= 5
    assert (await client.take_in(exported))["ok"]
    assert (await client.start({"path": "x", "input": "x" * 2_000_000}))["code"] == "too_large"


async def test_all_that_have_ended_go_at_one_word(project: EngineProject, client: EngineClient) -> None:
    ended = [await project.run(1) for _ in range(2)]
    await asyncio.gather(*map(project.ended, ended))
    assert sorted((await client.delete("all"))["deleted"]) == sorted(ended)


async def test_a_run_that_asks_nobody_takes_no_answer(project: EngineProject, client: EngineClient) -> None:
    run_id = await project.run(1)
    await project.ended(run_id)
    assert (await client.approve(run_id, None, True))["code"] == "wrong_status"
    assert await client.approve("all", None, True) == {"ok": True, "resolved": []}


async def test_a_viewer_makes_nothing_of_a_run(project: EngineProject) -> None:
    answer = await project.http.post("/api/v1/test-until", json={"loop": "x"})
    assert answer.status_code == 400
    for path in ("/api/v1/import", "/api/v1/test-until", "/api/v1/loops/x/fork", "/api/v1/loops/x/replay"):
        found = await project.http.post(path, json={}, headers={"Authorization": "Bearer nobody"})
        assert found.status_code == 401
