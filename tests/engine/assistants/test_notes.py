"""Notes of people to the loop of an assistant, whose iterations are the work of an agent."""

from __future__ import annotations

from tests.engine.assistants.support.project import EngineProject


async def test_a_note_is_in_the_message_of_the_next_iteration_and_in_no_other(project: EngineProject) -> None:
    project.settings["assistants"] = {"revise": True}
    project.criterion("manual")
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await project.started()
    assert project.engine is not None
    for number in (1, 2):
        asked = await project.until_kind(run_id, "manual_approval_required", iteration=number)
        if number == 1:
            assert (await project.engine.note(run_id, "mind the tide"))["ok"]
        answer = await project.engine.approve(run_id, asked["loopId"], None, "revise", "again")
        assert answer["ok"], answer
    await project.until_kind(run_id, "manual_approval_required", iteration=3)
    told = ["mind the tide" in str(call) for call in await project.calls(3)]
    assert told == [False, True, False]
    await project.engine.control("stop", run_id)
    await project.ended(run_id)
