"""Loops of assistants that are forked, replayed and deleted like every run."""

from __future__ import annotations

from tests.engine.assistants.support.house import House


async def test_a_fork_pays_for_nothing_that_was_finished(it: House) -> None:
    it.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "other three"})
    run_id = await it.started()
    await it.ended(run_id)
    assert it.engine is not None
    answer = await it.engine.fork(run_id, 3)
    assert answer["ok"], answer
    facts = await it.ended(answer["runId"])
    assert facts.outputs == ["one", "two", "other three"]
    assert len(it.agent.calls) == 4
    assert it.agent.messages[3] == it.agent.messages[2]


async def test_a_replay_judges_what_was_recorded_by_the_criterion_as_it_is_now(it: House) -> None:
    it.criterion("regex", "nothing")
    it.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await it.started()
    assert (await it.ended(run_id)).end["reason"] == "max_iterations"
    it.criterion("regex", "two")
    assert it.engine is not None
    answer = await it.engine.replay(run_id)
    assert answer["ok"], answer
    facts = await it.ended(answer["runId"])
    assert (facts.end["reason"], facts.end["totalIterations"]) == ("condition_met", 2)
    assert len(it.agent.calls) == 3
