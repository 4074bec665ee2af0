"""Notes: what a person says to a run is in its next prompt, once, whatever crashes in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.model_calls.notes import HEADING
from loop_ls.engine.runs.notes import LONGEST, MOST
from loop_ls.testing.models import SILENCE, ScriptedModels
from tests.engine.runs.test_workflow_runs import SCRIPT, EngineProject

NOTE = "mind the tide"
TOLD = f"\n\n{HEADING}\n{NOTE}"


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    found = EngineProject(tmp_path)
    await found.open()
    yield found
    assert found.engine is not None
    await found.engine.close()


async def in_flight(project: EngineProject, times: int, name: str = "review") -> str:
    """A run whose call `name` does not answer the last of so many times."""
    silent = [*["FAIL: empty"] * (times - 1), SILENCE]
    project.models = ScriptedModels({**SCRIPT, name: silent})
    run_id = str((await project.start())["runId"])
    async with asyncio.timeout(60):
        while len(project.models.asked(name)) < times:
            await asyncio.sleep(0.01)
    return run_id


async def restarted(project: EngineProject, **script: Any) -> None:
    assert project.engine is not None
    await project.engine.close()
    project.models = ScriptedModels({**SCRIPT, **script})
    await project.open()


def with_note(project: EngineProject) -> list[str]:
    """The steps whose prompt has it."""
    names = zip(project.models.order, project.models.requests, strict=True)
    return [name for name, request in names if NOTE in request.prompt]


async def told(project: EngineProject, run_id: str, text: object = NOTE) -> dict[str, Any]:
    assert project.engine is not None
    return dict(await project.engine.note(run_id, text))  # type: ignore[arg-type]


async def test_a_note_is_in_the_next_prompt_and_in_no_other(project: EngineProject) -> None:
    run_id = await in_flight(project, 1)
    assert await told(project, run_id) == {"ok": True, "runId": run_id, "notes": 1}
    assert project.engine is not None
    assert (await project.engine.state(run_id))["state"]["notes"] == [NOTE]
    await restarted(project, review=["FAIL: empty", "PASS"])
    facts = await project.facts(run_id)
    assert with_note(project) == ["review"], "the call that was in progress is asked again, and has it"
    given = [fact for fact in facts if fact["kind"] == "note_given"]
    assert [(fact["notes"], fact["place"]) for fact in given] == [(1, "develop/1/review")]
    assert "notes" not in (await project.engine.state(run_id))["state"]


async def test_a_prompt_that_was_told_is_told_the_same_after_a_crash(project: EngineProject) -> None:
    run_id = await in_flight(project, 1)
    assert (await told(project, run_id))["ok"]
    await restarted(project, review=SILENCE)
    async with asyncio.timeout(60):
        while not project.models.asked("review"):
            await asyncio.sleep(0.01)
    assert with_note(project) == ["review"]
    first = project.models.prompts("review")
    assert first[0].endswith(TOLD)
    await restarted(project, review="PASS", judge="YES")
    facts = await project.facts(run_id)
    assert project.models.prompts("review") == first
    assert with_note(project) == ["review"]
    assert [fact["kind"] for fact in facts].count("note_given") == 1


async def test_notes_come_in_their_order_and_all_at_once(project: EngineProject) -> None:
    run_id = await in_flight(project, 2)
    assert (await told(project, run_id, "first"))["notes"] == 1
    assert (await told(project, run_id, "second"))["notes"] == 2
    await restarted(project, review="PASS", judge="YES")
    await project.facts(run_id)
    assert project.models.prompts("review")[0].endswith(f"\n\n{HEADING}\nfirst\n\n{HEADING}\nsecond")


async def test_the_judge_is_not_told(project: EngineProject) -> None:
    run_id = await in_flight(project, 1, "judge")
    assert (await told(project, run_id))["ok"]
    await restarted(project, judge=["NO", "YES"])
    await project.facts(run_id)
    assert with_note(project) == ["write"], "the work of the next iteration"


async def test_what_models_were_asked_is_shown_with_the_note(project: EngineProject) -> None:
    run_id = await in_flight(project, 1)
    assert (await told(project, run_id))["ok"]
    await restarted(project, review="PASS", judge="YES")
    await project.facts(run_id)
    assert project.engine is not None
    shown = await project.engine.prompts(run_id)
    assert shown["ok"]
    assert [one["place"] for one in shown["prompts"] if NOTE in str(one)] == ["develop/1/review"]


async def prompts_of(project: EngineProject, run_id: str, loop: str) -> list[str]:
    assert project.engine is not None
    return [str(one["prompt"]) for one in (await project.engine.prompts(run_id, loop))["prompts"]]


async def test_a_fork_keeps_the_notes_of_the_iterations_that_it_takes(project: EngineProject) -> None:
    run_id = await in_flight(project, 1)
    assert (await told(project, run_id))["ok"]
    await restarted(project, review=["FAIL: empty", "PASS"])
    await project.facts(run_id)
    asked = await prompts_of(project, run_id, "develop/1")
    assert any(NOTE in prompt for prompt in asked)
    assert project.engine is not None
    project.models = ScriptedModels({**SCRIPT, "review": "PASS", "judge": "YES"})
    for _ in range(2):  # a fork of the fork, too
        forked = await project.engine.fork(run_id, 2)
        assert forked["ok"], forked
        run_id = str(forked["runId"])
        facts = await project.facts(run_id)
        assert await prompts_of(project, run_id, "develop/1") == asked
        assert with_note(project) == []
        assert "note_given" not in [fact["kind"] for fact in facts], "it was said to the other run"


async def test_a_fork_of_all_that_was_finished_takes_new_notes(project: EngineProject) -> None:
    run_id = await in_flight(project, 1)
    assert project.engine is not None
    await project.engine.control("stop", run_id)
    await project.facts(run_id)
    project.models = ScriptedModels({**SCRIPT, "review": SILENCE})
    forked = await project.engine.fork(run_id)
    assert forked["ok"], forked
    run_id = str(forked["runId"])
    async with asyncio.timeout(60):
        while not project.models.asked("review"):
            await asyncio.sleep(0.01)
    assert (await told(project, run_id))["ok"]
    await restarted(project, review="PASS", judge="YES")
    await project.facts(run_id)
    assert with_note(project) == ["review"]


async def test_what_is_no_note_and_a_run_that_takes_none_are_refused(project: EngineProject) -> None:
    run_id = await in_flight(project, 1)
    for wrong in ("", "  \n", None, 3, ["x"], "x" * (LONGEST + 1)):
        assert (await told(project, run_id, wrong))["code"] == "bad_argument", wrong
    for _ in range(MOST):
        assert (await told(project, run_id))["ok"]
    assert (await told(project, run_id))["code"] == "wrong_status"
    assert (await told(project, "ffff"))["code"] == "not_found"
    assert project.engine is not None
    await project.engine.control("stop", run_id)
    await project.facts(run_id)
    refused = await told(project, run_id)
    assert refused["code"] == "wrong_status"
    assert "cancelled" in refused["message"]
