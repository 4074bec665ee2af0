"""What the agent of each iteration was told, read from the record afterwards: to the letter, without a key in it."""

from __future__ import annotations

from typing import Any

from tests.engine.assistants.support.project import PATH, EngineProject


async def prompts(project: EngineProject, run_id: str, place: str = "") -> list[dict[str, Any]]:
    assert project.engine is not None
    answer = await project.engine.prompts(run_id, place)
    assert answer["ok"], answer
    return list(answer["prompts"])


def told(project: EngineProject) -> list[str]:
    return project.agent.messages


async def test_AB_164_the_message_of_every_iteration_is_the_one_that_the_agent_got(project: EngineProject) -> None:
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await project.started("make it green")
    await project.ended(run_id)
    found = await prompts(project, run_id)
    assert [row["prompt"] for row in found] == told(project)
    assert [row["answer"] for row in found] == ["one", "two", "three"]
    assert [row["place"] for row in found] == [f"fixer/{number}:agent" for number in (1, 2, 3)]
    assert {(row["purpose"], row["provider"], row["system"]) for row in found} == {
        ("agent", "claude-code", "You repair.")
    }
    (second,) = await prompts(project, run_id, "fixer/2")
    assert "- Iteration 1: one" in second["prompt"]
    assert len(project.agent.calls) == 3, "nobody was started for it"


async def test_AB_164_a_persona_that_changed_on_the_way_is_shown_where_it_held(project: EngineProject) -> None:
    """The file may be another one by now: what counts is what the agent was told then."""
    project.settings["assistants"] = {"revise": True}
    project.criterion("manual", maxIterations=4)
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "four"})
    run_id = await project.started()
    personas = ("You repair with care.", "You repair with care.", "You repair.")
    for number, persona in enumerate(personas, 1):
        asked = await project.until_kind(run_id, "manual_approval_required", iteration=number)
        project.write(persona=persona)
        assert project.engine is not None
        revised = {"loopId": asked["loopId"], "approved": False, "decision": "revise", "feedback": f"more {number}"}
        assert (await project.engine.approve(run_id, *revised.values()))["ok"]
    asked = await project.until_kind(run_id, "manual_approval_required", iteration=4)
    assert project.engine is not None
    await project.engine.approve(run_id, asked["loopId"], True)
    facts = await project.ended(run_id)
    project.write(persona="Somebody else.")
    found = await prompts(project, run_id)
    assert [row["system"] for row in found] == ["You repair.", *personas]
    assert [row["prompt"] for row in found] == told(project)
    assert "more 3" in found[3]["prompt"]
    changes = [fact["iteration"] for fact in facts.of("warning") if fact["code"] == "assistant_changed"]
    assert changes == [2], "once for each change, and not for the way back"
    (project.root / PATH).unlink()
    assert len(await prompts(project, run_id)) == 4


async def test_AB_164_a_second_change_of_the_persona_is_said_as_well(project: EngineProject) -> None:
    project.settings["assistants"] = {"revise": True}
    project.criterion("manual", maxIterations=3)
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await project.started()
    for number, persona in enumerate(("First.", "Second."), 1):
        asked = await project.until_kind(run_id, "manual_approval_required", iteration=number)
        project.write(persona=persona)
        assert project.engine is not None
        await project.engine.approve(run_id, asked["loopId"], False, "revise", "again")
    asked = await project.until_kind(run_id, "manual_approval_required", iteration=3)
    assert project.engine is not None
    await project.engine.approve(run_id, asked["loopId"], True)
    facts = await project.ended(run_id)
    assert [fact["iteration"] for fact in facts.of("warning") if fact["code"] == "assistant_changed"] == [2, 3]


async def test_AB_164_a_pattern_is_not_tried_again_to_read_a_prompt(project: EngineProject) -> None:
    """One that explodes would cost its whole limit for each iteration."""
    project.criterion("regex", "(a+)+$")
    project.pattern_limit = 0.3
    project.agent.say({"text": "a" * 40 + "!"})
    run_id = await project.started()
    facts = await project.ended(run_id)
    assert len(facts.of("judged")) == 3
    from loop_ls.engine.assistants import judge

    tried: list[str] = []

    class Never(judge.Pattern):
        async def judge(self, output: str) -> Any:
            tried.append(output)
            return await super().judge(output)

    kept, judge.Pattern = judge.Pattern, Never  # type: ignore[misc]
    try:
        assert len(await prompts(project, run_id)) == 3
    finally:
        judge.Pattern = kept  # type: ignore[misc]
    assert tried == []


async def test_AB_164_a_key_in_a_message_is_masked(project: EngineProject) -> None:
    project.agent.say({"text": "sk-abcdefghijklmnopqrstuvwxyz it is"}, {"text": "two"}, {"text": "three"})
    run_id = await project.started("use sk-abcdefghijklmnopqrstuvwxyz to ask")
    await project.ended(run_id)
    assert "sk-abcdef" in told(project)[0]
    found = await prompts(project, run_id)
    assert len(found) == 3
    assert all("sk-abcdef" not in row["prompt"] and "[secret]" in row["prompt"] for row in found)
    assert found[0]["answer"] == "[secret] it is"


async def test_AB_164_while_an_iteration_runs_its_prompt_is_there_already(project: EngineProject) -> None:
    project.agent.say({"text": "one"}, {"hang": True})
    run_id = await project.started()
    await project.calls(2)
    found = await prompts(project, run_id)
    assert [row["prompt"] for row in found] == told(project)
    assert [row.get("answer") for row in found] == ["one", None]
    assert project.engine is not None
    await project.engine.control("stop", run_id)
    await project.ended(run_id)
