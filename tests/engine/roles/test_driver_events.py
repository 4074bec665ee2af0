"""The facts of a role loop under the documented names of driver events."""

from __future__ import annotations

from loop_ls.engine.core.ports import ModelReply
from loop_ls.engine.roles.driver_events import DriverEvents
from loop_ls.testing.models import failure

from .conftest import EngineProject


async def told(project: EngineProject, run_id: str) -> list[dict[str, object]]:
    driver = DriverEvents()
    events = [driver.of(event) for event in await project.facts(run_id)]
    return [event for event in events if event is not None]


async def test_RB_138_a_loop_tells_its_start_rounds_stages_and_end(project: EngineProject) -> None:
    project.say(judge_it=["no", "APPROVED"])
    state = await project.run()
    found = await told(project, state["runId"])
    one = ["loop.iteration_start", *["loop.stage_start", "loop.stage_end"] * 2, "loop.iteration_end"]
    assert [event["event"] for event in found] == ["loop.start", *one, *one, "loop.complete"]
    assert {event["loop_id"] for event in found} == {state["runId"]}
    assert (found[0]["definition"], found[0]["goal"]) == ("pair", "Do it.")
    first = {"stage": 0, "label": "write", "role": "coder", "iteration": 1}
    assert {name: found[2][name] for name in first} == first
    assert found[3]["success"] is True
    end = {"outcome": "complete", "iterations_completed": 2, "total_stages_run": 4}
    assert {name: found[-1][name] for name in end} == end


async def test_RB_138_limits_failures_and_questions_are_told_apart(project: EngineProject) -> None:
    project.say(judge_it="no")
    assert (await told(project, (await project.run(max_iterations=1))["runId"]))[-1]["outcome"] == "limit_reached"
    project.models._asked.clear()
    project.say(write=["STATUS: BLOCKED\nWhich one?", failure("no disk")])
    assert (await told(project, (await project.given_up())["runId"]))[-1]["outcome"] == "blocked"
    failed = await told(project, (await project.run())["runId"])
    assert failed[-1]["outcome"] == "failed"
    assert [event["error"] for event in failed if event.get("success") is False] == ["ollama/small: no disk"]


async def test_RB_138_the_calls_of_stages_name_the_providers_answer(project: EngineProject) -> None:
    project.say(write=ModelReply("text", "", "", response_id="w1"))
    state = await project.run()
    facts = (await project.engine.events(state["runId"]))["events"]
    assert [fact.get("responseId") for fact in facts if fact["kind"] == "call"] == ["w1", None]
