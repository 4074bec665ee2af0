"""What a start needs, and what a running loop keeps of it."""

from __future__ import annotations

import json

import pytest

from loop_ls.cli.runs.runs_table import outcome
from loop_ls.engine.assistants.program import AssistantProgram, Start
from loop_ls.formats.assistant.model import Assistant, Criteria
from loop_ls.testing.recorder import MemoryRecorder
from tests.engine.assistants.support.alone import Saying
from tests.engine.assistants.support.project import PATH, EngineProject


@pytest.mark.parametrize("criterion", [{"type": "regex"}, {"type": "test_pass"}])
async def test_AB_010_a_criterion_without_a_value_leaves_the_limit(
    project: EngineProject, criterion: dict[str, str]
) -> None:
    project.write(loopCriteria=criterion, maxIterations=2)
    facts = await project.run()
    assert (facts.end["kind"], facts.end["reason"], len(project.agent.calls)) == ("completed", "max_iterations", 2)


async def test_AB_011_without_a_criterion_it_runs_to_its_limit(project: EngineProject) -> None:
    facts = await project.run()
    assert (facts.end["reason"], len(project.agent.calls)) == ("max_iterations", 3)


async def test_AB_169_a_number_of_iterations_that_was_chosen_as_the_criterion_completes_the_loop(
    project: EngineProject,
) -> None:
    project.write(loopCriteria={"type": "max_iterations"}, maxIterations=2)
    facts = await project.run()
    assert (facts.end["kind"], facts.end["reason"], len(project.agent.calls)) == ("completed", "completed", 2)
    assert "because" not in facts.end


async def test_AB_012_an_unknown_type_keeps_going(project: EngineProject) -> None:
    project.criterion("until_done", "ok")
    facts = await project.run()
    assert (facts.end["reason"], len(project.agent.calls)) == ("max_iterations", 3)


async def test_AB_013_an_unknown_assistant_is_no_start(project: EngineProject) -> None:
    refused = await project.start(target={"kind": "assistant", "name": "fixr"})
    assert (refused["ok"], refused["code"]) == (False, "not_found")
    assert "did you mean `fixer`" in refused["message"]
    missing = await project.start(path=str(project.root / "no.assistant.yaml"))
    assert missing["code"] == "not_found"
    assert project.engine is not None
    assert (await project.engine.events())["events"] == []


@pytest.mark.parametrize("enabled", [False, None])
async def test_AB_014_a_disabled_assistant_is_no_start(project: EngineProject, enabled: bool | None) -> None:
    project.write(loopEnabled=enabled)
    refused = await project.start()
    assert refused["ok"] is False
    assert "loopEnabled" in refused["message"]
    assert project.engine is not None
    assert (await project.engine.events())["events"] == []
    assert project.agent.calls == []


async def test_AB_015_a_blank_message_fails_in_iteration_1_and_starts_nothing(project: EngineProject) -> None:
    facts = await project.run(" \n ")
    assert (facts.end["kind"], facts.end["iteration"]) == ("failed", 1)
    assert "empty" in facts.end["error"]["message"]
    assert "Iteration 1 failed" not in facts.end["error"]["message"]
    assert project.agent.calls == []


async def test_AB_015_a_start_without_a_message_asks_for_it(project: EngineProject) -> None:
    refused = await project.start(message=None)
    assert (refused["code"], refused["names"]) == ("input_required", ["message"])


async def test_AB_016_a_running_loop_keeps_its_criterion(project: EngineProject) -> None:
    project.criterion("regex", "STOP")
    go = project.root / "go"
    project.agent.say({"text": "a", "wait_for": str(go)}, {"text": "NEVER"}, {"text": "STOP"})
    run_id = await project.started()
    await project.calls(1)
    project.criterion("regex", "NEVER", maxIterations=2)
    go.touch()
    facts = await project.allowed(run_id)
    assert (facts.end["reason"], facts.end["totalIterations"]) == ("condition_met", 3)


async def test_AB_017_the_next_iteration_uses_the_new_persona(project: EngineProject) -> None:
    go = project.root / "go"
    project.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    run_id = await project.started()
    await project.calls(1)
    project.write(persona="You are bold.")
    go.touch()
    facts = await project.allowed(run_id)
    personas = [call["files"]["--system-prompt-file"] for call in project.agent.calls]
    assert personas == ["You repair.", "You are bold.", "You are bold."]
    warnings = [fact["message"] for fact in facts.of("warning")]
    assert warnings == [f"{PATH} changed: this iteration uses the new `persona`."]


@pytest.mark.parametrize("what", ["deleted", "disabled"])
async def test_UP_60_a_run_goes_on_when_its_file_does_not_and_says_so(project: EngineProject, what: str) -> None:
    go = project.root / "go"
    project.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    run_id = await project.started()
    await project.calls(1)
    if what == "deleted":
        (project.root / PATH).unlink()
    else:
        project.write(loopEnabled=False, persona="Other")
    go.touch()
    facts = await project.allowed(run_id)
    assert (facts.end["kind"], len(project.agent.calls)) == ("completed", 3)
    assert project.agent.calls[2]["files"]["--system-prompt-file"] == "You repair."
    assert [fact["code"] for fact in facts.of("warning")] == ["file_gone" if what == "deleted" else "loop_disabled"]
    state = await project.state(run_id)
    assert state["label"] == ("file deleted" if what == "deleted" else "loop disabled")
    assert state["label"] in outcome(state | {"status": "running"})
    assert (await project.start())["ok"] is False


async def test_the_unsaved_text_of_an_editor_is_what_runs(project: EngineProject) -> None:
    unsaved = json.dumps(project.assistant | {"persona": "Unsaved."})
    await project.run(texts={PATH: unsaved})
    assert all(call["files"]["--system-prompt-file"] == "Unsaved." for call in project.agent.calls)


async def test_AB_032_a_limit_of_0_is_done_before_it_begins() -> None:
    runner, recorder = Saying(), MemoryRecorder()
    assistant = Assistant("a", "A", "P", loop_enabled=True, criteria=Criteria("regex", "x"), max_iterations=0)
    outcome = await AssistantProgram({}).loop(Start(assistant, "m", 0, "", "a.assistant.yaml"), runner, recorder)
    assert (outcome.reason, outcome.iterations, outcome.output, outcome.last) == ("max_iterations", 0, "", "")
    assert runner.asked == []


async def test_UP_45_a_limit_of_0_in_a_file_is_refused(project: EngineProject) -> None:
    project.write(maxIterations=0)
    refused = await project.start()
    assert refused["code"] == "file_has_errors"
    assert "AL021" in refused["message"]
    assert project.agent.calls == []


async def test_UP_49_the_end_names_the_default_limit_that_it_reached(project: EngineProject) -> None:
    project.write(maxIterations=None, loopCriteria=None)
    facts = await project.run()
    assert facts.end["totalIterations"] == 10
    assert "`maxIterations` of 10, the default" in facts.end["because"]


async def test_a_list_of_assistants_is_asked_which(project: EngineProject) -> None:
    both = [project.assistant, project.assistant | {"name": "Second One"}]
    (project.root / PATH).write_text(json.dumps({"assistants": both}))
    refused = await project.start()
    assert "`fixer`, `second-one`" in refused["message"]
    facts = await project.run(target={"kind": "assistant", "name": "second-one"})
    assert (facts[0]["name"], facts[0]["target"]) == ("Second One", {"kind": "assistant", "name": "second-one"})


async def test_AB_097_a_cap_on_dollars_is_refused_for_an_agent_that_never_says_what_it_has_cost(
    project: EngineProject,
) -> None:
    own = project.settings["providers"]["claude-code"]
    own["speaks"] = "text"
    project.settings["limits"] = {"budgetUsd": 1.0}
    project.write()
    answer = await project.start()
    assert (answer["ok"], answer["code"]) == (False, "bad_argument")
    assert "`limits.budgetUsd` cannot be enforced" in answer["message"]
    assert project.agent.calls == []
