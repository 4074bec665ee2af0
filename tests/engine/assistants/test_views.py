"""Runs in the words of the assistant document."""

from __future__ import annotations

from loop_ls.engine.assistants.event_mapping import EventMapper
from loop_ls.engine.assistants.views import last_state, loop_state
from tests.engine.assistants.support.project import EngineProject, Facts

KEYS = {"agentId", "sessionId", "iteration", "maxIterations", "criteria", "status", "progressLog"}


def names(facts: Facts) -> list[str]:
    mapper = EventMapper()
    return [told.event for fact in facts for told in mapper.hear(fact)]


async def test_AB_099_every_state_has_seven_keys_and_no_session(project: EngineProject) -> None:
    project.criterion("regex", "STOP", maxIterations=2)
    go = project.root / "go"
    project.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    run_id = await project.started()
    await project.calls(1)
    live = loop_state(await project.state(run_id))
    go.touch()
    await project.ended(run_id)
    ended = loop_state(await project.state(run_id))
    assert set(live) == set(ended) == KEYS
    assert (live["sessionId"], ended["sessionId"]) == ("", "")
    assert (live["agentId"], live["status"], live["iteration"], live["maxIterations"]) == ("fixer", "running", 1, 2)
    assert live["criteria"] == {"type": "regex", "value": "STOP"}
    assert (ended["status"], ended["progressLog"]) == ("completed", ["a", "b"])


async def test_AB_100_events_come_in_order_and_end_once(project: EngineProject) -> None:
    project.criterion("regex", "done")
    project.agent.say({"text": "no"}, {"text": "done"})
    facts = await project.run()
    told = [name for name in names(facts) if name in ("iteration", "progress", "completed", "failed")]
    assert told == ["iteration", "progress", "iteration", "progress", "completed"]


async def test_AB_101_the_log_that_is_handed_out_is_a_copy(project: EngineProject) -> None:
    run_id = await project.started()
    await project.ended(run_id)
    state = await project.state(run_id)
    loop_state(state)["progressLog"].append("forged")
    loop_state(await project.state(run_id))["progressLog"].clear()
    assert loop_state(await project.state(run_id))["progressLog"] == ["ok", "ok", "ok"]
    assert state["progressLog"] == ["ok", "ok", "ok"]


async def test_AB_128_the_outcome_tells_a_limit_from_a_success_and_from_a_failure(project: EngineProject) -> None:
    project.criterion("regex", "done", maxIterations=1)
    project.agent.say({"text": "x" * 400}, {"text": "all done"}, {"exit": 3, "stderr": "bad"})
    outcomes = []
    for _ in range(3):
        run_id = await project.started()
        await project.ended(run_id)
        outcomes.append(last_state(await project.state(run_id))["outcome"])
    capped, met, failed = outcomes
    assert (capped["reason"], capped["finalOutput"], capped["lastOutput"]) == ("max_iterations", "x" * 300, "x" * 400)
    assert (met["reason"], met["finalOutput"]) == ("criterion_met", "all done")
    assert failed["cause"] == "iteration_error"
    assert "bad" in failed["error"]
