"""How a role loop ends, and that what ended it stays apart (RB 45-64)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loop_ls.engine.roles.gate import read_gate, read_goal
from loop_ls.engine.roles.measuring import number_in
from loop_ls.testing.models import failure

from .conftest import PAIR, EngineProject

Json = dict[str, Any]


def until(kind: str, value: Any = None, **more: Any) -> Json:
    return {"type": kind, **({} if value is None else {"value": value}), **more}


ONE = [{"name": "write", "role": "coder", "prompt": "Write."}]


@pytest.mark.parametrize("said", ["APPROVED", "Fine work.\n\n**APPROVED**"])
async def test_RB_045_an_approved_loop_is_completed(project: EngineProject, said: str) -> None:
    project.say(judge_it=said)
    state = await project.run()
    assert (state["status"], state["reason"], state["exitCode"]) == ("completed", "approved", 0)


@pytest.mark.parametrize("said", ["NEEDS CHANGES — validation missing", "Not approved", "Disapproved", "prose"])
async def test_RB_047_without_approval_another_iteration_is_made(project: EngineProject, said: str) -> None:
    project.say(judge_it=[said, "APPROVED"])
    state = await project.run()
    rows = await project.rows(state["runId"])
    assert [row["status"] for row in rows] == ["needs_rework", "completed"]


async def test_RB_051_only_the_last_stage_approves(project: EngineProject) -> None:
    project.say(write="APPROVED", judge_it=["no", "LGTM"])
    assert (await project.run())["iteration"] == 2


async def test_RB_052_a_late_word_counts_in_a_run_too(project: EngineProject) -> None:
    project.say(judge_it="word " * 500 + "APPROVED")
    assert (await project.run())["reason"] == "approved"


async def test_RB_053_without_approval_the_limit_ends_it(project: EngineProject) -> None:
    project.say(judge_it="no")
    state = await project.run(max_iterations=2)
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "max_iterations", 2)
    assert state["exitCode"] == 3


async def test_RB_054_approval_in_the_last_round_is_approval(project: EngineProject) -> None:
    project.say(judge_it=["no", "APPROVED"])
    assert (await project.run(max_iterations=2))["reason"] == "approved"


async def test_RB_055_a_number_of_iterations_ends_whatever_is_said(project: EngineProject) -> None:
    project.define("three", termination_condition=until("iteration_bound", 3))
    project.say(judge_it=["APPROVED", "REJECTED", "no"])
    state = await project.run("three")
    assert (state["status"], state["reason"], state["iteration"], state["exitCode"]) == ("completed", "completed", 3, 0)
    fewer = await project.run("three", max_iterations=2)
    assert (fewer["reason"], fewer["exitCode"]) == ("max_iterations", 3)


def goal_loop(project: EngineProject, limit: int = 3) -> None:
    value = {"goal_prompt": "All tests pass.", "max_iterations": limit}
    project.define("aim", roles=ONE, termination_condition=until("goal_bound", value))


async def test_RB_056_a_reached_goal_ends_it(project: EngineProject) -> None:
    goal_loop(project)
    project.say(judge=["NOT_ACHIEVED\nThe tests are missing.", "ACHIEVED\nAll there."])
    state = await project.run("aim")
    assert (state["reason"], state["iteration"]) == ("goal_met", 2)
    question = project.models.prompts("judge")[0]
    assert "Do it." in question
    assert "All tests pass." in question
    assert "The tests are missing." in project.models.prompts("write")[1]


@pytest.mark.parametrize("said", ["NOT ACHIEVED", "not-achieved", "**NOT_ACHIEVED**", "Not  achieved yet", "maybe", ""])
def test_RB_057_not_achieved_is_understood_in_every_spelling(said: str) -> None:
    assert not read_goal(said).achieved
    assert read_goal("**ACHIEVED**\nfine").achieved


async def test_RB_057_not_achieved_with_a_blank_goes_on(project: EngineProject) -> None:
    goal_loop(project)
    project.say(judge=["NOT ACHIEVED\nno", "ACHIEVED"])
    assert (await project.run("aim"))["iteration"] == 2


async def test_RB_058_without_a_judge_the_goal_runs_to_its_limit(project: EngineProject) -> None:
    settings = "roles:\n  coder: {provider: ollama, model: small}\n"
    project.write(".loop-ls.yaml", settings)
    goal_loop(project)
    project.say(judge="ACHIEVED")
    state = await project.run("aim")
    assert (state["reason"], state["iteration"]) == ("max_iterations", 3)
    assert project.models.prompts("judge") == []


async def test_RB_059_a_judge_that_fails_lets_the_loop_go_on(project: EngineProject) -> None:
    goal_loop(project)
    project.say(judge=[failure("out of order"), "ACHIEVED"])
    state = await project.run("aim")
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "goal_met", 2)


class Clock:
    """Wall clock of a test: every stage takes `step` seconds."""

    def __init__(self, project: EngineProject, step: float) -> None:
        self.now = 1_900_000_000.0
        project.now = lambda: self.now
        self.step = step

    def tick(self, request: Any) -> str:
        self.now += self.step
        return "text"


@pytest.fixture
async def clocked(project: EngineProject) -> Clock:
    clock = Clock(project, 3_601)
    await project.close()
    await project.open()
    project.say(write=clock.tick)
    return clock


async def test_RB_060_the_time_is_up(project: EngineProject, clocked: Clock) -> None:
    project.define("hour", roles=ONE, termination_condition=until("time_bound", 3_600))
    state = await project.run("hour")
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "deadline", 1)
    assert state["exitCode"] == 0


async def test_RB_061_the_time_is_not_up(project: EngineProject, clocked: Clock) -> None:
    clocked.step = 1_500
    project.define("hour", roles=ONE, termination_condition=until("time_bound", 3_600))
    assert (await project.run("hour"))["iteration"] == 3


async def test_RB_062_a_date_that_has_passed(project: EngineProject, clocked: Clock) -> None:
    clocked.step = 1
    project.define("past", roles=ONE, termination_condition=until("time_bound", "2026-01-31T12:00:00Z"))
    state = await project.run("past")
    assert (state["reason"], state["iteration"]) == ("deadline", 1)


async def test_RB_060_a_hard_deadline_starts_no_further_stage(project: EngineProject, clocked: Clock) -> None:
    project.define("hard", termination_condition=until("time_bound", 3_600, hard=True))
    state = await project.run("hard")
    rows = await project.rows(state["runId"])
    assert (state["status"], state["reason"]) == ("completed", "deadline")
    assert [row["status"] for row in rows] == ["cancelled"]
    assert project.models.prompts("judge-it") == []


async def test_RB_063_only_a_stop_ends_a_manual_loop(project: EngineProject) -> None:
    held = asyncio.Event()
    project.define("endless", roles=ONE, termination_condition=until("manual"))
    project.models.wait = lambda request: 3600.0 if "Iteration 11" in request.prompt else 0.0
    run_id = await project.start("endless")
    await project.until(run_id, "iteration_started", iteration=11)
    held.set()
    assert (await project.state(run_id))["status"] == "running"
    await project.engine.control("stop", run_id)
    state = await project.ended(run_id)
    assert (state["status"], state["reason"]) == ("cancelled", "user")


async def test_RB_064_a_failed_stage_fails_everything_and_the_later_ones_never_start(project: EngineProject) -> None:
    project.say(write=failure("the disk is full", "server"))
    state = await project.run()
    rows = await project.rows(state["runId"])
    assert (state["status"], state["exitCode"]) == ("failed", 4)
    assert rows[-1]["status"] == "failed"
    assert [stage["status"] for stage in rows[-1]["stages"]] == ["failed", "pending"]
    assert rows[-1]["stages"][0]["result_summary"].startswith("FAILED: ")
    assert project.models.prompts("judge-it") == []


# -- gates, blocked loops, tools ---------------------------------------------------------------------


def gated(project: EngineProject, **more: Any) -> None:
    project.define("gated", approval={"mode": "llm"}, **more)


def gate(met: bool = True, severity: str | None = None) -> str:
    found = [] if severity is None else [{"severity": severity, "summary": "writes outside the project"}]
    import json

    return json.dumps({"requirements_met": met, "quality_pass": True, "findings": found, "rationale": "fine"})


async def test_UP_72_a_verdict_that_its_findings_contradict_approves_nothing(project: EngineProject) -> None:
    gated(project)
    project.say(judge_it="All good, APPROVED", judge=[gate(severity="critical"), gate(severity="minor")])
    state = await project.run("gated")
    assert (state["reason"], state["iteration"]) == ("approved", 2)
    warnings = [w for w in await project.facts(state["runId"], "warning") if w["code"] == "contradiction"]
    assert len(warnings) == 1
    assert "writes outside the project" in warnings[0]["message"]
    judged = (await project.facts(state["runId"], "judged"))[0]
    assert judged["verdict"] == "no"
    assert "rationale" in judged["answer"]


def test_UP_72_important_findings_count_as_well_and_prose_is_no_verdict() -> None:
    for severity in ("critical", "important", "IMPORTANT"):
        found = read_gate(f"```json\n{gate(severity=severity)}\n```")
        assert found is not None
        assert not found.approved
    assert read_gate("I think it is fine {really}") is None


async def test_RB_140_a_gate_that_refuses_three_times_blocks_the_loop(project: EngineProject) -> None:
    gated(project, termination_condition=until("evaluation_bound", {"criteria": "good", "max_review_rounds": 9}))
    project.say(judge=gate(met=False))
    state = await project.given_up("gated")
    assert (state["status"], state["reason"], state["iteration"]) == ("blocked", "question", 3)


@pytest.mark.parametrize("said", ["STATUS: BLOCKED\nWhich database?", "Hm.\n\n**status: needs_context** which one?"])
async def test_RB_140_a_stage_that_says_so_blocks_the_loop(project: EngineProject, said: str) -> None:
    project.say(write=said)
    state = await project.given_up()
    assert (state["status"], state["reason"], state["exitCode"]) == ("blocked", "question", 4)


async def test_RB_140_a_stage_that_leaves_no_artifact_blocks_the_loop_where_one_is_wanted(
    project: EngineProject,
) -> None:
    stages = [{**PAIR["roles"][0], "artifact_required": True}, PAIR["roles"][1]]
    project.define("kept", roles=stages)
    project.say(write=" ")
    state = await project.given_up("kept")
    assert (state["status"], state["reason"]) == ("blocked", "missing_artifact")


async def test_RB_141_a_tool_that_measures_ends_the_loop(project: EngineProject) -> None:
    command = {"command": "cat n.txt"}
    value = {"tool": "shell", "arguments": command, "operator": ">=", "threshold": 40, "max_iterations": 3}
    project.define("measured", roles=ONE, termination_condition=until("tool_bound", value))
    project.write("n.txt", "42 tests passed")
    state = await project.run("measured")
    assert (state["reason"], state["iteration"]) == ("condition_met", 1)
    project.write("n.txt", "39 tests passed")
    state = await project.run("measured")
    assert (state["reason"], state["iteration"]) == ("max_iterations", 3)


def test_RB_141_a_number_leads_the_text() -> None:
    assert [number_in(text) for text in ("42 tests passed", " -1.5", "none", "")] == [42.0, -1.5, None, None]


@pytest.mark.parametrize(
    "value", [{"goal_prompt": "", "max_iterations": 0}, {"goal_prompt": "x", "max_iterations": "0"}]
)
async def test_UP_45_a_limit_of_zero_is_an_error_and_starts_nothing(project: EngineProject, value: Json) -> None:
    project.define("zero", termination_condition=until("goal_bound", value))
    answer = await project.ask("zero")
    assert answer["code"] == "file_has_errors"
    assert "RL012" in answer["message"]


@pytest.mark.parametrize(
    ("limits", "reason", "told"),
    [
        ("maxIterations: 4", "max_iterations", "`max_iterations` of 4"),
        ("unchanged: 3", "unchanged", "3 times in a row"),
        ("maxTokens: 2000", "budget", "maxTokens"),
        ("wallClock: 1s", "time_limit", "wallClock"),
    ],
)
async def test_UP_46_a_ceiling_of_the_project_stops_an_endless_loop_and_says_which_one_did(
    project: EngineProject, limits: str, reason: str, told: str
) -> None:
    project.write(".loop-ls.yaml", f"assist: {{provider: ollama, model: small}}\nlimits: {{{limits}}}\n")
    project.define("endless", roles=ONE, termination_condition=until("manual"))
    if "wallClock" in limits:
        project.models.wait = lambda request: 0.2
    state = await project.run("endless")
    assert (state["status"], state["reason"], state["exitCode"]) == ("completed", reason, 3)
    assert told in state["because"]
