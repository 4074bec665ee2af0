"""Trying a condition on outputs that exist: what the judge says, and how often it agrees with itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import validate
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.start_request import read_request
from loop_ls.engine.starting.by_format import ByFormat
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.formats.registry import WORKFLOW
from loop_ls.testing.models import SILENCE
from tests.engine.control.support.project import Project


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    made.models.script |= {"write": ["v1", "v2"], "judge": ["NO", "YES"]}
    await made.open()
    yield made
    await made.close()


async def tried(project: Project, **given: Any) -> dict[str, Any]:
    assert project.engine is not None
    path = str(project.root / "polish.yaml")
    return await project.engine.test_until({"root": str(project.root), "path": path, "loop": "polish", **given})


async def test_an_output_is_judged_with_the_question_of_a_run(project: Project) -> None:
    answer = await tried(project, output="all is well")
    assert answer["ok"], answer
    (verdict,) = answer["verdicts"]
    assert (verdict["verdict"], verdict["answer"]) == ("no", "NO")
    assert "The draft is good" in verdict["prompt"] and "all is well" in verdict["prompt"]
    assert project.models.prompts("judge") == [verdict["prompt"]]
    assert answer["judge"] == {"provider": "ollama", "model": "m"}
    assert (await project.engine.runs())["runs"] == []  # type: ignore[union-attr]


async def test_UP_70_how_often_the_judge_agrees_with_itself_is_counted(project: Project) -> None:
    project.models.script["judge"] = ["YES", "NO", "YES", "YES"]
    (agreement,) = (await tried(project, output="x", times=4))["agreement"]
    assert agreement == {"times": 4, "verdict": "yes", "agrees": 0.75, "verdicts": {"yes": 3, "no": 1}}


async def test_every_recorded_output_of_a_run_is_judged_by_the_condition_of_now(project: Project) -> None:
    facts = await project.run()
    text = (project.root / "polish.yaml").read_text().replace("The draft is good", "The draft is better than ever")
    (project.root / "polish.yaml").write_text(text)
    answer = await tried(project, runId=facts[0]["runId"])
    assert [row["iteration"] for row in answer["verdicts"]] == [1, 2]
    assert all("better than ever" in row["prompt"] for row in answer["verdicts"])
    assert "v2" in answer["verdicts"][1]["prompt"]
    assert len((await project.engine.events(facts[0]["runId"]))["events"]) == len(facts)  # type: ignore[union-attr]


async def test_the_judge_of_the_settings_is_asked_where_there_is_one(project: Project) -> None:
    project.settings("judge: {provider: lmstudio, model: strict}\n")
    assert (await tried(project, output="x"))["judge"] == {"provider": "lmstudio", "model": "strict"}
    assert project.models.requests[-1].model == "strict"


async def test_what_can_be_looked_up_costs_no_call_and_says_so(project: Project) -> None:
    project.settings("judge: {local: true}\n")
    text = (project.root / "polish.yaml").read_text().replace("is good", "says PASS")
    (project.root / "polish.yaml").write_text(text)
    answer = await tried(project, output="PASS: all of it", times=5)
    assert [(row["verdict"], row["local"]) for row in answer["verdicts"]] == [("yes", True)]
    assert answer["judge"] == {"local": True}
    assert project.models.requests == []


async def test_a_trial_keeps_within_the_time_that_a_run_may_take(project: Project) -> None:
    project.settings("limits: {wallClock: 200ms}\n")
    project.models.script["judge"] = [SILENCE]
    async with asyncio.timeout(30):
        answer = await tried(project, output="x")
    assert (answer["ok"], answer["code"]) == (False, "limit_reached")
    assert "`wallClock` of 0.2 s" in answer["message"]


async def test_an_unsaved_condition_can_be_tried(project: Project) -> None:
    path = str(project.root / "polish.yaml")
    text = (project.root / "polish.yaml").read_text().replace("is good", "rhymes")
    answer = await tried(project, output="x", texts={path: text})
    assert "The draft rhymes" in answer["verdicts"][0]["prompt"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "bad_argument"),
        ({"output": "x", "runId": "y"}, "bad_argument"),
        ({"output": 3}, "bad_argument"),
        ({"output": "x", "times": 0}, "bad_argument"),
        ({"output": "x", "times": 101}, "limit_reached"),
        ({"output": "x", "loop": "nobody"}, "not_found"),
        ({"output": "x", "loop": ""}, "bad_argument"),
        ({"runId": "zzzz"}, "not_found"),
    ],
)
async def test_what_cannot_be_tried_is_refused(project: Project, given: dict[str, Any], code: str) -> None:
    assert (await tried(project, **given))["code"] == code


async def test_a_trial_respects_the_caps_of_the_project(project: Project) -> None:
    project.settings("limits: {maxTokens: 150}\n")
    assert (await tried(project, output="x " * 500))["code"] == "limit_reached"


async def test_half_a_character_in_an_output_is_judged_as_the_journal_would_hold_it(project: Project) -> None:
    project.models.script["judge"] = ["YES"]
    answer = await tried(project, output="good \ud800")
    assert [each["verdict"] for each in answer["verdicts"]] == ["yes"]
    json.dumps(answer, ensure_ascii=False).encode("utf-8")


SECRET = "Tor-of-the-harbour-77"


@pytest.mark.parametrize("said", [f"NO, {SECRET} is in it", f"{SECRET}", f"NO: {SECRET[:14]}"])
async def test_what_a_judge_says_back_of_a_declared_variable_is_masked(
    project: Project, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("DEPLOY_PASS", SECRET)
    project.settings('providers: {elsewhere: {kind: openai, baseUrl: "http://127.0.0.1:9/${DEPLOY_PASS}/v1"}}\n')
    project.models.script["judge"] = [said]
    answer = json.dumps(await tried(project, output=f"made with {SECRET}"))
    assert SECRET in project.models.prompts("judge")[0]
    assert "[secret]" in answer
    assert SECRET[:14] not in answer


@pytest.mark.parametrize(
    "limits", ["{budgetUsd: ten}", "{perDay: {budgetUsd: -1}}", "{maxTokens: 1.5}", "{budgetUsd: 1"]
)
async def test_no_condition_is_tried_under_settings_whose_limits_cannot_be_read(project: Project, limits: str) -> None:
    project.settings(f"limits: {limits}\n")
    preparer = ByFormat({WORKFLOW: WorkflowPreparer(project.data, validate, {})})
    request = read_request({"root": str(project.root), "path": "polish.yaml"}, project.root)
    with pytest.raises(Refused, match=r"limits|line 1"):
        await preparer.judging(request, "polish", lambda plan: project.models)
    project.settings("limits: {budgetUsd: 1}\n")
    assert (await preparer.judging(request, "polish", lambda plan: project.models)).loop.name == "polish"
