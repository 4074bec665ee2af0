"""Declared checks beside a role loop: before its judge, in the next prompt, at its end, and agreed to before."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from .conftest import EngineProject

Json = dict[str, Any]
#: Succeeds as soon as the file `done` is there; both times it says so.
COMMAND = [
    sys.executable,
    "-c",
    "import os,sys; there=os.path.exists('done'); print('tail of it'); sys.exit(not there)",
]


def declare(project: EngineProject, *checks: Json, **more: Any) -> None:
    project.write("loops/pair.checks.yaml", json.dumps({"assert": list(checks), **more}))


def prompts(project: EngineProject, stage: str) -> list[str]:
    return project.models.prompts(stage)


async def test_RB_150_while_a_check_fails_nobody_is_asked_and_the_next_round_hears_why(project: EngineProject) -> None:
    declare(project, {"name": "whole", "on": "stage.write", "type": "not-contains", "value": "TODO"})
    project.say(write=["a TODO", "text"], judge_it="APPROVED")
    state = await project.run(check={})
    assert (state["reason"], state["iteration"], state["exitCode"]) == ("approved", 2, 0)
    told = "The previous iteration failed these checks:\n- whole: `TODO` is in the output"
    assert f"## Failed checks\n\n{told}" in prompts(project, "write")[1]
    assert "Failed checks" not in prompts(project, "write")[0]
    run_id = state["runId"]
    judged = await project.facts(run_id, "judged")
    assert [(one["criterion"], one["verdict"]) for one in judged] == [("checks", "no"), ("approval", "yes")]
    assert [one["verdict"] for one in await project.facts(run_id, "checked")] == ["fail", "pass"]
    assert [row["status"] for row in await project.rows(run_id)] == ["needs_rework", "completed"]


async def test_RB_150_a_model_that_judges_costs_nothing_while_a_check_fails(project: EngineProject) -> None:
    value = {"goal_prompt": "All there.", "max_iterations": 3}
    project.define("pair", termination_condition={"type": "goal_bound", "value": value})
    declare(project, {"name": "whole", "type": "contains", "value": "{{input}}"})
    project.say(judge_it=["no", "Do it."], judge="ACHIEVED")
    state = await project.run(check={})
    assert (state["reason"], state["iteration"]) == ("goal_met", 2)
    assert project.models.order.count("judge") == 1


async def test_RB_151_the_end_of_a_command_goes_into_the_next_round(project: EngineProject) -> None:
    declare(project, {"name": "tests", "type": "command", "value": COMMAND})
    project.say(judge_it="APPROVED")
    state = await project.run(check={}, max_iterations=2)
    assert "tail of it" in prompts(project, "write")[1]
    assert (state["status"], state["reason"], state["exitCode"]) == ("failed", "verification", 4)
    assert "tests: it ended with status 1" in state["error"]["message"]


async def test_RB_152_a_number_of_rounds_ends_all_the_same_and_the_last_one_counts(project: EngineProject) -> None:
    project.define("pair", termination_condition={"type": "iteration_bound", "value": 2})
    declare(project, {"name": "whole", "type": "not-contains", "value": "TODO"})
    project.say(judge_it=["TODO", "done"])
    state = await project.run(check={})
    assert (state["reason"], state["iteration"], state["exitCode"]) == ("completed", 2, 0)
    project.say(judge_it=["done", "TODO"])
    assert (await project.run(check={}))["reason"] == "verification"


async def test_RB_150_a_verifier_has_to_say_pass(project: EngineProject) -> None:
    declare(project, verifiers=["judge-it"])
    project.say(judge_it=["APPROVED", "PASS\nAPPROVED"])
    state = await project.run(check={})
    assert (state["reason"], state["iteration"]) == ("approved", 2)


async def test_RB_152_without_check_they_decide_nothing(project: EngineProject) -> None:
    declare(project, {"name": "whole", "type": "contains", "value": "TODO"})
    state = await project.run()
    assert state["reason"] == "approved"
    assert await project.facts(state["runId"], "checked") == []


async def test_RB_153_the_command_is_shown_before_and_a_mock_run_starts_none(project: EngineProject) -> None:
    declare(project, {"name": "tests", "type": "command", "value": COMMAND})
    request = {"definition": "pair", "goal": "Do it.", "root": str(project.root), "check": {}}
    shown = await project.engine.start({**request, "origin": "cli"})
    assert shown["code"] == "consent_required"
    assert COMMAND in shown["programs"]
    state = await project.run(check={}, mock=True)
    assert state["reason"] == "approved"
    warned = await project.facts(state["runId"], "warning")
    assert any("`tests` was skipped" in one["message"] for one in warned)


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ({"on": "step.write", "type": "is-json"}, "`pair` has stages, no steps; write `stage.write`"),
        ({"on": "stage.wriet", "type": "is-json"}, "did you mean `write`?"),
        ({"on": "loop.other", "type": "is-json"}, "`pair` has no loop `other`"),
    ],
)
async def test_RB_154_a_place_that_is_not_there_is_refused(project: EngineProject, check: Json, told: str) -> None:
    declare(project, check)
    answer = await project.ask(check={})
    assert answer["code"] == "file_has_errors"
    assert told in answer["message"]


async def test_RB_154_a_case_gives_the_goal(project: EngineProject) -> None:
    case = {"name": "sea", "vars": {"input": "Write of the sea."}, "assert": [{"type": "contains", "value": "sea"}]}
    project.write("loops/pair.cases.yaml", json.dumps({"tests": [case]}))
    project.say(judge_it="the sea APPROVED")
    state = await project.run(goal=None, check={"case": "sea"})
    assert state["reason"] == "approved"
    assert "## Goal\n\nWrite of the sea." in prompts(project, "write")[0]


async def test_RB_151_prompts_that_are_read_back_hold_what_failed(project: EngineProject) -> None:
    declare(project, {"name": "tests", "type": "command", "value": COMMAND})
    project.say(judge_it="APPROVED")
    state = await project.run(check={}, max_iterations=2)
    (project.root / "done").touch()  # what is read back starts nothing again
    answer = await project.engine.prompts(state["runId"], "pair/2/write")
    assert ["tail of it" in one["prompt"] for one in answer["prompts"]] == [True]


async def test_RB_153_a_fork_is_judged_by_the_checks_of_its_run(project: EngineProject) -> None:
    declare(project, {"name": "tests", "type": "command", "value": COMMAND})
    project.say(judge_it="APPROVED")
    state = await project.run(check={}, max_iterations=2)
    (project.root / "done").touch()
    (project.root / "loops/pair.checks.yaml").unlink()
    answer = await project.engine.fork(state["runId"], 2)
    assert answer["ok"], answer
    forked = await project.ended(answer["runId"])
    assert (forked["reason"], forked["iteration"]) == ("approved", 2)
    assert "tail of it" in prompts(project, "write")[-1]
