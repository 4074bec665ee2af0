"""Loops of assistants that are forked, replayed and deleted like every run."""

from __future__ import annotations

import json
from pathlib import Path

from loop_ls.client.consent import agreed
from tests.engine.assistants.support.project import EngineProject


async def test_AB_157_a_fork_pays_for_nothing_that_was_finished(project: EngineProject) -> None:
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "other three"})
    run_id = await project.started()
    await project.ended(run_id)
    assert project.engine is not None
    answer = await project.engine.fork(run_id, 3)
    assert answer["ok"], answer
    facts = await project.ended(answer["runId"])
    assert facts.outputs == ["one", "two", "other three"]
    assert len(project.agent.calls) == 4
    assert project.agent.messages[3] == project.agent.messages[2]


async def test_a_fork_tells_the_agent_once_what_a_person_put_in_place_of_its_message(project: EngineProject) -> None:
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "new two"}, {"text": "new three"})
    run_id = await project.started()
    await project.ended(run_id)
    assert project.engine is not None
    rows = (await project.engine.prompts(run_id))["prompts"]
    agents = [row for row in rows if row["purpose"] == "agent"]
    answer = await project.engine.fork(run_id, at=agents[1]["place"], prompt="Only two words.")
    assert answer["ok"], answer
    await project.ended(answer["runId"])
    assert project.agent.messages[3] == "Only two words."
    assert "Only two words." not in project.agent.messages[4]
    again = (await project.engine.prompts(answer["runId"]))["prompts"]
    assert [row.get("changed") for row in again if row["purpose"] == "agent"] == [None, True, None]


async def test_AB_157_a_replay_judges_what_was_recorded_by_the_criterion_as_it_is_now(project: EngineProject) -> None:
    project.criterion("regex", "nothing")
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await project.started()
    assert (await project.ended(run_id)).end["reason"] == "max_iterations"
    project.criterion("regex", "two")
    assert project.engine is not None
    answer = await project.engine.replay(run_id)
    assert answer["ok"], answer
    facts = await project.ended(answer["runId"])
    assert (facts.end["reason"], facts.end["totalIterations"]) == ("condition_met", 2)
    assert len(project.agent.calls) == 3


async def test_AB_157_a_fork_of_a_run_that_came_in_starts_no_program_before_somebody_agrees(
    project: EngineProject,
) -> None:
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "other three"})
    run_id = await project.started()
    await project.ended(run_id)
    engine = project.engine
    assert engine is not None
    document = json.loads(json.dumps((await engine.export(run_id))["run"]))
    document["facts"][0]["body"]["root"] = "/home/somebody/else"
    (project.data / "consents.json").unlink()
    document["runId"] = "elsewhere1"
    taken = await engine.take_in(document)
    answer = await engine.fork(taken["runId"], 3)
    assert answer["code"] == "consent_required"
    assert answer["programs"] == [list(project.agent.program)]
    assert len(project.agent.calls) == 3
    forked = await engine.fork(taken["runId"], 3, consent=agreed(project.data, answer))
    assert forked["ok"], forked
    assert (await project.ended(forked["runId"])).outputs == ["one", "two", "other three"]
    assert project.agent.calls[3]["cwd"] == str(project.root)  # here, not where it was recorded


async def test_AB_157_a_loop_that_came_in_is_forked_here_after_somebody_agreed_to_its_programs(
    project: EngineProject, tmp_path: Path
) -> None:
    project.criterion("test_pass", "test -e done", maxIterations=2)
    project.agent.say({"text": "one"}, {"text": "two"})
    run_id = await project.started()
    await project.ended(run_id)
    assert project.engine is not None
    document = (await project.engine.export(run_id))["run"]
    other = EngineProject(tmp_path / "other")
    engine = await other.open()
    try:
        await engine.take_in(document)
        refused = await engine.fork(run_id, 2)
        assert refused["code"] == "consent_required"
        assert sorted(refused["programs"]) == sorted([list(project.agent.program), ["test", "-e", "done"]])
        assert len(project.agent.calls) == 2
        (other.root / "done").touch()
        forked = await engine.fork(run_id, 2, consent=agreed(other.data, refused))
        facts = await other.ended(forked["runId"])
        assert (facts.end["reason"], facts.outputs[0], len(project.agent.calls)) == ("condition_met", "one", 3)
        assert project.agent.calls[2]["cwd"] == str(other.root)
    finally:
        await other.close()
