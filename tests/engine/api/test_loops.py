"""The documented routes of loops: rows, statuses, codes."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.errors import Refused
from tests.engine.api.conftest import EngineProject


async def body(project: EngineProject, method: str, path: str, status: int, **more: Any) -> dict[str, Any]:
    answer = await project.http.request(method, f"/api/v1{path}", **more)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def test_a_start_is_201_with_the_loop(project: EngineProject) -> None:
    made = await body(
        project,
        "POST",
        "/loops",
        201,
        json={"root": str(project.folder.path), "path": str(project.folder.path / "w.yaml"), "input": "2"},
    )
    assert made["ok"] is True
    assert made["loop"]["id"] == made["runId"]
    assert (await project.ended(made["runId"]))["reason"] == "condition_met"


async def test_WB_168_a_start_that_is_sent_again_with_its_key_is_the_same_run_and_another_one_is_409(
    project: EngineProject,
) -> None:
    request = {"root": str(project.folder.path), "path": str(project.folder.path / "w.yaml"), "input": "1"}
    key = {"Idempotency-Key": "one"}
    first = await body(project, "POST", "/loops", 201, json=request, headers=key)
    again = await body(project, "POST", "/loops", 201, json={**request, "idempotencyKey": "one"})
    assert (again["runId"], again["repeated"]) == (first["runId"], True)
    refused = await body(project, "POST", "/loops", 409, json={**request, "input": "2"}, headers=key)
    assert (refused["code"], refused["details"]["runId"]) == ("idempotency_conflict", first["runId"])
    assert (await body(project, "GET", "/loops", 200))["count"] == 1


async def test_the_list_counts(project: EngineProject) -> None:
    first = await project.run(1)
    await project.ended(first)
    project.program.hold.clear()
    second = await project.run(3)
    listed = await body(project, "GET", "/loops", 200)
    assert [row["id"] for row in listed["loops"]] == [second, first]
    assert (listed["count"], listed["active"]) == (2, 1)
    assert (await body(project, "GET", "/loops/active/count", 200))["active"] == 1
    done = await body(project, "GET", "/loops?status=completed", 200)
    assert [row["id"] for row in done["loops"]] == [first]
    assert (await body(project, "GET", "/loops?limit=1", 200))["count"] == 1


async def test_an_unknown_status_is_refused_with_the_known_ones(project: EngineProject) -> None:
    answer = await body(project, "GET", "/loops?status=sleeping", 400)
    assert answer["code"] == "validation_error"
    assert "running" in answer["error"]


@pytest.mark.parametrize("path", ["", "/state", "/history", "/iterations", "/iterations/1", "/events", "/graph"])
async def test_an_unknown_run_is_404(project: EngineProject, path: str) -> None:
    answer = await body(project, "GET", f"/loops/nowhere{path}", 404)
    assert answer["code"] == "not_found"
    assert "nowhere" in answer["error"]


async def test_history_has_output_verdict_question_and_answer(project: EngineProject) -> None:
    run_id = await project.run(3)
    await project.ended(run_id)
    found = await body(project, "GET", f"/loops/{run_id}/history", 200)
    assert found["count"] == 3
    assert [row["iteration_number"] for row in found["history"]] == [1, 2, 3]
    assert [row["verdict"] for row in found["history"]] == ["no", "no", "yes"]
    assert [row["status"] for row in found["history"]] == ["needs_rework", "needs_rework", "completed"]
    last = found["history"][-1]
    assert last["output"] == "output 3"
    assert last["question"].startswith('Evaluate this condition: "It is good"\n\nOutput to evaluate:\noutput 3\n')
    assert last["answer"] == "YES"
    assert last["completed_at"] >= last["started_at"]


async def test_a_part_of_the_history_and_of_long_texts(project: EngineProject) -> None:
    run_id = await project.run(3)
    await project.ended(run_id)
    facts = (await body(project, "GET", f"/loops/{run_id}/events", 200))["events"]
    begun = next(fact["seq"] for fact in facts if fact["kind"] == "iteration_started" and fact["iteration"] == 2)
    judged = next(fact["seq"] for fact in facts if fact["kind"] == "judged" and fact["iteration"] == 2)
    window = f"after={begun - 1}&until={judged}&place=develop/2"
    found = await body(project, "GET", f"/loops/{run_id}/history?{window}", 200)
    [row] = found["history"]
    assert (row["output"], row["verdict"]) == ("output 2", "no")
    assert "output 2" in row["question"]
    [short] = (await body(project, "GET", f"/loops/{run_id}/history?{window}&cut=6", 200))["history"]
    assert (short["output"], short["lengths"]["output"]) == ("output", 8)
    cut = (await body(project, "GET", f"/loops/{run_id}/events?after={judged - 2}&limit=1&cut=6", 200))["events"]
    assert [(fact["output"], fact["lengths"]) for fact in cut] == [("output", {"output": 8})]


async def test_a_run_whose_texts_make_no_graph_has_an_empty_one(project: EngineProject) -> None:
    run_id = await project.run(1)
    await project.ended(run_id)
    assert (await body(project, "GET", f"/loops/{run_id}/graph", 200))["nodes"] == []


async def test_one_iteration_by_place_or_number(project: EngineProject) -> None:
    run_id = await project.run(2)
    await project.ended(run_id)
    for name in ("develop/2", "2"):
        found = await body(project, "GET", f"/loops/{run_id}/iterations/{name}", 200)
        assert found["iteration"]["output"] == "output 2"
    assert (await body(project, "GET", f"/loops/{run_id}/iterations/9", 404))["code"] == "not_found"


async def test_a_single_loop_shows_its_latest_iteration(project: EngineProject) -> None:
    run_id = await project.run(2)
    await project.ended(run_id)
    found = await body(project, "GET", f"/loops/{run_id[:6]}", 200)
    assert found["loop"]["status"] == "completed"
    assert found["loop"]["completion_reason"] == "condition_met"
    assert found["iteration"]["iteration_number"] == 2


async def test_pause_resume_stop(project: EngineProject) -> None:
    project.program.hold.clear()
    run_id = await project.run(3)
    paused = await body(project, "POST", f"/loops/{run_id}/pause", 200)
    assert (paused["id"], paused["status"]) == (run_id, "paused")
    assert (await body(project, "POST", f"/loops/{run_id}/resume", 200))["status"] == "running"
    assert (await body(project, "POST", f"/loops/{run_id}/stop", 200))["ok"] is True
    assert (await project.ended(run_id))["status"] == "cancelled"
    refused = await body(project, "POST", f"/loops/{run_id}/resume", 409)
    assert refused["code"] == "wrong_status"


async def test_all_runs_at_once(project: EngineProject) -> None:
    project.program.hold.clear()
    runs = {await project.run(3), await project.run(3)}
    answer = await body(project, "POST", "/loops/all/stop", 200)
    assert {row["runId"] for row in answer["runs"]} == runs


async def test_a_run_that_ended_can_be_deleted_and_others_keep_their_facts(project: EngineProject) -> None:
    first, second = await project.run(2), await project.run(2)
    await project.ended(first)
    await project.ended(second)
    before = (await body(project, "GET", f"/loops/{second}/events", 200))["events"]
    assert await body(project, "DELETE", f"/loops/{first[:8]}", 200) == {
        "ok": True,
        "runId": first,
        "deleted": True,
        "id": first,
    }
    assert (await body(project, "GET", f"/loops/{first}", 404))["code"] == "not_found"
    assert [row["id"] for row in (await body(project, "GET", "/loops", 200))["loops"]] == [second]
    assert (await body(project, "GET", f"/loops/{second}/events", 200))["events"] == before
    third = await project.run(1)
    assert (await project.ended(third))["reason"] == "condition_met"


async def test_a_run_that_goes_on_cannot_be_deleted(project: EngineProject) -> None:
    project.program.hold.clear()
    run_id = await project.run(2)
    assert (await body(project, "DELETE", f"/loops/{run_id}", 409))["code"] == "wrong_status"


async def test_events_come_in_pages(project: EngineProject) -> None:
    run_id = await project.run(3)
    await project.ended(run_id)
    first = await body(project, "GET", f"/loops/{run_id}/events?limit=4", 200)
    rest = await body(project, "GET", f"/loops/{run_id}/events?after={first['next']}", 200)
    numbers = [event["seq"] for event in first["events"] + rest["events"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert rest["events"][-1]["kind"] == "completed"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("file_has_errors", 400),
        ("input_required", 400),
        ("consent_required", 409),
        ("not_trusted", 403),
        ("already_running", 409),
        ("provider_unavailable", 503),
        ("limit_reached", 429),
        ("bad_argument", 400),
    ],
)
async def test_every_refusal_keeps_its_code_and_details(project: EngineProject, code: Any, status: int) -> None:
    project.preparer.refusal = Refused(code, "It cannot be.", "Do this.", {"names": ["input"]})
    argument = {"root": str(project.folder.path), "path": str(project.folder.path / "w.yaml")}
    answer = await body(project, "POST", "/loops", status, json=argument)
    assert answer == {"error": "It cannot be.", "code": code, "hint": "Do this.", "details": {"names": ["input"]}}
