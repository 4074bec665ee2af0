"""A stage or a gate that cannot continue asks a person, and takes the answer."""

from __future__ import annotations

import asyncio
import json

import pytest

from loop_ls.testing.models import ScriptedModels
from tests.engine.roles.conftest import PAIR, EngineProject, Json

ASKS = "STATUS: BLOCKED\nWhich database?\nThere are two."


async def asked(project: EngineProject, run_id: str, number: int = 1) -> Json:
    """The state once it waits for answer `number`."""
    async with asyncio.timeout(60):
        while len(await project.facts(run_id, "manual_approval_required")) < number:
            await asyncio.sleep(0.005)
    return await project.state(run_id)


async def test_RB_140_the_answer_is_in_the_prompt_of_the_next_try(project: EngineProject) -> None:
    project.say(write=ASKS, try_2="done")
    run_id = await project.start()
    state = await asked(project, run_id)
    assert state["pendingApproval"]["blocked"]
    assert state["pendingApproval"]["output"] == f"`write` cannot continue: Which database?\n\n{ASKS}"
    assert (await project.engine.answer(run_id, {"answer": "retry", "text": "the blue one"}))["ok"]
    assert (await project.ended(run_id))["reason"] == "approved"
    [first], [second] = project.models.prompts("write"), project.models.prompts("try-2")
    assert "Earlier tries" not in first
    told = f"An earlier try could not continue. It said:\n\n{ASKS}\n\nA person answered:\n\nthe blue one"
    assert second == f"{first}\n\n## Earlier tries of this task\n\n{told}"
    [stage, _] = (await project.rows(run_id))[0]["stages"]
    assert (stage["output"], stage["status"]) == ("done", "completed")


async def test_RB_140_a_stage_may_ask_twice_and_hears_both_answers(project: EngineProject) -> None:
    project.say(write=ASKS, try_2="STATUS: NEEDS_CONTEXT\nWhich table?", try_3="done")
    run_id = await project.start()
    for number, text in ((1, "the blue one"), (2, "users")):
        await asked(project, run_id, number)
        assert (await project.engine.answer(run_id, {"answer": "retry", "text": text}))["ok"]
    assert (await project.ended(run_id))["reason"] == "approved"
    [last] = project.models.prompts("try-3")
    assert last.index("the blue one") < last.index("Which table?") < last.index("users")


async def test_RB_140_an_answer_may_be_no_text(project: EngineProject) -> None:
    project.say(write=ASKS, try_2="done")
    run_id = await project.start()
    await asked(project, run_id)
    assert (await project.engine.answer(run_id, {"answer": "retry"}))["ok"]
    assert (await project.ended(run_id))["reason"] == "approved"
    assert "A person asked to try again." in project.models.prompts("try-2")[0]


async def test_RB_140_a_missing_artifact_is_asked_for_too(project: EngineProject) -> None:
    project.define("kept", roles=[{**PAIR["roles"][0], "artifact_required": True}, PAIR["roles"][1]])
    project.say(write=" ", try_2="text")
    run_id = await project.start("kept")
    await asked(project, run_id)
    assert (await project.engine.answer(run_id, {"answer": "retry"}))["ok"]
    assert (await project.ended(run_id))["reason"] == "approved"


@pytest.mark.parametrize("decision", ["approve", "revise", "restore"])
async def test_RB_140_other_answers_are_refused(project: EngineProject, decision: str) -> None:
    project.say(write=ASKS)
    run_id = await project.start()
    await asked(project, run_id)
    for refused in (
        await project.engine.answer(run_id, {"answer": decision}),
        await project.engine.approve(run_id, decision=decision),
    ):
        assert not refused["ok"]
    assert (await project.state(run_id))["status"] == "waiting_approval"


async def test_RB_140_a_restart_waits_on_and_pays_nothing_twice(project: EngineProject) -> None:
    project.say(write=ASKS, try_2="done")
    run_id = await project.start()
    await asked(project, run_id)
    await project.engine.close()
    await project.open()
    assert (await project.state(run_id))["status"] == "waiting_approval"
    assert (await project.engine.answer(run_id, {"answer": "retry", "text": "the blue one"}))["ok"]
    assert (await project.ended(run_id))["reason"] == "approved"
    assert (len(project.models.prompts("write")), len(project.models.prompts("try-2"))) == (1, 1)


async def test_RB_140_what_a_retry_was_asked_is_read_back(project: EngineProject) -> None:
    project.say(write=ASKS, try_2="done")
    run_id = await project.start()
    await asked(project, run_id)
    await project.engine.answer(run_id, {"answer": "retry", "text": "the blue one"})
    await project.ended(run_id)
    rows = (await project.engine.prompts(run_id))["prompts"]
    assert [row["prompt"] for row in rows if "Write." in row["prompt"]] == [
        *project.models.prompts("write"),
        *project.models.prompts("try-2"),
    ]


async def test_RB_140_a_gate_that_refused_too_often_continues_with_an_answer(project: EngineProject) -> None:
    termination = {"type": "evaluation_bound", "value": {"criteria": "good", "max_review_rounds": 9}}
    project.define("gated", approval={"mode": "llm"}, termination_condition=termination)
    no, yes = (json.dumps({"requirements_met": met, "quality_pass": True, "findings": []}) for met in (False, True))
    project.say(judge=[no, no, no, yes])
    run_id = await project.start("gated")
    state = await asked(project, run_id)
    assert (state["iteration"], state["status"]) == (3, "waiting_approval")
    assert "The gate rejected 3 times in a row" in state["pendingApproval"]["output"]
    assert (await project.engine.answer(run_id, {"answer": "retry", "text": "add tests"}))["ok"]
    assert (await project.ended(run_id))["reason"] == "approved"
    assert "A person says: add tests" in project.models.prompts("write")[-1]


async def test_RB_134_a_pause_in_the_last_stage_keeps_back_the_verdict_and_the_end(project: EngineProject) -> None:
    """The last iteration completed by itself while the run was said to be paused."""
    go = asyncio.Event()
    models = project.models

    class Slow(ScriptedModels):
        async def ask(self, request: object, *more: object, **others: object) -> object:  # type: ignore[override]
            if "judge-it" in str(getattr(request, "place", "")):
                await go.wait()
            return await models.ask(request, *more, **others)  # type: ignore[arg-type]

    project.models = Slow({})
    run_id = await project.start(max_iterations=1)
    await project.until(run_id, "stage_started", index=1)
    assert (await project.engine.control("pause", run_id))["ok"]
    go.set()
    await project.until(run_id, "stage_completed", index=1)
    await project.until(run_id, "iteration")
    for _ in range(20):  # whatever follows by itself has happened
        await project.state(run_id)
        await asyncio.sleep(0.001)
    assert await project.facts(run_id, "judged", "completed") == []
    assert (await project.state(run_id))["status"] == "paused"
    assert (await project.engine.control("resume", run_id))["ok"]
    assert (await project.ended(run_id))["reason"] == "approved"
