"""What the agent of each iteration was told, read from the record afterwards: to the letter, without a key in it."""

from __future__ import annotations

from typing import Any

from tests.engine.assistants.support.house import PATH, House


async def prompts(it: House, run_id: str, place: str = "") -> list[dict[str, Any]]:
    assert it.engine is not None
    answer = await it.engine.prompts(run_id, place)
    assert answer["ok"], answer
    return list(answer["prompts"])


def told(it: House) -> list[str]:
    return it.agent.messages


async def test_the_message_of_every_iteration_is_the_one_that_the_agent_got(it: House) -> None:
    it.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await it.started("make it green")
    await it.ended(run_id)
    found = await prompts(it, run_id)
    assert [row["prompt"] for row in found] == told(it)
    assert len(found) == 3
    assert [row["place"] for row in found] == [f"fixer/{number}:agent" for number in (1, 2, 3)]
    assert {(row["purpose"], row["provider"], row["system"]) for row in found} == {
        ("agent", "claude-code", "You repair.")
    }
    (second,) = await prompts(it, run_id, "fixer/2")
    assert "- Iteration 1: one" in second["prompt"]
    assert len(it.agent.calls) == 3, "nobody was started for it"


async def test_a_persona_that_changed_on_the_way_is_shown_where_it_held(it: House) -> None:
    """The file may be another one by now: what counts is what the agent was told then."""
    it.settings["assistants"] = {"revise": True}
    it.criterion("manual", maxIterations=4)
    it.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "four"})
    run_id = await it.started()
    personas = ("You repair with care.", "You repair with care.", "You repair.")
    for number, persona in enumerate(personas, 1):
        asked = await it.until_kind(run_id, "manual_approval_required", iteration=number)
        it.write(persona=persona)
        assert it.engine is not None
        revised = {"loopId": asked["loopId"], "approved": False, "decision": "revise", "feedback": f"more {number}"}
        assert (await it.engine.approve(run_id, *revised.values()))["ok"]
    asked = await it.until_kind(run_id, "manual_approval_required", iteration=4)
    assert it.engine is not None
    await it.engine.approve(run_id, asked["loopId"], True)
    facts = await it.ended(run_id)
    it.write(persona="Somebody else.")
    found = await prompts(it, run_id)
    assert [row["system"] for row in found] == ["You repair.", *personas]
    assert [row["prompt"] for row in found] == told(it)
    assert "more 3" in found[3]["prompt"]
    changes = [fact["iteration"] for fact in facts.of("warning") if fact["code"] == "assistant_changed"]
    assert changes == [2], "once for each change, and not for the way back"
    (it.root / PATH).unlink()
    assert len(await prompts(it, run_id)) == 4


async def test_a_second_change_of_the_persona_is_said_as_well(it: House) -> None:
    it.settings["assistants"] = {"revise": True}
    it.criterion("manual", maxIterations=3)
    it.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await it.started()
    for number, persona in enumerate(("First.", "Second."), 1):
        asked = await it.until_kind(run_id, "manual_approval_required", iteration=number)
        it.write(persona=persona)
        assert it.engine is not None
        await it.engine.approve(run_id, asked["loopId"], False, "revise", "again")
    asked = await it.until_kind(run_id, "manual_approval_required", iteration=3)
    assert it.engine is not None
    await it.engine.approve(run_id, asked["loopId"], True)
    facts = await it.ended(run_id)
    assert [fact["iteration"] for fact in facts.of("warning") if fact["code"] == "assistant_changed"] == [2, 3]


async def test_a_pattern_is_not_tried_again_to_read_a_prompt(it: House) -> None:
    """One that explodes would cost its whole limit for each iteration."""
    it.criterion("regex", "(a+)+$")
    it.pattern_limit = 0.3
    it.agent.say({"text": "a" * 40 + "!"})
    run_id = await it.started()
    facts = await it.ended(run_id)
    assert len(facts.of("judged")) == 3
    from loop_ls.engine.assistants import judge

    tried: list[str] = []

    class Never(judge.Pattern):
        async def judge(self, output: str) -> Any:
            tried.append(output)
            return await super().judge(output)

    kept, judge.Pattern = judge.Pattern, Never  # type: ignore[misc]
    try:
        assert len(await prompts(it, run_id)) == 3
    finally:
        judge.Pattern = kept  # type: ignore[misc]
    assert tried == []


async def test_a_key_in_a_message_is_masked(it: House) -> None:
    it.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await it.started("use sk-abcdefghijklmnopqrstuvwxyz to ask")
    await it.ended(run_id)
    assert "sk-abcdef" in told(it)[0]
    found = await prompts(it, run_id)
    assert len(found) == 3
    assert all("sk-abcdef" not in row["prompt"] and "[secret]" in row["prompt"] for row in found)


async def test_while_an_iteration_runs_its_prompt_is_there_already(it: House) -> None:
    it.agent.say({"text": "one"}, {"hang": True})
    run_id = await it.started()
    await it.calls(2)
    assert [row["prompt"] for row in await prompts(it, run_id)] == told(it)
    assert it.engine is not None
    await it.engine.control("stop", run_id)
    await it.ended(run_id)
