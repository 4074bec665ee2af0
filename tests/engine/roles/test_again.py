"""Role loops once more: forked behind what was finished, replayed without a call, their file gone meanwhile."""

from __future__ import annotations

import json
import re
from pathlib import Path

from loop_ls.client.consent import agreed
from loop_ls.testing.models import failure

from .conftest import EngineProject


async def test_RB_139_a_loop_that_failed_goes_on_in_a_fork_without_paying_again(project: EngineProject) -> None:
    project.say(write=["one", failure("no disk"), "two"], judge_it=["NEEDS CHANGES: more", "APPROVED"])
    state = await project.run()
    assert (state["status"], state["iteration"]) == ("failed", 2)
    answer = await project.engine.fork(state["runId"], 2)
    assert answer["ok"], answer
    forked = await project.ended(answer["runId"])
    assert (forked["status"], forked["reason"], forked["iteration"]) == ("completed", "approved", 2)
    assert project.models.order == ["write", "judge-it", "write", "write", "judge-it"]
    told = project.models.prompts("write")[-1]
    assert "- Iteration 1: reviewer [completed]: NEEDS CHANGES: more" in told
    ids = [artifact["id"] for artifact in await project.records_of("artifacts")]
    assert all(named in ids for named in re.findall(r"Artifact (\w+) holds", told))  # none that is not there


async def test_RB_139_a_fork_keeps_within_the_iterations_that_its_project_allows_now(project: EngineProject) -> None:
    project.say(judge_it=["NEEDS CHANGES: more"])
    run_id = (await project.run())["runId"]
    settings = project.root / ".loop-ls.yaml"
    settings.write_text(settings.read_text() + "limits: {maxIterations: 2}\n")
    answer = await project.engine.fork(run_id, 2)
    assert answer["ok"], answer
    forked = await project.ended(answer["runId"])
    assert (forked["iteration"], forked["maxIterations"]) == (2, 2)


async def test_a_fork_tells_a_stage_once_what_a_person_put_in_place_of_its_prompt(project: EngineProject) -> None:
    project.say(write=["one", "two", "new one"], judge_it=["NEEDS CHANGES: more", "APPROVED"])
    run_id = (await project.run())["runId"]
    rows = (await project.engine.prompts(run_id))["prompts"]
    writes = [row for row in rows if row["purpose"] == "stage"]
    answer = await project.engine.fork(run_id, at=writes[0]["place"], prompt="In verse.")
    assert answer["ok"], answer
    await project.ended(answer["runId"])
    assert project.models.prompts("write")[2] == "In verse."
    again = (await project.engine.prompts(answer["runId"]))["prompts"]
    assert next(row.get("changed") for row in again if row["purpose"] == "stage") is True


async def test_RB_139_a_replay_asks_nobody(project: EngineProject) -> None:
    project.say(judge_it=["no", "APPROVED"])
    state = await project.run()
    asked = len(project.models.requests)
    answer = await project.engine.replay(state["runId"])
    assert answer["ok"], answer
    again = await project.ended(answer["runId"])
    assert (again["status"], again["reason"], again["iteration"]) == ("completed", "approved", 2)
    assert len(project.models.requests) == asked


async def test_RB_139_a_built_in_loop_is_replayed_by_its_name(project: EngineProject) -> None:
    project.models.default = "APPROVED"
    state = await project.run("harness")
    answer = await project.engine.replay(state["runId"])
    assert answer["ok"], answer
    assert (await project.ended(answer["runId"]))["reason"] == "approved"


async def test_UP_60_a_loop_whose_file_is_gone_runs_on_and_no_new_one_starts(project: EngineProject) -> None:
    def gone(request: object) -> str:
        (project.root / "loops" / "pair.json").unlink(missing_ok=True)
        return "text"

    project.say(write=[gone, "text"], judge_it=["no", "APPROVED"])
    state = await project.allowed(await project.start())
    assert (state["status"], state["iteration"]) == ("completed", 2)
    answer = await project.ask()
    assert (answer["ok"], answer["code"]) == (False, "not_found")


async def test_RB_139_a_fork_of_a_loop_that_came_in_does_nothing_before_somebody_agrees(project: EngineProject) -> None:
    project.say(write=["one", "two"], judge_it=["NEEDS CHANGES: more", "APPROVED", "APPROVED"])
    state = await project.run()
    document = json.loads(json.dumps((await project.engine.export(state["runId"]))["run"]))
    document["facts"][0]["body"]["root"] = "/home/somebody/else"
    document["runId"] = "elsewhere1"
    (project.data / "consents.json").unlink()
    taken = await project.engine.take_in(document)
    asked = len(project.models.requests)
    answer = await project.engine.fork(taken["runId"], 2)
    assert (answer["code"], answer["programs"]) == ("consent_required", [["any command", "(role coder)"]])
    assert len(project.models.requests) == asked
    forked = await project.engine.fork(taken["runId"], 2, consent=agreed(project.data, answer))
    assert forked["ok"], forked
    assert (await project.ended(forked["runId"]))["reason"] == "approved"
    first = (await project.facts(forked["runId"], "run_started"))[0]
    assert first["root"] == str(project.root)  # here, not where it was recorded


async def test_RB_139_a_loop_that_came_in_is_forked_here_after_somebody_agreed_to_what_it_may_do(
    project: EngineProject, tmp_path: Path
) -> None:
    project.say(judge_it=["NEEDS CHANGES: more", "APPROVED"])
    state = await project.run()
    document = (await project.engine.export(state["runId"]))["run"]
    other = EngineProject(tmp_path / "other")
    engine = await other.open()
    await engine.take_in(document)
    refused = await engine.fork(state["runId"], 2)
    assert (refused["code"], refused["programs"]) == ("consent_required", [["any command", "(role coder)"]])
    assert other.models.requests == []
    answer = await engine.fork(state["runId"], 2, consent=agreed(other.data, refused))
    assert answer["ok"], answer
    forked = await other.ended(answer["runId"])
    assert (forked["status"], forked["reason"], forked["iteration"]) == ("completed", "approved", 2)
    assert other.models.order == ["write", "judge-it"]
    started = (await other.facts(answer["runId"]))[0]
    assert started["root"] == str(other.root)  # not the folder that it names, which is another machine's
    [recorded] = await other.records_of("projects")
    assert forked["projectId"] == recorded["id"]
    await other.close()


async def test_RB_139_a_fork_of_a_replay_asks_what_a_start_would_ask(project: EngineProject) -> None:
    state = await project.run()
    replay = (await project.engine.replay(state["runId"]))["runId"]
    await project.ended(replay)
    (project.data / "consents.json").unlink()
    assert (await project.engine.fork(replay, 1))["code"] == "consent_required"
