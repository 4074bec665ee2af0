"""Role loops over HTTP: bodies, codes and states of the documented table (RB 85-91, 94, 114-120)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.api.mcp.agent_tools import loop_list, loop_status
from loop_ls.testing.models import SILENCE

from .served import LOOPS, ServedProject, serving


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedProject]:
    async with serving(tmp_path) as made:
        yield made


async def test_RB_085_a_start_answers_with_loop_iteration_and_stages_or_says_what_is_missing(
    served: ServedProject,
) -> None:
    refused = await served.post(body={"definition": "pair"}, code=400)
    assert refused["code"] == "missing_field"
    assert "goal" in refused["error"]
    assert (await served.post(body={"goal": "x"}, code=400))["code"] == "missing_field"
    unknown = await served.post(body={"definition": "nosuch", "goal": "x"}, code=404)
    assert unknown["code"] == "not_found"
    assert "harness" in unknown["error"]
    served.say(write=SILENCE)
    body = {"definition": "pair", "goal": "Do it."}
    asked = await served.post(body=body, code=409)
    assert asked["code"] == "consent_required"
    assert asked["error"].startswith(
        "The owner must give permission first: this run lets the role coder run any command"
    )
    assert "nonce" not in asked["details"]
    again = await served.post(body={**body, "consent": asked["details"]["digest"]}, code=409)
    assert again["code"] == "consent_required"
    shown = (await served.post(body={**body, "origin": "cli"}, code=409))["details"]
    made = await served.post(body={**body, "consent": agreed(served.data, shown)}, code=201)
    assert (made["loop"]["status"], made["loop"]["definition_name"]) == ("running", "pair")
    assert (made["iteration"]["iteration_number"], made["iteration"]["status"]) == (1, "running")
    assert [stage["role"] for stage in made["stages"]] == ["coder", "reviewer"]
    assert made["loop"]["metadata"]["dispatch"]["status"] in ("pending", "dispatched")


async def test_RB_086_only_some_things_can_be_changed_and_no_limit_below_where_it_is(served: ServedProject) -> None:
    served.say(judge_it=["no", "no", "no"], write=["a", "b", SILENCE])
    run_id = await served.begin()
    await served.until(run_id, "iteration_started", iteration=3)
    path = f"{LOOPS}/{run_id}"
    for wrong in ({"status": "completed"}, {}, {"goal": " "}, {"max_iterations": 0}, {"max_iterations": "4"}):
        assert (await served.http.patch(path, json=wrong)).status_code == 400, wrong
    for wrong in ({"metadata": {"dispatch": {"status": "x"}}}, {"metadata": {"completion_reason": "approved"}}):
        assert (await served.http.patch(path, json=wrong)).status_code == 400, wrong
    assert (await served.http.patch(path, json={"max_iterations": 2})).status_code == 409
    assert (await served.http.patch(f"{LOOPS}/nosuch", json={"goal": "x"})).status_code == 404
    changes = {"goal": "Better.", "max_iterations": None, "labels": [" a ", "a", "b"], "metadata": {"x": {"y": 1}}}
    changed = (await served.http.patch(path, json=changes)).json()["loop"]
    assert (changed["goal"], changed["max_iterations"]) == ("Better.", None)
    assert changed["metadata"]["labels"] == ["a", "b"]
    again = (await served.http.patch(path, json={"metadata": {"x": {"z": 2}}})).json()["loop"]
    assert again["metadata"]["x"] == {"y": 1, "z": 2}


async def test_RB_086_a_changed_limit_holds_and_a_changed_goal_is_told(served: ServedProject) -> None:
    gate = asyncio.Event()
    inner = served.models.ask

    async def ask(request: Any, *others: Any) -> Any:
        await gate.wait()
        return await inner(request, *others)

    served.models.ask = ask  # type: ignore[method-assign]
    served.say(judge_it="no")
    run_id = await served.begin(max_iterations=1)
    await served.until(run_id, "stage_started")
    await served.http.patch(f"{LOOPS}/{run_id}", json={"max_iterations": 2, "goal": "Better."})
    gate.set()
    state = await served.ended(run_id)
    assert (state["reason"], state["iteration"], state["goal"]) == ("max_iterations", 2, "Better.")
    assert "## Goal\n\nBetter." in served.models.prompts("judge-it")[0]
    assert "Iteration 2/2" in served.models.prompts("write")[1]
    kept = (await served.http.patch(f"{LOOPS}/{run_id}", json={"labels": ["done"]})).json()["loop"]
    assert (kept["metadata"]["labels"], kept["status"]) == (["done"], "completed")
    assert (await served.get(f"/{run_id}"))["loop"]["metadata"]["labels"] == ["done"]


async def test_RB_087_a_loop_that_runs_cannot_be_deleted_and_one_that_ended_is_gone(served: ServedProject) -> None:
    [run_id] = await served.held(1)
    path = f"{LOOPS}/{run_id}"
    assert (await served.http.delete(path)).status_code == 409
    await served.post(f"/{run_id}/pause")
    assert (await served.http.delete(path)).status_code == 409
    await served.post(f"/{run_id}/stop")
    gone = await served.http.delete(path)
    assert (gone.status_code, gone.json()["deleted"], gone.json()["id"]) == (200, True, run_id)
    assert (await served.http.get(f"{path}/iterations")).status_code == 404
    assert await served.records_of("sprints", loop_id=run_id) == []
    assert len(await served.records_of("projects")) == 1


async def test_RB_088_an_iteration_of_another_loop_is_not_found(served: ServedProject) -> None:
    served.define("other")
    first, second = await served.begin(), await served.begin(definition="other")
    for run_id in (first, second):
        await served.ended(run_id)
    own = (await served.get(f"/{second}/iterations"))["iterations"][0]["id"]
    await served.get(f"/{second}/iterations/{own}")
    await served.get(f"/{first}/iterations/{own}", code=404)


async def test_RB_089_a_paused_loop_cannot_be_paused(served: ServedProject) -> None:
    [run_id] = await served.held(1)
    await served.post(f"/{run_id}/pause")
    assert (await served.post(f"/{run_id}/pause", code=409))["code"] == "wrong_status"


async def test_RB_090_only_running_loops_are_counted_as_active(served: ServedProject) -> None:
    ids = await served.held(3)
    await served.post(f"/{ids[0]}/pause")
    assert (await served.get("/active/count"))["active"] == 2


async def test_RB_091_metrics_count_iterations_and_stages(served: ServedProject) -> None:
    stages = [{"name": name, "role": role, "prompt": "P APPROVED"} for name, role in (("a", "plan"), ("b", "coder"))]
    stages.append({"name": "judge-it", "role": "reviewer", "prompt": "APPROVED?"})
    served.define("three", roles=stages)
    served.say(judge_it=["no", "APPROVED"])
    run_id = await served.begin(definition="three")
    await served.ended(run_id)
    found = await served.get(f"/{run_id}/metrics")
    assert (found["iterations"]["total"], found["stages"]["total"]) == (2, 6)
    assert found["stages"]["by_role"] == {"plan": 2, "coder": 2, "reviewer": 2}
    assert found["iterations"]["by_status"] == {"needs_rework": 1, "completed": 1}
    assert len(found["timings"]["iteration_timings"]) == 2
    assert found["duration_seconds"] >= 0


async def test_RB_094_the_elapsed_time_of_a_running_loop_is_never_negative(served: ServedProject) -> None:
    [run_id] = await served.held(1)
    told = json.loads(await loop_status(served, {"id": run_id}))  # type: ignore[arg-type]
    assert told["elapsed_seconds"] >= 0


async def test_RB_114_status_tells_iteration_stage_and_time_and_the_time_stands_still_at_the_end(
    served: ServedProject,
) -> None:
    [run_id] = await served.held(1)
    told = json.loads(await loop_status(served, {"id": run_id[:6]}))  # type: ignore[arg-type]
    assert told["current_iteration"] == 1
    assert told["current_stage"] == {"index": 0, "role": "coder", "label": "write"}
    assert told["dispatch"]["status"] == "dispatched"
    await served.post(f"/{run_id}/stop")
    await served.ended(run_id)
    first = json.loads(await loop_status(served, {"id": run_id}))  # type: ignore[arg-type]
    await served.ended(await served.begin(definition="harness", max_iterations=1))
    again = json.loads(await loop_status(served, {"id": run_id}))  # type: ignore[arg-type]
    assert (first["status"], first["elapsed_seconds"]) == ("cancelled", again["elapsed_seconds"])


async def test_RB_115_a_list_of_one_status(served: ServedProject) -> None:
    ids = await served.held(2)
    await served.post(f"/{ids[0]}/pause")
    found = await served.get("?status=paused")
    assert ([row["id"] for row in found["loops"]], found["count"], found["active"]) == ([ids[0]], 1, 1)
    assert (await served.get("?status=sleeping", code=400))["code"] == "validation_error"


async def test_RB_115_a_loop_that_cannot_continue_is_blocked_in_its_row_and_in_lists(served: ServedProject) -> None:
    served.say(write="STATUS: BLOCKED\nI need the password.")
    run_id = await served.begin()
    await served.until(run_id, "manual_approval_required", blocked=True)
    assert (await served.get(f"/{run_id}"))["loop"]["status"] == "blocked"
    found = await served.get("?status=blocked")
    assert ([row["id"] for row in found["loops"]], found["active"]) == ([run_id], 0)
    assert (await served.get("?status=running"))["count"] == 0
    assert (await served.get("?status=active"))["count"] == 1
    assert (await served.get("?status=waiting_approval"))["count"] == 1


async def test_RB_116_the_agents_list_of_one_status_or_a_message_that_names_it(served: ServedProject) -> None:
    ids = await served.held(2)
    await served.post(f"/{ids[0]}/pause")
    told = await loop_list(served, {"status": "paused"})  # type: ignore[arg-type]
    assert ids[0] in told
    assert ids[1] not in told
    assert await loop_list(served, {"status": "failed"}) == "No loops with status failed."  # type: ignore[arg-type]


async def test_RB_116_a_loop_that_waits_for_a_decision_says_so_to_agents(served: ServedProject) -> None:
    served.say(write="STATUS: BLOCKED\nI need the password.")
    run_id = await served.begin()
    await served.until(run_id, "manual_approval_required", blocked=True)
    told = await loop_list(served, {"status": "blocked"})  # type: ignore[arg-type]
    assert told.startswith(run_id)
    assert told.endswith("  waits for a decision")
    state = json.loads(await loop_status(served, {"id": run_id}))  # type: ignore[arg-type]
    assert "See loop_inbox for the rest" in state["asks"]


async def two_rounds(served: ServedProject) -> str:
    served.say(judge_it=["no", "APPROVED"])
    run_id = await served.begin()
    await served.ended(run_id)
    return run_id


async def test_RB_117_history_has_all_iterations_in_order(served: ServedProject) -> None:
    found = await served.get(f"/{await two_rounds(served)}/history")
    assert ([row["iteration_number"] for row in found["history"]], found["count"]) == ([1, 2], 2)
    for row in found["history"]:
        assert row["duration_seconds"] >= 0
        assert (row["stage_count"], row["completed_stage_count"]) == (2, 2)
        assert [stage["role"] for stage in row["stages"]] == ["coder", "reviewer"]
    assert found["history"][0]["outcome_summary"].splitlines()[1] == "reviewer [completed]: no"


async def test_RB_118_iterations_and_one_of_them(served: ServedProject) -> None:
    run_id = await two_rounds(served)
    found = await served.get(f"/{run_id}/iterations")
    assert ([row["iteration_number"] for row in found["iterations"]], found["count"]) == ([1, 2], 2)
    one = await served.get(f"/{run_id}/iterations/{found['iterations'][1]['id']}")
    assert one["iteration"]["iteration_number"] == 2
    assert [stage["result_summary"] for stage in one["stages"]] == ["text", "APPROVED"]


async def test_RB_118_an_id_of_an_iteration_is_that_of_one_loop_alone(served: ServedProject) -> None:
    """Two loops of one definition: their iterations and stages have names of their own, which fit into an address."""
    first, second = await two_rounds(served), await served.begin()
    await served.ended(second)
    rows = {run: (await served.get(f"/{run}/iterations"))["iterations"] for run in (first, second)}
    ids = [one["id"] for own in rows.values() for row in own for one in (row, *row["stages"])]
    assert len(set(ids)) == len(ids) == 9
    assert not any("/" in one for one in ids)
    for run, own in rows.items():
        for row in own:
            assert {stage["iteration_id"] for stage in row["stages"]} == {row["id"]}
            assert (await served.records_of("sprints", id=row["sprint_id"]))[0]["iteration_id"] == row["id"]
            assert (await served.get(f"/{run}/iterations/{row['id']}"))["iteration"]["output"] == row["output"]
            assert (await served.get(f"/{run}/history?place={row['id']}"))["history"][0]["output"] == row["output"]
            for named in (row["place"], str(row["iteration_number"])):  # as people call it
                assert (await served.get(f"/{run}/iterations/{named}"))["iteration"]["id"] == row["id"]
    timings = (await served.get(f"/{first}/metrics"))["timings"]["iteration_timings"]
    assert [one["id"] for one in timings] == [row["id"] for row in rows[first]]
    last = rows[first][1]["stages"][1]["id"]
    assert (await served.get(f"/{first}"))["loop"]["metadata"]["dispatch"]["stage_id"] == last
    await served.get(f"/{second}/iterations/{rows[first][0]['id']}", code=404)


async def test_RB_119_control_answers_with_the_new_status(served: ServedProject) -> None:
    [run_id] = await served.held(1)
    for verb, status in (("pause", "paused"), ("resume", "running"), ("stop", "cancelled")):
        answer = await served.post(f"/{run_id}/{verb}")
        assert (answer["id"], answer["status"]) == (run_id, status)


async def test_RB_120_the_bodies_have_the_documented_keys(served: ServedProject) -> None:
    run_id = await two_rounds(served)
    one = await served.get(f"/{run_id}")
    assert {"loop", "iteration", "stages"} <= set(one)
    assert {
        *("id", "definition_name", "session_id", "project_id", "goal", "status", "current_iteration"),
        *("current_stage", "max_iterations", "termination_criteria", "started_at", "completed_at", "metadata"),
    } <= set(one["loop"])
    assert one["loop"]["metadata"]["completion_reason"] == "approved"
    assert (one["loop"]["project"]["title"], one["loop"]["project"]["status"]) == ("Loop: pair", "active")
    assert (one["iteration"]["sprint"]["title"], one["iteration"]["sprint"]["status"]) == (
        "pair — iteration 2",
        "complete",
    )
    assert {"id", "loop_id", "iteration_number", "sprint_id", "status", "outcome_summary"} <= set(one["iteration"])
    assert {
        *("id", "iteration_id", "stage_index", "role", "task_id", "artifact_id", "status", "result_summary"),
        *("started_at", "completed_at", "label", "model"),
    } <= set(one["stages"][0])
    assert {"configuration", "deadline", "last_activity_at"} <= set(one["loop"])
    served.write("loops/broken.json", "{")
    listed = await served.get("/definitions")
    found = {row["name"]: row for row in listed["definitions"]}
    assert listed["count"] == len(listed["definitions"])
    assert {"name", "description", "parameters", "roles", "termination"} <= set(found["pair"])
    assert set(found["pair"]["roles"][0]) == {"role", "prompt", "max_iterations"}
    assert found["pair"]["termination"]["type"] == "evaluation_bound"
    assert found["harness"]["termination"]["value"]["max_review_rounds"] == 5, "the default of its parameter"
    assert set(found["harness"]["termination"]) == {"type", "value"}
    assert found["broken"]["error"]


async def test_RB_120_a_loop_shows_the_definition_that_it_runs_with_its_parameters_filled_in(
    served: ServedProject,
) -> None:
    asked = [{"name": "depth", "description": "How deep?", "required": False, "default": "shallow"}]
    roles = [{"name": "write", "role": "coder", "prompt": "Go {{depth}}.", "max_iterations": 7}]
    end = {"type": "iteration_bound", "value": 2}
    served.define("dig", parameters=asked, roles=roles, termination_condition=end)
    run_id = await served.begin(definition="dig", parameters={"depth": "deep"})
    await served.ended(run_id)
    served.define("dig", roles=[{"name": "other", "role": "coder", "prompt": "Something else."}])
    told = (await served.get(f"/{run_id}"))["loop"]["configuration"]
    assert told["resolved_parameters"] == {"depth": "deep"}
    assert told["termination"] == end
    assert [(role["label"], role["prompt"], role["max_iterations"]) for role in told["roles"]] == [
        ("write", "Go deep.", 7)
    ]
    assert (await served.get(f"/{run_id}/history"))["loop"]["configuration"] == told
    assert "configuration" not in (await served.get())["loops"][0], "a list has no prompts"


async def test_RB_120_a_loop_says_when_its_time_is_up_and_when_something_happened_last(served: ServedProject) -> None:
    served.say(write=SILENCE)
    served.define("hour", termination_condition={"type": "time_bound", "value": 3_600})
    run_id = await served.begin(definition="hour")
    await served.until(run_id, "stage_started")
    one = (await served.get(f"/{run_id}"))["loop"]
    began, until = datetime.fromisoformat(one["started_at"]), datetime.fromisoformat(one["deadline"])
    assert 0 <= (until - began).total_seconds() - 3_600 < 5
    assert datetime.fromisoformat(one["last_activity_at"]) >= began
    assert one["state"]["lastActivityAt"] == one["last_activity_at"]
    told = json.loads(await loop_status(served, {"id": run_id}))  # type: ignore[arg-type]
    assert (told["deadline"], told["last_activity_at"]) == (one["deadline"], one["last_activity_at"])
    await served.post(f"/{run_id}/pause")
    later = (await served.get(f"/{run_id}"))["loop"]
    assert later["last_activity_at"] > one["last_activity_at"]
    assert later["deadline"] == one["deadline"]


async def test_RB_120_a_stage_that_judges_has_its_verdict(served: ServedProject) -> None:
    roles = [
        {"name": "write", "role": "coder", "prompt": "Write."},
        {"name": "test", "role": "reviewer", "prompt": "Test.", "gate": True},
        {"name": "judge-it", "role": "reviewer", "prompt": "Judge."},
    ]
    served.define("gated", roles=roles)
    served.say(test=["It fails.", "APPROVED"], judge_it="APPROVED")
    run_id = await served.begin(definition="gated")
    await served.ended(run_id)
    rows = (await served.get(f"/{run_id}/history"))["history"]
    assert [row["verdict"] for row in rows] == ["no", "yes"]
    assert [[stage.get("verdict") for stage in row["stages"]] for row in rows] == [
        [None, "no", "yes"],
        [None, "yes", "yes"],
    ]


async def test_RB_120_a_stage_that_a_model_judges_has_its_verdict(served: ServedProject) -> None:
    served.define("asked", approval={"mode": "llm"})
    served.say(judge_it="I looked.", judge=['{"requirements_met": true, "quality_pass": true, "rationale": "fine"}'])
    run_id = await served.begin(definition="asked")
    await served.ended(run_id)
    [row] = (await served.get(f"/{run_id}/history"))["history"]
    assert [stage.get("verdict") for stage in row["stages"]] == [None, row["verdict"]]


async def test_RB_114_time_counts_pauses_and_time_at_work_does_not(served: ServedProject) -> None:
    [run_id] = await served.held(1)
    await served.post(f"/{run_id}/pause")
    before = (await served.get(f"/{run_id}"))["loop"]
    await asyncio.sleep(0.3)
    after = (await served.get(f"/{run_id}"))["loop"]
    assert after["active_seconds"] == before["active_seconds"]
    assert after["elapsed_seconds"] - before["elapsed_seconds"] >= 0.3
    counted = await served.get(f"/{run_id}/metrics")
    assert counted["active_seconds"] == after["active_seconds"]
    assert counted["duration_seconds"] >= after["elapsed_seconds"]
    assert counted["timings"]["total_iteration_seconds"] <= counted["duration_seconds"]
