"""Parameters and starting: what is filled in, what is demanded, what is refused (RB 19-38)."""

from __future__ import annotations

import asyncio
from typing import Any

from loop_ls.testing.models import SILENCE

from .conftest import EngineProject

SUBJECT = {"name": "subject", "description": "What it is about"}
DEPTH = {"name": "depth", "description": "How deep", "required": False, "default": "moderate"}


def investigate(
    project: EngineProject, prompt: str = "Investigate {{subject}} at {{depth}} depth.", **more: Any
) -> None:
    stages = [{"name": "look", "role": "explorer", "prompt": prompt}]
    project.define("investigate", parameters=[SUBJECT, DEPTH], roles=stages, termination_condition=None, **more)


async def prompt_of(project: EngineProject, **others: Any) -> str:
    await project.run("investigate", **others)
    return project.models.prompts("look")[0]


async def no_run(project: EngineProject) -> bool:
    return (await project.engine.runs())["runs"] == []


async def test_RB_019_given_values_and_defaults_are_filled_in(project: EngineProject) -> None:
    investigate(project)
    told = await prompt_of(project, parameters={"subject": "caching strategies"})
    assert "Investigate caching strategies at moderate depth." in told
    assert "- subject: caching strategies\n- depth: moderate" in told


async def test_RB_020_a_missing_parameter_is_named_and_nothing_is_made(project: EngineProject) -> None:
    investigate(project)
    answer = await project.ask("investigate")
    assert (answer["ok"], answer["code"], answer["names"]) == (False, "input_required", ["subject"])
    assert "subject" in answer["message"]
    assert answer["fields"] == [{"name": "subject", "description": "What it is about"}]  # for whoever asks a person
    assert await no_run(project)
    assert await project.records_of("projects") == []


async def test_RB_021_all_missing_parameters_are_named(project: EngineProject) -> None:
    project.define("two", parameters=[SUBJECT, {"name": "place", "description": "Where"}])
    answer = await project.ask("two")
    assert "subject" in answer["message"]
    assert "place" in answer["message"]


async def test_RB_022_parameters_are_an_object_of_plain_values(project: EngineProject) -> None:
    investigate(project)
    for wrong in ([1, 2], "x", {"subject": ["a"]}, {"subject": {"a": "b"}}):
        answer = await project.ask("investigate", parameters=wrong)
        assert answer["code"] == "bad_argument", wrong
    assert await no_run(project)


async def test_RB_023_a_value_is_not_filled_in_again(project: EngineProject) -> None:
    investigate(project)
    told = await prompt_of(project, parameters={"subject": "what {{depth}} means"})
    assert "Investigate what {{depth}} means at moderate depth." in told


async def test_RB_024_an_unknown_placeholder_stays(project: EngineProject) -> None:
    investigate(project, "Look at {{nothing}} and {{ subject }}.")
    assert "Look at {{nothing}} and {{ subject }}." in await prompt_of(project, parameters={"subject": "s"})


async def test_RB_025_a_templated_limit_becomes_a_number(project: EngineProject) -> None:
    rounds = {"name": "max_review_rounds", "description": "d", "required": False, "default": "5"}
    value = {"criteria": "good", "max_review_rounds": "{{max_review_rounds}}"}
    project.define(parameters=[rounds], termination_condition={"type": "evaluation_bound", "value": value})
    project.say(judge_it="no")
    state = await project.run(parameters={"max_review_rounds": "2"})
    assert (state["maxIterations"], state["iteration"], state["reason"]) == (2, 2, "max_iterations")


async def test_RB_026_the_goal_is_filled_in(project: EngineProject) -> None:
    project.define(parameters=[{"name": "topic", "description": "d"}])
    state = await project.run(goal="Write about {{topic}}.", parameters={"topic": "tea"})
    assert state["goal"] == "Write about tea."
    assert "## Goal\n\nWrite about tea." in project.models.prompts("write")[0]


async def test_RB_027_undeclared_parameters_are_told(project: EngineProject) -> None:
    answer = await project.ask(parameters={"nobody": "x"})
    assert answer["ignored"] == ["nobody"]
    [told] = answer["warnings"]
    assert "does not read the parameter `nobody`" in told


async def test_RB_028_research_needs_only_a_goal(project: EngineProject) -> None:
    project.models.default = "APPROVED"
    assert (await project.run("research"))["status"] == "completed"


async def test_RB_029_an_unknown_definition_lists_those_there_are(project: EngineProject) -> None:
    answer = await project.ask("par")
    assert answer["code"] == "not_found"
    for name in ("harness", "research", "pair"):
        assert name in answer["message"]
    assert "did you mean `pair`" in answer["message"]


async def test_RB_030_a_blank_goal_is_refused(project: EngineProject) -> None:
    for goal in ("", "  \n", None):
        answer = await project.ask(goal=goal)
        assert (answer["code"], answer["names"]) == ("input_required", ["goal"])
    assert await no_run(project)


async def test_RB_033_the_limit_of_the_start_stands_in_the_prompt(project: EngineProject) -> None:
    project.models.default = "APPROVED"
    await project.run("harness", max_iterations=3)
    assert "Iteration 1/3" in project.models.prompts("plan")[0]


async def test_RB_034_a_limit_of_none_is_refused(project: EngineProject) -> None:
    for limit in (0, -1, "three", True):
        assert (await project.ask(max_iterations=limit))["code"] == "bad_argument", limit
    assert await no_run(project)


async def test_RB_035_only_one_word_for_the_project(project: EngineProject) -> None:
    answer = await project.ask(project_id="a", project_slug="b")
    assert answer["code"] == "bad_argument"
    assert "project_slug" in answer["message"]


async def test_RB_036_a_start_makes_the_loop_its_iteration_and_a_stage_for_each_role(project: EngineProject) -> None:
    project.say(write=SILENCE)
    run_id = await project.start()
    started = (await project.facts(run_id))[:1]
    rows = house_rows(run_id, started)
    assert [row["iteration_number"] for row in rows] == [1]
    assert rows[0]["status"] == "running"
    assert [(stage["role"], stage["status"]) for stage in rows[0]["stages"]] == [
        ("coder", "pending"),
        ("reviewer", "pending"),
    ]
    state = await project.state(run_id)
    assert (state["status"], state["iteration"]) == ("running", 1)
    await project.engine.control("stop", run_id)


async def test_RB_033_the_parameter_that_is_the_limit_says_what_the_limit_is(project: EngineProject) -> None:
    """Not what it was in the file: `Iteration 1/3` stood beside `max_review_rounds: 5`."""
    rounds = {"name": "rounds", "description": "How many", "required": False, "default": "5"}
    end = {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": "{{rounds}}"}}
    stages = [{"name": "write", "role": "coder", "prompt": "There are {{rounds}} rounds."}]
    project.define(
        "limited", parameters=[rounds, DEPTH], roles=[*stages, project.define()["roles"][1]], termination_condition=end
    )
    for given, most in (({}, 5), ({"parameters": {"rounds": "4"}}, 4), ({"max_iterations": 3}, 3)):
        project.models.requests.clear()
        await project.run("limited", **given)
        [told] = project.models.prompts("write")
        assert f"Iteration 1/{most}, stage 1 of 2" in told
        assert f"## Parameters\n\n- rounds: {most}\n- depth: moderate\n" in told
        assert f"There are {most} rounds." in told


async def test_RB_086_the_parameter_that_is_the_limit_follows_a_change(project: EngineProject) -> None:
    rounds = {"name": "rounds", "description": "How many", "required": False, "default": "5"}
    end = {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": "{{rounds}}"}}
    project.define("limited", parameters=[rounds], termination_condition=end)
    gate, inner = asyncio.Event(), project.models.ask

    async def ask(request: Any, *others: Any) -> Any:
        await gate.wait()
        return await inner(request, *others)

    project.models.ask = ask  # type: ignore[method-assign]
    project.say(judge_it=["no", "APPROVED"])
    run_id = await project.start("limited")
    await project.until(run_id, "stage_started")
    await project.engine.change(run_id, {"max_iterations": None})
    gate.set()
    await project.ended(run_id)
    first, second = project.models.prompts("write")
    assert ("- rounds: 5\n" in first, "- rounds: unlimited\n" in second) == (True, True)


async def test_RB_037_dispatch_is_pending_then_dispatched_with_its_task(project: EngineProject) -> None:
    from loop_ls.engine.events import Event, fold

    project.say(write=SILENCE)
    run_id = await project.start()
    first = (await project.facts(run_id))[0]
    before = fold([Event(run_id, 1, 0.0, "run_started", first)])
    assert before.dispatch is not None
    assert before.dispatch["status"] == "pending"
    await project.until(run_id, "stage_started")
    after = (await project.state(run_id))["dispatch"]
    assert after["status"] == "dispatched"
    assert after["task_id"]
    assert (after["stage_index"], after["stage_id"]) == (0, f"{run_id}:pair:1:write")
    await project.engine.control("stop", run_id)


async def test_RB_038_a_dispatch_that_fails_fails_the_loop_and_says_why(project: EngineProject) -> None:
    run_id = await project.start(goal="before")
    await project.ended(run_id)
    await project.records.do(lambda table: table._connection.execute("drop table sessions"))
    project.say(judge_it=["no"])
    second = await asyncio.wait_for(_started_without_sessions(project), 60)
    state = await project.ended(second)
    assert state["status"] == "failed"
    assert state["dispatch"]["status"] == "failed"
    assert "sessions" in state["dispatch"]["error"]
    assert len(state["dispatch"]["error"]) <= 200


async def _started_without_sessions(project: EngineProject) -> str:
    """The preparer writes the starter's session: it has the table, the stages have not."""
    await project.records.do(
        lambda table: table._connection.execute("create table sessions (id text, created_at text)")
    )
    recorded = await project.records.do(lambda table: table.find("projects"))
    project.preparer._records.do_now = lambda work: recorded[0]  # type: ignore[method-assign]
    return await project.start()


def house_rows(run_id: str, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    from loop_ls.engine.projections.history import iterations

    return iterations(run_id, events)


async def test_RB_031_an_engine_that_does_not_tick_takes_no_start(project: EngineProject) -> None:
    project.engine.heartbeat._beats["tasks"] -= 16
    answer = await project.ask()
    assert (answer["ok"], answer["code"]) == (False, "engine_not_ready")
    assert await no_run(project)
    assert await project.records_of("projects") == []
