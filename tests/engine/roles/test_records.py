"""What is kept of a role loop: outputs, artifacts, sessions, projects and sprints (RB 74-78, 84, 95-101, 128-129)."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.roles.outcome import MARKER
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.sprints import Sprints, move
from loop_ls.engine.roles.records.stores import Unavailable
from loop_ls.testing.models import SILENCE, failure

from .conftest import PAIR, EngineProject

Json = dict[str, Any]


async def test_RB_074_2001_characters_are_cut_in_the_record_and_whole_in_the_artifact(project: EngineProject) -> None:
    long = "x" * 2_000 + "y"
    project.say(write=long)
    state = await project.run()
    stage = (await project.rows(state["runId"]))[0]["stages"][0]
    assert stage["result_summary"] == "x" * 2_000 + f"\n{MARKER}"
    [artifact] = await project.records_of("artifacts", id=stage["artifact_id"])
    assert artifact["content"] == long


async def test_RB_075_2000_characters_have_no_marker(project: EngineProject) -> None:
    project.say(write="x" * 2_000)
    state = await project.run()
    assert (await project.rows(state["runId"]))[0]["stages"][0]["result_summary"] == "x" * 2_000


async def test_RB_076_every_successful_stage_leaves_an_artifact_in_the_session_of_the_starter(
    project: EngineProject,
) -> None:
    state = await project.run(sessionId="mine")
    stages = (await project.rows(state["runId"]))[0]["stages"]
    kept = await project.records_of("artifacts", session_id="mine")
    assert [stage["artifact_id"] for stage in stages] == [one["id"] for one in kept]
    assert [one["type"] for one in kept] == ["loop_output", "loop_output"]
    assert [one["title"] for one in kept] == [
        "Loop output: coder (iter 1, stage 0)",
        "Loop output: reviewer (iter 1, stage 1)",
    ]
    assert kept[0]["created_by"] == "loop:coder stage:0"
    assert kept[0]["metadata"]["loop_id"] == state["runId"]
    assert [one["metadata"]["task_id"] for one in kept] == [stage["task_id"] for stage in stages]


async def test_RB_077_without_the_artifact_that_it_requires_a_stage_fails_before_its_agent(
    project: EngineProject,
) -> None:
    stages = [PAIR["roles"][0], {**PAIR["roles"][1], "requires_artifact_from": 0}]
    project.define("strict", roles=stages)
    project.say(write=" ")
    state = await project.run("strict")
    rows = await project.rows(state["runId"])
    assert state["status"] == "failed"
    assert rows[0]["stages"][1]["status"] == "failed"
    assert "artifact" in rows[0]["stages"][1]["result_summary"]
    assert project.models.order == ["write"]


async def test_RB_078_all_times_end_in_z(project: EngineProject) -> None:
    state = await project.run()
    told = [state, *await project.rows(state["runId"]), *await project.facts(state["runId"])]
    told += [row for table in ("projects", "sprints", "artifacts") for row in await project.records_of(table)]
    times = list(_times(told))
    assert len(times) > 20
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time) for time in times)


def _times(value: Any) -> Any:
    match value:
        case dict():
            for name, inner in value.items():
                if re.search(r"(^at|_at|At)$", name) and inner is not None:
                    yield inner
                else:
                    yield from _times(inner)
        case list():
            for inner in value:
                yield from _times(inner)


async def test_RB_084_what_a_stage_makes_is_seen_in_the_session_of_the_starter(project: EngineProject) -> None:
    from loop_ls.engine.core.messages import ToolCall
    from loop_ls.engine.core.ports import ModelReply

    async def ask(request: Any, *others: Any) -> ModelReply:
        if not request.turns:
            arguments = {"title": "Plan B", "content": "In case."}
            return ModelReply("", "p", "m", calls=(ToolCall("1", "artifact_create", arguments, "{}"),))
        return ModelReply("APPROVED", "p", "m")

    project.models.ask = ask  # type: ignore[method-assign,assignment]
    await project.run(sessionId="mine")
    titles = [one["title"] for one in await project.records_of("artifacts", session_id="mine")]
    assert "Plan B" in titles
    hidden = [one for one in await project.records_of("sessions") if one["parent"] == "mine"]
    assert [one["hidden"] for one in hidden] == [1, 1]
    assert await project.records_of("artifacts", session_id=hidden[0]["id"]) == []


async def test_RB_095_a_start_makes_a_project(project: EngineProject) -> None:
    state = await project.run(goal="Build a cache.")
    [recorded] = await project.records_of("projects")
    assert (recorded["title"], recorded["description"], recorded["status"]) == (
        "Loop: pair",
        "Build a cache.",
        "active",
    )
    assert re.fullmatch(r"loop-pair-[0-9a-f]{8}", recorded["slug"])
    assert state["projectId"] == recorded["id"]


async def test_RB_096_a_session_keeps_its_project_unless_another_one_is_named(project: EngineProject) -> None:
    first = await project.run(sessionId="mine")
    second = await project.run(sessionId="mine")
    other = await project.run(sessionId="yours")
    assert first["projectId"] == second["projectId"] != other["projectId"]
    [slug] = [one["slug"] for one in await project.records_of("projects", id=other["projectId"])]
    third = await project.run(sessionId="mine", project_slug=slug)
    assert third["projectId"] == other["projectId"]
    assert (await project.ask(project_slug="nosuch"))["code"] == "not_found"


async def test_a_loop_of_another_goal_is_not_told_what_the_first_loop_of_its_project_was_for(
    project: EngineProject,
) -> None:
    await project.run(goal="Document it, change nothing.", sessionId="mine")
    first = [request.prompt for request in project.models.requests]
    assert all("- description: Document it, change nothing." in prompt for prompt in first)
    project.models.requests.clear()
    second = await project.run(goal="Remove the payments.", sessionId="mine")
    told = [request.prompt for request in project.models.requests]
    assert told
    assert all(f"- id: {second['projectId']}" in prompt for prompt in told)
    assert not any("Document it" in prompt or "- title: " in prompt for prompt in told)


async def sprints(project: EngineProject, run_id: str) -> list[Json]:
    return await project.records_of("sprints", loop_id=run_id)


def went(sprint: Json) -> list[str]:
    return [step["status"] for step in sprint["transitions"]]


async def test_RB_097_an_iteration_has_its_sprint(project: EngineProject) -> None:
    project.say(write=SILENCE)
    run_id = await project.start()
    await project.until(run_id, "stage_started")
    [sprint] = await sprints(project, run_id)
    state = await project.state(run_id)
    assert (sprint["title"], sprint["status"]) == ("pair — iteration 1", "in_progress")
    assert (sprint["acceptance_criteria"], sprint["project_id"]) == ("It is good.", state["projectId"])
    [row] = await project.rows(run_id)
    assert row["sprint_id"] == sprint["id"]
    await project.engine.control("stop", run_id)


@pytest.mark.parametrize("said", ["APPROVED", "no"])
async def test_RB_098_approval_and_the_limit_complete_the_sprint(project: EngineProject, said: str) -> None:
    project.say(judge_it=said)
    state = await project.run(max_iterations=1)
    [sprint] = await sprints(project, state["runId"])
    assert went(sprint) == ["planned", "in_progress", "review", "complete"]


async def test_RB_099_another_round_rejects_the_sprint_and_has_one_of_its_own(project: EngineProject) -> None:
    project.say(judge_it=["NEEDS CHANGES: tests", "APPROVED"])
    state = await project.run()
    first, second = await sprints(project, state["runId"])
    assert went(first) == ["planned", "in_progress", "review", "rejected"]
    assert "NEEDS CHANGES: tests" in first["note"]
    assert (second["title"], second["status"]) == ("pair — iteration 2", "complete")


async def test_RB_100_a_failed_iteration_rejects_its_sprint_and_a_stop_cancels_it(project: EngineProject) -> None:
    project.say(write=[failure("the disk is full"), SILENCE])
    failed = await project.run()
    [sprint] = await sprints(project, failed["runId"])
    assert went(sprint)[-2:] == ["review", "rejected"]
    assert "the disk is full" in sprint["note"]
    run_id = await project.start()
    await project.until(run_id, "stage_started")
    await project.engine.control("stop", run_id)
    await project.ended(run_id)
    [sprint] = await sprints(project, run_id)
    assert sprint["status"] == "cancelled"


async def test_RB_101_a_sprint_that_cannot_be_written_stops_nothing(project: EngineProject) -> None:
    await project.run()
    await project.records.do(lambda table: table._connection.execute("drop table sprints"))
    with pytest.raises(Unavailable):
        await project.records_of("sprints")
    assert (await project.run())["reason"] == "approved"


async def test_RB_097_a_sprint_moves_only_where_it_may(project: EngineProject) -> None:
    state = await project.run()
    [sprint] = await sprints(project, state["runId"])
    with pytest.raises(ValueError, match="complete"):
        await project.records.do(lambda table: move(table, sprint["id"], "in_progress"))


async def test_RB_099_a_sprint_that_has_ended_already_stays_as_it_is_and_nobody_is_warned(
    project: EngineProject, caplog: pytest.LogCaptureFixture
) -> None:
    """A stage may have ended it with its tool."""
    state = await project.run()
    own = Sprints(project.records, state["runId"], "pair", state["projectId"], None)
    await own.end(1, "rejected", "too late")
    await own.cancel(1)
    [sprint] = await sprints(project, state["runId"])
    assert (sprint["status"], went(sprint)[-1]) == ("complete", "complete")
    assert caplog.messages == []
    await project.records.do(lambda table: table._connection.execute("drop table sprints"))
    await own.cancel(1)
    assert len(caplog.messages) == 1


async def test_RB_128_an_editor_has_one_session_for_each_folder(project: EngineProject) -> None:
    project.write("inner/loops/pair.json", (project.root / "loops" / "pair.json").read_text())
    project.write("inner/.loop-ls.yaml", (project.root / ".loop-ls.yaml").read_text())
    sessions = []
    for root in (project.root, project.root, project.root / "inner"):
        answer = await project.ask(origin="editor", root=str(root))
        sessions.append(answer["sessionId"])
        state = await project.ended(answer["runId"])  # a second one at the same time would be asked about
        assert state["sessionId"] == sessions[-1]
    assert sessions[0] == sessions[1] != sessions[2]


@pytest.mark.parametrize("origin", ["cli", "mcp"])
async def test_RB_129_others_get_a_session_of_their_own_unless_they_name_one(
    project: EngineProject, origin: str
) -> None:
    project.define(roles=[{"name": "write", "role": "reviewer", "prompt": "Say APPROVED."}])  # several may read at once
    answers = [await project.ask(origin=origin) for _ in range(2)]
    named = await project.ask(origin=origin, session_id="mine")
    assert len({answers[0]["sessionId"], answers[1]["sessionId"], named["sessionId"]}) == 3
    assert named["sessionId"] == "mine"


async def test_a_session_that_nobody_knows_is_refused_over_http(project: EngineProject) -> None:
    assert (await project.ask(origin="api", session_id="nosuch"))["code"] == "not_found"
    made = await project.ask(origin="api")
    await project.ended(made["runId"])
    assert (await project.ask(origin="api", session_id=made["sessionId"]))["ok"]


async def test_a_clean_end_folds_the_log_of_the_records_into_their_file(tmp_path: Path) -> None:
    records = Records(tmp_path, time.time)
    await records.do(lambda table: table.find("projects"))
    assert (tmp_path / "records.db-wal").exists()
    records.close()
    assert not (tmp_path / "records.db-wal").exists()
