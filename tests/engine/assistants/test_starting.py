"""What a start needs, and what a running loop keeps of it."""

from __future__ import annotations

import json

import pytest

from loop_ls.cli.runs.runs_table import outcome
from loop_ls.engine.assistants.program import AssistantProgram, Start
from loop_ls.formats.assistant.model import Assistant, Criteria
from loop_ls.testing.recorder import MemoryRecorder
from tests.engine.assistants.support.alone import Saying
from tests.engine.assistants.support.house import PATH, House


@pytest.mark.parametrize("criterion", [{"type": "regex"}, {"type": "test_pass"}])
async def test_AB_010_a_criterion_without_a_value_leaves_the_limit(it: House, criterion: dict[str, str]) -> None:
    it.write(loopCriteria=criterion, maxIterations=2)
    facts = await it.run()
    assert (facts.end["kind"], facts.end["reason"], len(it.agent.calls)) == ("completed", "max_iterations", 2)


async def test_AB_011_without_a_criterion_it_runs_to_its_limit(it: House) -> None:
    facts = await it.run()
    assert (facts.end["reason"], len(it.agent.calls)) == ("max_iterations", 3)


async def test_AB_012_an_unknown_type_keeps_going(it: House) -> None:
    it.criterion("until_done", "ok")
    facts = await it.run()
    assert (facts.end["reason"], len(it.agent.calls)) == ("max_iterations", 3)


async def test_AB_013_an_unknown_assistant_is_no_start(it: House) -> None:
    refused = await it.start(target={"kind": "assistant", "name": "fixr"})
    assert (refused["ok"], refused["code"]) == (False, "not_found")
    assert "did you mean `fixer`" in refused["message"]
    missing = await it.start(path=str(it.root / "no.assistant.yaml"))
    assert missing["code"] == "not_found"
    assert it.engine is not None
    assert (await it.engine.events())["events"] == []


@pytest.mark.parametrize("enabled", [False, None])
async def test_AB_014_a_disabled_assistant_is_no_start(it: House, enabled: bool | None) -> None:
    it.write(loopEnabled=enabled)
    refused = await it.start()
    assert refused["ok"] is False
    assert "loopEnabled" in refused["message"]
    assert it.engine is not None
    assert (await it.engine.events())["events"] == []
    assert it.agent.calls == []


async def test_AB_015_a_blank_message_fails_in_iteration_1_and_starts_nothing(it: House) -> None:
    facts = await it.run(" \n ")
    assert (facts.end["kind"], facts.end["iteration"]) == ("failed", 1)
    assert "empty" in facts.end["error"]["message"]
    assert "Iteration 1 failed" not in facts.end["error"]["message"]
    assert it.agent.calls == []


async def test_a_start_without_a_message_asks_for_it(it: House) -> None:
    refused = await it.start(message=None)
    assert (refused["code"], refused["names"]) == ("input_required", ["message"])


async def test_AB_016_a_running_loop_keeps_its_criterion(it: House) -> None:
    it.criterion("regex", "STOP")
    go = it.root / "go"
    it.agent.say({"text": "a", "wait_for": str(go)}, {"text": "NEVER"}, {"text": "STOP"})
    run_id = await it.started()
    await it.calls(1)
    it.criterion("regex", "NEVER", maxIterations=2)
    go.touch()
    facts = await it.ended(run_id)
    assert (facts.end["reason"], facts.end["totalIterations"]) == ("condition_met", 3)


async def test_AB_017_the_next_iteration_uses_the_new_persona(it: House) -> None:
    go = it.root / "go"
    it.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    run_id = await it.started()
    await it.calls(1)
    it.write(persona="You are bold.")
    go.touch()
    facts = await it.ended(run_id)
    personas = [call["files"]["--system-prompt-file"] for call in it.agent.calls]
    assert personas == ["You repair.", "You are bold.", "You are bold."]
    warnings = [fact["message"] for fact in facts.of("warning")]
    assert warnings == [f"{PATH} changed: this iteration uses its new `persona`."]


@pytest.mark.parametrize("what", ["deleted", "disabled"])
async def test_UP_60_a_run_goes_on_when_its_file_does_not_and_says_so(it: House, what: str) -> None:
    go = it.root / "go"
    it.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    run_id = await it.started()
    await it.calls(1)
    if what == "deleted":
        (it.root / PATH).unlink()
    else:
        it.write(loopEnabled=False, persona="Other")
    go.touch()
    facts = await it.ended(run_id)
    assert (facts.end["kind"], len(it.agent.calls)) == ("completed", 3)
    assert it.agent.calls[2]["files"]["--system-prompt-file"] == "You repair."
    assert [fact["code"] for fact in facts.of("warning")] == ["file_gone" if what == "deleted" else "loop_disabled"]
    state = await it.state(run_id)
    assert state["label"] == ("file deleted" if what == "deleted" else "loop disabled")
    assert state["label"] in outcome(state | {"status": "running"})
    assert (await it.start())["ok"] is False


async def test_the_unsaved_text_of_an_editor_is_what_runs(it: House) -> None:
    unsaved = json.dumps(it.assistant | {"persona": "Unsaved."})
    await it.run(texts={PATH: unsaved})
    assert all(call["files"]["--system-prompt-file"] == "Unsaved." for call in it.agent.calls)


async def test_AB_032_a_limit_of_0_is_done_before_it_begins() -> None:
    runner, recorder = Saying(), MemoryRecorder()
    assistant = Assistant("a", "A", "P", loop_enabled=True, criteria=Criteria("regex", "x"), max_iterations=0)
    outcome = await AssistantProgram({}).loop(Start(assistant, "m", 0, "", "a.assistant.yaml"), runner, recorder)
    assert (outcome.reason, outcome.iterations, outcome.output, outcome.last) == ("max_iterations", 0, "", "")
    assert runner.asked == []


async def test_UP_45_a_limit_of_0_in_a_file_is_refused(it: House) -> None:
    it.write(maxIterations=0)
    refused = await it.start()
    assert refused["code"] == "file_has_errors"
    assert "AL021" in refused["message"]
    assert it.agent.calls == []


async def test_UP_49_the_end_names_the_default_limit_that_it_reached(it: House) -> None:
    it.write(maxIterations=None, loopCriteria=None)
    facts = await it.run()
    assert facts.end["totalIterations"] == 10
    assert "`maxIterations` of 10, the default" in facts.end["because"]


async def test_a_list_of_assistants_is_asked_which(it: House) -> None:
    both = [it.assistant, it.assistant | {"name": "Second One"}]
    (it.root / PATH).write_text(json.dumps({"assistants": both}))
    refused = await it.start()
    assert "`fixer`, `second-one`" in refused["message"]
    facts = await it.run(target={"kind": "assistant", "name": "second-one"})
    assert (facts[0]["name"], facts[0]["target"]) == ("Second One", {"kind": "assistant", "name": "second-one"})


async def test_a_cap_on_dollars_is_refused_for_an_agent_that_never_says_what_it_has_cost(it: House) -> None:
    own = it.settings["providers"]["claude-code"]
    own["speaks"] = "text"
    it.settings["limits"] = {"budgetUsd": 1.0}
    it.write()
    answer = await it.start()
    assert (answer["ok"], answer["code"]) == (False, "bad_argument")
    assert "`limits.budgetUsd` could not hold" in answer["message"]
    assert it.agent.calls == []
