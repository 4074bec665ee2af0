"""Enhance loops in the real engine: started from a file, told by an editor, and after a crash."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import build
from loop_ls.client.consent import agreed
from loop_ls.engine.providers.keys import Keys
from loop_ls.engine.service import Engine
from loop_ls.testing.models import SILENCE, ScriptedModels
from tests.engine.enhance.loops import THREE, applied, failing, instructions, plan_of

BAD = failing("bad_answer", "no JSON")
BETTER = plan_of(instructions("review", "Review {{draft}} kindly"))
KIND = THREE.replace("Review {{draft}}", "Review {{draft}} kindly")
PART = (
    THREE.partition("steps:")[0].replace("report", "part")
    + """\
steps:
  - {name: write, run: Write}
  - {name: look, needs: [write], run: "Begin with PASS or FAIL: {{write}}"}
"""
)
CALLER = THREE.partition("steps:")[0] + "steps: [{name: use, template: {name: part}}]\n"
SETTINGS = "assist: {provider: acme, model: wise}\n"


class SameModels:
    """Stands in for the providers: every run gets the same scripted models."""

    def __init__(self, models: ScriptedModels) -> None:
        self.models, self.keys = models, Keys({})

    def for_plan(self, plan: Any) -> Any:
        return self

    def problem(self, name: str) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.models, name)


class EngineProject:
    def __init__(self, folder: Path) -> None:
        self.data, self.root = folder / "data", folder / "project"
        self.root.mkdir()
        self.file = self.root / "report.yaml"
        self.file.write_text(THREE)
        (self.root / ".loop-ls.yaml").write_text(SETTINGS)
        self.models = ScriptedModels({"review": [BAD, "good"], "planner": [BETTER]})
        self.engines: list[Engine] = []

    async def open(self) -> Engine:
        engine = build(self.data, SameModels(self.models), self.root)  # type: ignore[arg-type]
        self.engines.append(engine)
        await engine.open()
        return engine

    async def crash(self) -> Engine:
        """What is left when the process is gone: the journal, and nothing that runs."""
        await self.engines[-1].close()
        return await self.open()

    async def start(self, engine: Engine, **enhance: Any) -> dict[str, Any]:
        argument = {
            "root": str(self.root),
            "path": str(self.file),
            "input": "tea",
            "enhance": {"start": True, **enhance},
        }
        return await engine.start(argument)

    @property
    def calls(self) -> list[str]:
        return [request.purpose for request in self.models.requests]

    def asked_for(self) -> set[str]:
        """Purposes and names of steps."""
        return {*self.calls, *(request.place.rpartition("/")[2] for request in self.models.requests)}


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    project = EngineProject(tmp_path)
    yield project
    for engine in project.engines:
        await engine.close()


async def until(engine: Engine, run_id: str, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            state = (await engine.state(run_id))["state"]
            if done(state):
                return dict(state)
            await asyncio.sleep(0.005)


def ended(state: dict[str, Any]) -> bool:
    return "endedAt" in state


async def sent_by(engine: Engine, run_id: str) -> dict[str, Any]:
    await until(engine, run_id, lambda state: (state.get("question") or {}).get("kind") == "edit_sent")
    events = (await engine.events(run_id))["events"]
    return dict(next(event for event in reversed(events) if event["kind"] == "edit_sent"))


async def test_EB_010_an_editor_takes_the_edit_and_the_loop_converges(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    sent = await sent_by(engine, run_id)
    text = applied(THREE, sent)
    told = {"planId": sent["planId"], "outcome": "applied", "text": text}
    assert (await engine.enhance("acknowledge", run_id, told))["ok"]
    assert (await engine.enhance("acknowledge", run_id, told))["code"] == "wrong_status"
    state = await until(engine, run_id, ended)
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "converged", 2)
    assert text == KIND
    assert project.file.read_text() == THREE


async def test_a_loop_from_elsewhere_writes_nothing_here_before_the_owner_agrees(project: EngineProject) -> None:
    project.models.script |= {"review": [BAD, "good", BAD, "good"], "planner": [BETTER, BETTER]}
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    document = {**json.loads(json.dumps((await engine.export(run_id))["run"])), "runId": "stranger1", "answers": {}}
    project.file.write_text(THREE)
    taken = await engine.take_in(document)
    for user, origin in ((None, "api"), ("eve", "cli"), (None, "cli")):
        asked = await engine.fork(taken["runId"], user=user, origin=origin)
        if user is not None:
            assert asked["code"] == "forbidden", "nobody but the owner starts what writes a file by itself"
            continue
        assert asked["code"] == "consent_required", asked
        assert f"writes {project.file}" in asked["message"]
    forked = await engine.fork(taken["runId"], origin="cli", consent=agreed(project.data, asked))
    assert project.file.read_text() == THREE
    await until(engine, forked["runId"], ended)
    assert project.file.read_text() == KIND


async def test_EB_103_a_skill_that_a_plan_adds_is_told_in_the_next_round(project: EngineProject) -> None:
    skill = project.root / "skills" / "tone" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("Be kind to whoever wrote it.")
    project.models.script["planner"] = [plan_of({"op": "add_skill", "target": "review", "skill": "tone"})]
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "converged"
    asked = [one for one in project.models.requests if one.place.endswith("/review")]
    assert ["Be kind" in (one.system or "") for one in asked] == [False, True]
    [planner] = [one for one in project.models.requests if one.purpose == "planner"]
    assert "add_skill(target" in planner.prompt
    assert '"skills": ["tone"]' in planner.prompt


CASES_FILE = """\
tests:
  - {name: sea, vars: {input: the sea}}
  - {name: hills, vars: {input: "file://hills.txt"}, assert: [{name: fresh, type: contains, value: air, hint: no air}]}
  - {name: town, vars: {input: the town}, holdout: true}
  - {name: later, vars: {input: soon}, skip: not yet}
"""
CHECKS_FILE = """\
assert:
  - {name: whole, type: starts-with, on: step.publish, value: Published}
  - {name: mild, type: contains, on: step.publish, value: never said, severity: warn}
"""


def with_cases(project: EngineProject, checks: str = CHECKS_FILE, cases: str = CASES_FILE) -> None:
    (project.root / "report.cases.yaml").write_text(cases)
    (project.root / "report.checks.yaml").write_text(checks)
    (project.root / "hills.txt").write_text("the hills")
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {minPassRate: 0.5}\n")
    kind = "Published: fresh air of"
    project.models.script |= {
        "review": ["good"],
        "publish": [lambda request: kind if "kindly" in request.prompt else "Published: dust"],
        "planner": [plan_of(instructions("publish", "Publish {{review}} kindly"))],
    }


async def test_EB_124_cases_beside_a_workflow_are_what_a_plan_is_tried_on(project: EngineProject) -> None:
    with_cases(project)
    engine = await project.open()
    argument = {"root": str(project.root), "path": str(project.file), "enhance": {"start": True, "headless": True}}
    started = await engine.start(argument)
    assert any("Up to 60 real runs on 2 cases and 1 held out, for at most $5.00" in one for one in started["warnings"])
    state = await until(engine, started["runId"], ended)
    assert state["reason"] == "converged", state
    assert "kindly" in project.file.read_text()
    told = await engine.enhance("timeline", started["runId"])
    first, last = told["rounds"]
    assert {one["case"]: one["passes"] for one in first["cases"]} == {"sea": first["cases"][0]["trials"], "hills": 0}
    assert last["trials"].startswith("6 of 6 trials passed (")
    assert "held out 2 of 2" in last["trials"]
    assert "### Trials" in told["markdown"]
    asked = [one.prompt for one in project.models.requests if one.place.endswith("/draft")]
    assert {"Write about the sea", "Write about the hills", "Write about the town"} == set(asked)
    [planner] = [one for one in project.models.requests if one.purpose == "planner"]
    assert "no air" in planner.prompt
    assert "is not in the output" not in planner.prompt
    assert "mild" not in planner.prompt, "what only warns has not failed"
    assert "the town" not in planner.prompt


@pytest.mark.parametrize(
    ("checks", "cases", "why"),
    [
        ("assert: [{type: nonsense}]\n", CASES_FILE, "report.checks.yaml"),
        (CHECKS_FILE, "tests: [{name: a, vars: {input: x}, holdout: true}]\n", "none is left"),
        ("assert: [{type: command, value: [make]}]\n", CASES_FILE, "do not support"),
        (CHECKS_FILE, "tests: [{name: a, vars: {input: 'file://gone.txt'}}]\n", "gone.txt"),
        (
            "assert: [{type: contains, value: '{{input}}'}]\n",
            "tests: [{name: a, vars: {input: ''}}]\n",
            "The check `contains` has nothing to look for in the test case `a`",
        ),
    ],
)
async def test_EB_124_cases_that_cannot_be_used_stop_the_start(
    project: EngineProject, checks: str, cases: str, why: str
) -> None:
    with_cases(project, checks, cases)
    engine = await project.open()
    refused = await project.start(engine, headless=True)
    assert not refused["ok"]
    assert why in refused["message"]
    plain = await engine.start({"root": str(project.root), "path": str(project.file), "input": "tea"})
    assert plain["ok"], "a plain run has nothing to do with them"
    await until(engine, plain["runId"], ended)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"report.checks.yaml": "verifiers: [reveiw]\n"}, "has no step `reveiw`; did you mean `review`?"),
        (
            {"report.checks.yaml": "verifiers: [reveiw]\n", "report.cases.yaml": CASES_FILE},
            "report.checks.yaml: `report` has no step `reveiw`; did you mean `review`?",
        ),
        (
            {"report.checks.yaml": "assert: [{on: step.darft, type: is-json}]\n", "report.cases.yaml": CASES_FILE},
            "has no step `darft`; did you mean `draft`?",
        ),
        (
            {".loop-ls.yaml": SETTINGS + "enhance: {workflows: {report: {verifiers: [reveiw]}}}\n"},
            "`enhance.workflows.report.verifiers`: `report` has no step `reveiw`; did you mean `review`?",
        ),
        (
            {"part.checks.yaml": "verifiers: [looks]\n", "part.yaml": PART, "report.yaml": CALLER},
            "part.checks.yaml: `part` has no step `looks`; did you mean `look`?",
        ),
        ({"report.cases.yaml": "tests: [{name: a, vars: {input: x}, skip: later}]\n"}, "every test case is skipped"),
        ({"report.cases.yaml": "tests: []\n"}, "`tests` is empty"),
    ],
)
async def test_what_names_nothing_beside_a_workflow_stops_the_start(
    project: EngineProject, files: dict[str, str], why: str
) -> None:
    for name, text in files.items():
        (project.root / name).write_text(text)
    engine = await project.open()
    refused = await project.start(engine, headless=True)
    assert not refused["ok"], refused
    assert why in refused["message"]
    assert project.models.requests == []


@pytest.mark.parametrize(("checks", "reason"), [("", "max_rounds"), ("verifiers: []\n", "converged")])
async def test_the_checks_file_of_a_called_workflow_says_which_of_its_steps_check(
    project: EngineProject, checks: str, reason: str
) -> None:
    (project.root / "part.yaml").write_text(PART)
    project.file.write_text(CALLER)
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {maxRounds: 1}\n")
    if checks:
        (project.root / "part.checks.yaml").write_text(checks)
    project.models.script = {"look": ["The weather is nice."], "write": ["words"]}
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    state = await until(engine, run_id, ended)
    assert state["reason"] == reason, state
    told = "`use/look` is asked for PASS or FAIL and its answer began with neither"
    assert (told in state.get("because", "")) is (reason == "max_rounds")


async def test_a_check_that_fails_for_want_of_a_provider_is_no_reason_to_plan(project: EngineProject) -> None:
    (project.root / "report.checks.yaml").write_text("assert: [{type: contains, value: good}]\n")
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {transientBackoffSeconds: 0}\n")
    project.models.script = {"publish": [failing("unreachable"), "good"], "planner": [BETTER]}
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    state = await until(engine, run_id, ended)
    assert (state["reason"], state["iteration"], project.calls.count("planner")) == ("converged", 2, 0)


async def test_a_checks_file_that_only_says_that_nothing_checks_is_one(project: EngineProject) -> None:
    project.file.write_text(THREE.replace("Review {{draft}}", "Explain PASS and FAIL with {{draft}}"))
    (project.root / "report.checks.yaml").write_text("verifiers: []\n")
    project.models.script = {"review": ["Fail is when"]}
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "converged"


async def test_no_plan_writes_what_a_judge_is_asked_into_the_workflow(project: EngineProject) -> None:
    rubric = "assert: [{type: llm-rubric, value: The review praises the author., threshold: 0.5}]\n"
    (project.root / "report.checks.yaml").write_text(rubric)
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {plannerAttempts: 1}\n")
    leaking = plan_of(instructions("review", "Review {{draft}}. The review praises the author"))
    project.models.script = {"vote-1": '{"reason": "cold", "pass": false, "score": 0}', "planner": [leaking]}
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "no_ops"
    refused = [one for one in (await engine.events(run_id))["events"] if one["kind"] == "op_rejected"]
    assert ["would contain what a check looks for" in one["message"] for one in refused] == [True]


async def test_checks_of_a_single_run_are_refused_where_a_loop_starts(project: EngineProject) -> None:
    with_cases(project)
    engine = await project.open()
    argument = {"root": str(project.root), "path": str(project.file), "input": "tea", "check": {}}
    refused = await engine.start({**argument, "enhance": {"start": True, "headless": True}})
    assert (refused["ok"], refused["code"]) == (False, "bad_argument")
    assert "`--check`" in refused["hint"]
    plain = await engine.start({**argument, "enhance": {"start": False}})
    await until(engine, plain["runId"], ended)


async def test_EB_124_what_a_check_looks_for_is_shown_to_the_planner_where_the_check_reveals_it(
    project: EngineProject,
) -> None:
    with_cases(project, cases=CASES_FILE.replace("hint: no air", "reveal: true"))
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    [planner] = [one for one in project.models.requests if one.purpose == "planner"]
    assert "`air` is not in the output" in planner.prompt


async def test_EB_124_trials_do_not_count_where_the_cases_were_changed_meanwhile(project: EngineProject) -> None:
    with_cases(project)
    cases = project.root / "report.cases.yaml"

    def meddles(request: Any) -> str:
        cases.write_text(CASES_FILE.replace("air", "dust"))
        return "good"

    project.models.script["review"] = [meddles]
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    state = await until(engine, run_id, ended)
    assert (state["reason"], project.file.read_text()) == ("void", THREE)
    assert "were changed" in state["because"]


@pytest.mark.parametrize("choice", ["continue", "skip"])
async def test_EB_076_a_person_goes_on_with_the_change_or_without_it(project: EngineProject, choice: str) -> None:
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {pauseBetweenRounds: true, maxRounds: 2}\n")
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, lambda state: (state.get("question") or {}).get("kind") == "loop_paused")
    assert (await engine.enhance("choose", run_id, {"choice": "perhaps"}))["code"] == "bad_argument"
    assert (await engine.enhance("choose", run_id, {"choice": choice}))["choice"] == choice
    await until(engine, run_id, ended)
    [continued] = [one for one in (await engine.events(run_id))["events"] if one["kind"] == "loop_continued"]
    assert continued["withEdits"] is (choice == "continue")
    assert (project.file.read_text() == THREE) is (choice == "skip")


async def test_EB_064_another_plan_is_not_meant(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    sent = await sent_by(engine, run_id)
    told = {"planId": "another", "outcome": "applied", "text": KIND}
    assert (await engine.enhance("acknowledge", run_id, told))["code"] == "wrong_status"
    assert len([one for one in (await engine.events(run_id))["events"] if one["kind"] == "round_started"]) == 1
    assert sent["planId"].startswith(run_id)


async def test_EB_064_a_second_yes_starts_no_second_round(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    sent = await sent_by(engine, run_id)
    told = {"planId": sent["planId"], "outcome": "applied", "text": applied(THREE, sent)}
    answers = await asyncio.gather(*(engine.enhance("acknowledge", run_id, told) for _ in range(3)))
    assert sorted(answer["ok"] for answer in answers) == [False, False, True]
    state = await until(engine, run_id, ended)
    kinds = [one["kind"] for one in (await engine.events(run_id))["events"]]
    assert (state["iteration"], kinds.count("round_started"), kinds.count("edit_acknowledged")) == (2, 2, 1)


async def test_EB_065_without_an_editor_nothing_starts(project: EngineProject) -> None:
    engine = await project.open()
    refused = await project.start(engine)
    assert (refused["ok"], refused["code"]) == (False, "bad_argument")
    assert project.calls == []


async def test_EB_123_the_file_is_changed_where_nobody_has_it_open(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    state = await until(engine, run_id, ended)
    assert (state["reason"], state["lastOutput"]) == ("converged", "ok")
    assert project.file.read_text() == KIND


async def test_EB_065_a_setting_lets_the_engine_write_the_file_of_a_loop_that_no_editor_has_open(
    project: EngineProject,
) -> None:
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {applyWhenHeadless: true}\n")
    engine = await project.open()
    run_id = (await project.start(engine))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "converged"
    assert project.file.read_text() == KIND


async def test_EB_006_a_file_with_errors_is_refused(project: EngineProject) -> None:
    project.file.write_text(THREE.replace("needs: [draft]", "needs: [drift]"))
    engine = await project.open()
    assert (await project.start(engine, headless=True))["code"] == "file_has_errors"
    assert project.calls == []


async def test_EB_007_one_loop_for_a_document(project: EngineProject) -> None:
    engine = await project.open()
    assert (await project.start(engine, editor=True))["ok"]
    assert (await project.start(engine, editor=True))["code"] == "already_running"
    other = project.root / "other.yaml"
    other.write_text(THREE.replace("name: report", "name: other"))
    argument = {
        "root": str(project.root),
        "path": str(other),
        "input": "tea",
        "enhance": {"start": True, "editor": True},
    }
    assert (await engine.start(argument))["ok"]


#: Fact after which the stop comes -> what the models say until then, and the settings that lead there.
STATES: dict[str, tuple[dict[str, Any], str]] = {
    "round_started": ({"review": [SILENCE]}, ""),
    "planner_started": ({"planner": [SILENCE]}, ""),
    "edit_sent": ({}, ""),
    "loop_paused": ({}, "enhance: {pauseBetweenRounds: true}\n"),
    "backing_off": ({"review": [failing("rate_limited")]}, "enhance: {transientBackoffSeconds: 60}\n"),
}


@pytest.mark.parametrize("kind", STATES)
async def test_EB_080_a_stop_in_any_state_is_heard_at_once_and_ends_it_as_cancelled(
    project: EngineProject, kind: str
) -> None:
    answers, settings = STATES[kind]
    project.models.script.update(answers)
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + settings)
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    async with asyncio.timeout(60):
        while kind not in [event["kind"] for event in (await engine.events(run_id))["events"]]:
            await asyncio.sleep(0.005)
        silent = {name for name, said in answers.items() if SILENCE in said}
        while not silent <= project.asked_for():  # the step before it may still be running when the round has begun
            await asyncio.sleep(0.005)
    asked = len(project.models.requests)
    await engine.control("stop", run_id)
    state = await until(engine, run_id, ended)
    assert (state["status"], state["reason"]) == ("cancelled", "user")
    assert len(project.models.requests) == asked
    assert project.models.running == 0
    assert project.file.read_text() == THREE


async def test_EB_003_the_switch_of_a_workflow(project: EngineProject) -> None:
    engine = await project.open()
    argument = {"root": str(project.root), "path": str(project.file), "input": "tea"}
    plain = (await engine.start(argument))["runId"]
    state = await until(engine, plain, ended)
    assert (state["format"], "planner" in project.calls) == ("workflow", False)
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {workflows: {report: {enabled: true}}}\n")
    enhanced = (await engine.start({**argument, "enhance": {"editor": True}}))["runId"]
    assert (await engine.state(enhanced))["state"]["format"] == "enhance"
    await engine.control("stop", enhanced)


async def test_EB_114_an_enabled_workflow_is_an_enhance_loop(project: EngineProject) -> None:
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {workflows: {report: {enabled: true}}}\n")
    engine = await project.open()
    argument = {"root": str(project.root), "path": str(project.file), "input": "tea", "enhance": {"editor": True}}
    run_id = (await engine.start(argument))["runId"]
    assert (await engine.state(run_id))["state"]["format"] == "enhance"
    await engine.control("stop", run_id)
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {workflows: {report: {enabled: false}}}\n")
    await until(engine, run_id, ended)
    run_id = (await engine.start(argument))["runId"]
    assert (await engine.state(run_id))["state"]["format"] == "workflow"


async def test_EB_001_what_holds_when_a_loop_starts(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    assert (await engine.state(run_id))["state"]["maxIterations"] == 3
    await engine.control("stop", run_id)


@pytest.mark.parametrize(("asked", "rounds"), [(1, 1), (9, 3)])
async def test_a_start_may_ask_for_fewer_rounds(project: EngineProject, asked: int, rounds: int) -> None:
    """It never asks for more than the settings allow."""
    project.models.script["review"] = [failing("bad_answer", word) for word in ("a", "b", "c")]
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {onFixation: warn}\n")
    more = [plan_of(instructions("review", f"Review {{{{draft}}}} {n}")) for n in range(3)]
    project.models.script["planner"] = more
    engine = await project.open()
    argument = {"root": str(project.root), "path": str(project.file), "input": "tea", "max_iterations": asked}
    started = await engine.start({**argument, "enhance": {"start": True, "headless": True}})
    state = await until(engine, started["runId"], ended)
    assert (state["reason"], state["iteration"], state["maxIterations"]) == ("max_rounds", rounds, rounds)


async def test_EB_112_a_workflow_has_its_own_cap(project: EngineProject) -> None:
    own = "enhance: {maxRounds: 3, workflows: {report: {maxRounds: 6}}}\n"
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + own)
    other = project.root / "other.yaml"
    other.write_text(THREE.replace("name: report", "name: other"))
    engine = await project.open()
    argument = {
        "root": str(project.root),
        "path": str(other),
        "input": "tea",
        "enhance": {"start": True, "editor": True},
    }
    first, second = (await project.start(engine, editor=True))["runId"], (await engine.start(argument))["runId"]
    found = [(await engine.state(one))["state"]["maxIterations"] for one in (first, second)]
    assert found == [6, 3]


@pytest.mark.parametrize(
    ("settings", "provider", "model"),
    [
        (SETTINGS, "acme", "wise"),
        ("", "acme", "large"),
        (SETTINGS + "enhance: {plannerProvider: ollama, plannerModel: qwen3}\n", "ollama", "qwen3"),
    ],
)
async def test_EB_117_who_plans(project: EngineProject, settings: str, provider: str, model: str) -> None:
    (project.root / ".loop-ls.yaml").write_text(settings)
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    started = (await engine.events(run_id))["events"][0]
    assert started["plan"]["planner"] == {"provider": provider, "model": model}


AGENT = "providers: {helper: {kind: agent-cli, cli: %s}}\n"


async def test_EB_004_an_agent_that_does_not_plan_is_not_inherited(project: EngineProject) -> None:
    (project.root / ".loop-ls.yaml").write_text("assist: {provider: helper, model: any}\n" + AGENT % "codex")
    engine = await project.open()
    refused = await project.start(engine, editor=True)
    assert refused["reason"] == "planner_provider_unsuitable"
    assert project.calls == []


async def test_EB_005_but_may_be_chosen(project: EngineProject, monkeypatch: pytest.MonkeyPatch) -> None:
    program = project.data / "bin" / "cursor"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ncat >/dev/null\ncat <<'END'\n{BETTER}\nEND\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    chosen = "enhance: {plannerProvider: helper, plannerModel: any}\n"
    (project.root / ".loop-ls.yaml").write_text(chosen + AGENT % "cursor")
    engine = await project.open()
    asked = await project.start(engine, editor=True)
    assert asked["programs"] == [["cursor"]]  # it is a program that nobody agreed to yet
    argument = {
        "root": str(project.root),
        "path": str(project.file),
        "input": "tea",
        "consent": agreed(engine.folder, asked),
    }
    started = await engine.start({**argument, "enhance": {"start": True, "editor": True}})
    assert started["ok"]
    assert "cursor" in started["warnings"][0]
    await sent_by(engine, started["runId"])


async def test_EB_121_the_first_fact_and_the_last(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    events = (await engine.events(run_id))["events"]
    assert (events[0]["kind"], events[-1]["kind"], events[-1]["reason"]) == ("run_started", "completed", "converged")
    assert (events[-1]["mode"], events[-1]["roundsUsed"]) == ("strict", 2)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert all(event.keys() >= {"runId", "seq", "at", "kind"} for event in events)
    project.file.write_text(THREE)
    project.models.script["review"] = [failing("auth", "401")]
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    last = (await engine.events(run_id))["events"][-1]
    assert (last["kind"], last["reason"], last["bestRound"]) == ("completed", "unfixable", 1)
    assert last["unfixable"][0]["failure"] == "1:review:auth"
    assert "lastSuccessfulRound" not in last


async def test_EB_090_who_comes_back_gets_the_rest(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    whole = (await engine.events(run_id))["events"]
    assert (await engine.events(run_id, after=7))["events"] == whole[7:]


async def test_EB_087_a_loop_that_goes_on_has_a_timeline(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    await sent_by(engine, run_id)
    assert (await engine.enhance("timeline", run_id))["ok"]


async def test_EB_087_each_round_has_four_parts(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    told = await engine.enhance("timeline", run_id)
    first, last = told["rounds"]
    assert [one["kind"] for one in first["failed"]] == ["bad_output", "upstream_failed"]
    assert [one["op"] for one in first["proposed"]] == ["set_instructions"]
    assert [one["op"] for one in first["applied"]] == ["set_instructions"]
    assert first["rationale"] == "clearer"
    assert "+    run: Review {{draft}} kindly" in first["diff"]
    assert last["status"] == "converged"
    assert last["planned"] == "not planned: nothing failed"
    for part in ("What failed", "Proposed", "Applied", "Why"):
        assert part in told["markdown"]


async def test_EB_087_a_plan_that_was_refused_whole_is_told_as_one(project: EngineProject) -> None:
    project.models.script["planner"] = [plan_of({"op": "remove_step", "target": "review"})]
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    told = await engine.enhance("timeline", run_id)
    [only] = told["rounds"]
    assert not only["planned"]
    assert [(one["op"], one["reasonCode"]) for one in only["rejected"]] == [("remove_step", "op_not_allowed")]
    assert "### Not applied\n* `remove_step` `review`: " in told["markdown"]


async def test_EB_087_a_planner_that_answered_prose_is_told_as_one(project: EngineProject) -> None:
    project.models.script["planner"] = ["I would rewrite it."]
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    told = await engine.enhance("timeline", run_id)
    assert told["rounds"][0]["planned"].startswith("planned, without a usable plan: the answer is not")
    assert "not planned" not in told["markdown"]


async def test_EB_088_round_and_money_are_shown(project: EngineProject) -> None:
    project.models.script["draft"] = [failing("bad_answer", "red"), "fine"]
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    await sent_by(engine, run_id)
    state = (await engine.enhance("status", run_id))["state"]
    assert (state["state"], state["round"], state["maxRounds"]) == ("awaiting_ack", 1, 3)
    assert state["shown"].startswith("Round 1 of 3 · $")
    assert state["shown"].endswith(" of $5.00")


@pytest.mark.parametrize("found_in", ["running_round", "planning", "awaiting_ack", "backing_off"])
async def test_EB_118_a_restart_spends_nothing(project: EngineProject, found_in: str) -> None:
    waiting = asyncio.Event()

    def stuck(request: Any) -> Any:
        waiting.set()
        return SILENCE

    match found_in:
        case "running_round":
            project.models.script["review"] = [stuck]
        case "planning":
            project.models.script["planner"] = [stuck]
        case "backing_off":
            project.models.script["review"] = [failing("rate_limited"), "good"]
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    if found_in in ("running_round", "planning"):
        async with asyncio.timeout(60):
            await waiting.wait()
    elif found_in == "awaiting_ack":
        await sent_by(engine, run_id)
    async with asyncio.timeout(60):
        while (await engine.enhance("status", run_id))["state"]["state"] != found_in:
            await asyncio.sleep(0.005)
    asked = len(project.calls)
    engine = await project.crash()
    state = await until(engine, run_id, lambda state: state["status"] == "interrupted")
    assert state["reason"] == "engine_restart"
    found = [one for one in (await engine.events(run_id))["events"] if one["kind"] == "interrupted"]
    assert found[0]["foundIn"] == found_in
    assert len(project.calls) == asked
    project.models.script |= {"review": ["good"], "planner": [BETTER]}
    assert (await engine.control("resume", run_id))["ok"]
    if found_in == "awaiting_ack" or found_in == "planning":
        sent = await sent_by(engine, run_id)
        told = {"planId": sent["planId"], "outcome": "applied", "text": applied(THREE, sent)}
        assert (await engine.enhance("acknowledge", run_id, told))["ok"]
    if found_in == "backing_off":
        await engine.control("stop", run_id)  # it waits again for as long as it had to
    state = await until(engine, run_id, ended)
    assert state["reason"] == ("user" if found_in == "backing_off" else "converged")


async def test_EB_089_an_interrupted_loop_can_be_stopped(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    await sent_by(engine, run_id)
    engine = await project.crash()
    await until(engine, run_id, lambda state: state["status"] == "interrupted")
    asked = len(project.calls)
    await engine.control("stop", run_id)
    state = await until(engine, run_id, ended)
    assert state["status"] == "cancelled"
    assert len(project.calls) == asked


async def test_EB_089_resume_goes_on_between_rounds(project: EngineProject) -> None:
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {pauseBetweenRounds: true}\n")
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    state = await until(engine, run_id, lambda state: state["status"] == "paused")
    assert state["reason"] == "between_rounds"
    assert project.file.read_text() == THREE
    assert (await engine.control("resume", run_id))["ok"]
    assert (await until(engine, run_id, ended))["reason"] == "converged"


async def test_EB_008_what_was_set_at_the_start_holds(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    sent = await sent_by(engine, run_id)
    (project.root / ".loop-ls.yaml").write_text(SETTINGS + "enhance: {maxRounds: 1}\n")
    told = {"planId": sent["planId"], "outcome": "applied", "text": applied(THREE, sent)}
    await engine.enhance("acknowledge", run_id, told)
    state = await until(engine, run_id, ended)
    assert (state["reason"], state["iteration"], state["maxIterations"]) == ("converged", 2, 3)


async def test_a_loop_that_came_in_is_forked_after_somebody_agreed_to_whom_it_asks(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    document = (await engine.export(run_id))["run"]
    stranger = {"baseUrl": "https://planner.example/v1", "apiKeyEnv": "VICTIM_KEY"}
    document["facts"][0]["body"]["settings"]["providers"] = {"acme": {"kind": "openai", **stranger}}
    document["runId"] = "stranger1"
    project.file.write_text(THREE)
    asked = len(project.calls)
    assert (await engine.take_in(document))["runId"] == "stranger1"
    refused = await engine.fork("stranger1", 2)
    assert (refused["code"], refused["endpoints"][0]["host"]) == ("consent_required", "planner.example")
    assert len(project.calls) == asked
    forked = await engine.fork("stranger1", 2, consent=agreed(engine.folder, refused))
    assert forked["ok"], forked
    assert (await until(engine, forked["runId"], ended))["status"] == "completed"


async def test_only_the_owner_forks_a_loop_that_writes_the_file_itself(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    refused = await engine.fork(run_id, 2, user="eve")
    assert (refused["ok"], refused.get("code")) == (False, "forbidden")
    assert "writes its file itself" in refused["message"]
    assert (await engine.fork(run_id, 2))["ok"]


@pytest.mark.parametrize("text", [KIND, THREE, "broken: ["])
async def test_a_fork_of_a_finished_loop_looks_at_the_files_again(project: EngineProject, text: str) -> None:
    """What the first run has seen of them says nothing of what they hold now."""
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "converged"
    project.file.write_text(text)
    forked = await engine.fork(run_id)
    state = await until(engine, forked["runId"], ended)
    assert state["reason"] == ("converged" if text == KIND else "file_changed")
    assert project.file.read_text() == text


async def test_only_workflows_are_enhanced(project: EngineProject) -> None:
    (project.root / "loops").mkdir()
    (project.root / "loops" / "pair.json").write_text('{"name": "pair", "roles": [{"role": "plan", "prompt": "p"}]}')
    engine = await project.open()
    argument = {"root": str(project.root), "path": str(project.root / "loops" / "pair.json"), "goal": "x"}
    refused = await engine.start({**argument, "enhance": {"start": True, "headless": True}})
    assert (refused["code"], "only for workflows" in refused["message"]) == ("bad_argument", True)
    assert (await engine.runs())["runs"] == []


async def test_steps_and_planner_of_every_round_show_what_they_were_asked(project: EngineProject) -> None:
    """The planner's question holds the whole report; nothing is asked or sent again to read it."""
    engine = await project.open()
    run_id = (await project.start(engine, editor=True))["runId"]
    sent = await sent_by(engine, run_id)
    asked = [(one.place, one.prompt, one.system) for one in project.models.requests]
    rows = (await engine.prompts(run_id))["prompts"]
    assert [(row["place"], row["prompt"], row.get("system")) for row in rows] == asked, "the edit has no answer yet"
    await engine.enhance(
        "acknowledge", run_id, {"planId": sent["planId"], "outcome": "applied", "text": applied(THREE, sent)}
    )
    await until(engine, run_id, ended)
    asked = [(one.place, one.prompt, one.system) for one in project.models.requests]
    rows = (await engine.prompts(run_id))["prompts"]
    assert [(row["place"], row["prompt"], row.get("system")) for row in rows] == asked
    assert [row["purpose"] for row in rows].count("planner") == 1
    (planner,) = (await engine.prompts(run_id, "report/1:planner"))["prompts"]
    assert "no JSON" in planner["prompt"]
    second = (await engine.prompts(run_id, "report/2"))["prompts"]
    assert any("kindly" in row["prompt"] for row in second)
    assert len(project.models.requests) == len(asked)


async def test_reading_the_prompts_of_a_loop_without_an_editor_writes_no_file(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    assert project.file.read_text() == KIND
    project.file.write_text(THREE)
    asked = [(one.place, one.prompt) for one in project.models.requests]
    rows = (await engine.prompts(run_id))["prompts"]
    assert [(row["place"], row["prompt"]) for row in rows] == asked
    assert project.file.read_text() == THREE


async def test_each_round_has_the_graph_of_its_own_text(project: EngineProject) -> None:
    """What a round changed is there from the next one on, and what is on the disk by now does not count."""
    waits = {"op": "set_needs", "target": "publish", "add": ["draft"], "reason": "both"}
    project.models.script["planner"] = [plan_of(waits, instructions("review", "Review {{draft}} kindly"))]
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    state = await until(engine, run_id, ended)
    assert state["iteration"] == 2
    project.file.write_text("steps: []\n")

    async def needs(place: str = "") -> list[str]:
        nodes = (await engine.graph(run_id, place))["nodes"]
        return sorted(next(node["needs"] for node in nodes if node["name"] == "publish"))

    assert await needs("report/1") == ["review"]
    for place in ("report/2", "report/2/publish", "report/2:planner", ""):
        assert await needs(place) == ["draft", "review"], place
    assert await needs("report/9") == ["review"], "there is no such round: as it was started"
    assert await needs("nothing") == ["draft", "review"]


async def test_a_deleted_run_takes_what_was_written_for_people_with_it(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    shown = project.data / "shown"
    shown.mkdir()
    (shown / f"{run_id}-timeline.md").write_text("rounds")
    (shown / "another-timeline.md").write_text("rounds")
    assert (await engine.delete(run_id))["ok"]
    async with asyncio.timeout(60):
        while (shown / f"{run_id}-timeline.md").exists():
            await asyncio.sleep(0.005)
    assert [path.name for path in shown.iterdir()] == ["another-timeline.md"]


@pytest.mark.parametrize("choice", ["continue", "skip"])
async def test_an_answer_to_a_loop_whose_engine_was_gone_makes_it_go_on(choice: str, project: EngineProject) -> None:
    settings = project.root / ".loop-ls.yaml"
    settings.write_text(f"{SETTINGS}enhance: {{pauseBetweenRounds: true}}\n")
    engine = await project.open()
    run_id = (await project.start(engine, headless=True))["runId"]
    await until(engine, run_id, lambda state: (state.get("question") or {}).get("kind") == "loop_paused")
    engine = await project.crash()
    await until(engine, run_id, lambda state: state["status"] == "interrupted")
    assert (await engine.enhance("choose", run_id, {"choice": choice}))["ok"]
    state = await until(engine, run_id, ended)
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "converged", 2)
    assert project.file.read_text() == (KIND if choice == "continue" else THREE)
