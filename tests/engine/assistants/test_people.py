"""Loops that wait for a person."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from loop_ls.engine.assistants.event_mapping import EventMapper
from loop_ls.engine.assistants.views import loop_state
from tests.engine.assistants.support.project import EngineProject

OUTPUT = "the output " * 50


@pytest.fixture
async def asked(project: EngineProject) -> str:
    """A run that waits for its first decision."""
    project.criterion("manual")
    project.agent.say({"text": OUTPUT}, {"text": "better"})
    run_id = await project.started()
    await project.until_kind(run_id, "manual_approval_required")
    return run_id


async def decide(
    project: EngineProject, run_id: str, approved: bool | None, loop_id: str | None = None, **more: str
) -> dict:
    assert project.engine is not None
    return await project.engine.approve(run_id, loop_id, approved, more.get("decision"), more.get("feedback"))


async def test_AB_060_a_person_is_asked_with_output_and_a_unique_id(project: EngineProject, asked: str) -> None:
    first = await project.until_kind(asked, "manual_approval_required")
    assert (first["iteration"], first["output"]) == (1, OUTPUT)
    assert str(uuid.UUID(first["loopId"])) == first["loopId"]
    await decide(project, asked, True)
    await project.ended(asked)
    second = await project.until_kind(await project.started(), "manual_approval_required")
    assert second["loopId"] != first["loopId"]


async def test_AB_061_approval_completes_with_the_whole_output(project: EngineProject, asked: str) -> None:
    assert (await decide(project, asked, True))["ok"]
    facts = await project.ended(asked)
    assert (facts.end["kind"], facts.end["reason"], facts.end["finalOutput"]) == ("completed", "approved", OUTPUT)


async def test_AB_062_rejection_fails_with_its_sentence(project: EngineProject, asked: str) -> None:
    await decide(project, asked, False)
    facts = await project.ended(asked)
    assert facts.end["kind"] == "failed"
    assert facts.end["error"]["message"] == "Manual approval was rejected by user"
    assert len(project.agent.calls) == 1


async def test_AB_063_a_wrong_id_changes_nothing(project: EngineProject, asked: str) -> None:
    before = await project.state(asked)
    assert (await decide(project, asked, True, "00000000-0000-4000-8000-000000000000"))["ok"] is False
    after = await project.state(asked)
    assert after["pendingApproval"] == before["pendingApproval"]
    assert after["status"] == "waiting_approval"


async def test_AB_064_a_second_decision_changes_nothing(project: EngineProject, asked: str) -> None:
    loop_id = (await project.state(asked))["pendingApproval"]["loopId"]
    await decide(project, asked, True, loop_id)
    await project.ended(asked)
    assert (await decide(project, asked, False, loop_id))["ok"] is False
    assert (await project.state(asked))["status"] == "completed"


async def test_UP_68_one_decision_counts_and_the_second_is_told_so(project: EngineProject, asked: str) -> None:
    answers = await asyncio.gather(decide(project, asked, True), decide(project, asked, False))
    assert sorted(answer["ok"] for answer in answers) == [False, True]
    late = next(answer for answer in answers if not answer["ok"])
    assert late["code"] == "wrong_status"
    assert "The first answer was `" in late["message"]
    facts = await project.ended(asked)
    assert len(facts.of("approval_resolved")) == 1
    assert (facts.end["kind"] == "completed") == answers[0]["ok"]


async def test_AB_065_an_answer_inside_of_the_listener_is_not_lost(project: EngineProject) -> None:
    project.criterion("manual")
    engine = await project.open()
    answered = []

    def hear(events: list) -> None:
        for event in events:
            if event.kind == "manual_approval_required":
                answered.append(asyncio.ensure_future(decide(project, event.run_id, True, event.body["loopId"])))

    engine.journal.listeners.append(hear)
    facts = await project.run()
    assert facts.end["reason"] == "approved"
    assert len(answered) == 1


async def test_AB_066_while_a_person_is_asked_it_is_running_and_starts_nothing(
    project: EngineProject, asked: str
) -> None:
    assert loop_state(await project.state(asked))["status"] == "running"
    await asyncio.sleep(0.1)
    await decide(project, asked, True)
    facts = await project.ended(asked)
    assert [fact["iteration"] for fact in facts.of("iteration_started")] == [1]
    assert len(project.agent.calls) == 1


@pytest.mark.parametrize(("approved", "kind"), [(True, "completed"), (False, "failed")])
async def test_AB_066_a_pause_while_a_person_is_asked_does_not_hold_the_answer_up(
    project: EngineProject, asked: str, approved: bool, kind: str
) -> None:
    assert project.engine is not None
    await project.engine.control("pause", asked)
    assert loop_state(await project.state(asked))["status"] == "paused"
    assert (await decide(project, asked, approved))["ok"]
    assert (await project.ended(asked)).end["kind"] == kind


async def allow_changes(project: EngineProject) -> None:
    project.settings["assistants"] = {"revise": True}
    project.write()


async def test_AB_067_a_revision_goes_on_with_what_was_said(project: EngineProject) -> None:
    await allow_changes(project)
    project.criterion("manual")
    project.agent.say({"text": OUTPUT}, {"text": "better"})
    asked = await project.started()
    question = await project.until_kind(asked, "manual_approval_required")
    assert question["revise"] is True
    del project.settings["assistants"]
    project.write()  # the run was started with it
    await decide(project, asked, False, decision="revise", feedback="Shorter, and in English.")
    await project.until_kind(asked, "manual_approval_required", iteration=2)
    assert "\n## Reviewer Feedback\nShorter, and in English.\n" in project.agent.messages[1]
    assert project.agent.messages[1].startswith("do it\n")
    await decide(project, asked, True)
    assert (await project.ended(asked)).end["finalOutput"] == "better"


async def test_AB_067_without_the_extension_nobody_asks_for_changes(project: EngineProject, asked: str) -> None:
    """Refused, not taken for a no: that would end the loop and lose what a person wrote."""
    assert "revise" not in (await project.state(asked))["pendingApproval"]
    for run_id in (asked, "all"):
        answer = await decide(project, run_id, None, decision="revise", feedback="Shorter.")
        assert (answer["ok"], answer["code"]) == (False, "forbidden")
        assert "assistants: {revise: true}" in answer["hint"]
    assert (await project.state(asked))["status"] == "waiting_approval"
    assert len(project.agent.calls) == 1
    await allow_changes(project)
    assert (await decide(project, asked, False, decision="revise", feedback="Shorter."))["ok"], "it is allowed now"
    await project.until_kind(asked, "manual_approval_required", iteration=2)


async def test_AB_075_a_stop_rejects_the_open_question_once(project: EngineProject, asked: str) -> None:
    assert project.engine is not None
    await project.engine.control("stop", asked)
    facts = await project.ended(asked)
    mapper = EventMapper()
    failed = [told.payload for fact in facts for told in mapper.hear(fact) if told.terminal]
    assert failed == [
        {
            "iteration": 1,
            "error": "Manual approval was rejected by user",
            "cause": "stopped",
            "errorType": "PROCESS_ERROR",
        }
    ]
    assert (await decide(project, asked, True))["ok"] is False


async def test_AB_163_an_approval_may_have_a_limit(project: EngineProject) -> None:
    project.criterion("manual", approvalTimeoutSeconds=0.2)
    facts = await project.run()
    assert (facts.end["kind"], facts.end["reason"]) == ("failed", "rejected")
    resolved = facts.of("approval_resolved")
    assert (len(resolved), resolved[0]["approved"]) == (1, False)
