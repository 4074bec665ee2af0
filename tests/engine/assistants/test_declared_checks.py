"""Declared checks beside an assistant: before its criterion, in the next message, at its end, and agreed to before."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from loop_ls.engine.assistants.program import AssistantProgram, Start
from loop_ls.engine.checks.run_checks import RunChecks
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.formats.checks.model import Check
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.recorder import MemoryRecorder
from tests.engine.assistants.support.alone import Alone, Saying
from tests.engine.assistants.support.project import PATH, EngineProject

STEM = PATH.removesuffix(".assistant.json").removesuffix(".assistant.yaml")
#: Succeeds as soon as the file `done` is there; both times it says so.
COMMAND = [
    sys.executable,
    "-c",
    "import os,sys; there=os.path.exists('done'); print('tail of it'); sys.exit(not there)",
]
WHOLE = {"name": "whole", "type": "not-contains", "value": "TODO"}


def declare(project: EngineProject, *checks: dict[str, Any], kind: str = "checks") -> None:
    told = {"assert": list(checks)} if kind == "checks" else {"tests": list(checks)}
    (project.root / f"{STEM}.{kind}.yaml").write_text(json.dumps(told))


def verdicts(facts: Any) -> list[tuple[str, str]]:
    return [(one["criterion"], one["verdict"]) for one in facts.of("judged")]


async def test_AB_171_while_a_check_fails_the_criterion_is_not_asked(project: EngineProject) -> None:
    project.criterion("regex", "DONE")
    declare(project, WHOLE)
    project.agent.say({"text": "DONE, but TODO"}, {"text": "DONE"})
    facts = await project.run(check={})
    assert verdicts(facts) == [("checks", "no"), ("regex", "yes")]
    assert facts.end["reason"] == "condition_met"
    told = "## Failed Checks\nThe previous iteration failed these checks:\n- whole: `TODO` is in the output"
    first, second = (call["message"] for call in await project.calls(2))
    assert "Failed Checks" not in first
    assert told in second


async def test_AB_171_a_person_is_asked_only_about_what_passes(project: EngineProject) -> None:
    project.criterion("manual")
    declare(project, WHOLE)
    project.agent.say({"text": "TODO"}, {"text": "fine"})
    run_id = await project.started(check={})
    asked = await project.until_kind(run_id, "manual_approval_required")
    assert asked["iteration"] == 2
    assert project.engine is not None
    await project.engine.approve(run_id, asked["loopId"], True)
    assert (await project.ended(run_id)).end["reason"] == "approved"


async def test_AB_171_the_end_of_a_command_goes_into_the_next_message(project: EngineProject) -> None:
    project.criterion("test_pass", f"{sys.executable} -c pass")
    declare(project, {"name": "tests", "type": "command", "value": COMMAND})
    facts = await project.run(check={})
    assert "- tests: it ended with status 1\ntail of it" in (await project.calls(2))[1]["message"]
    assert verdicts(facts) == [("checks", "no")] * 3


async def test_AB_172_several_in_a_row_have_to_pass_both(project: EngineProject) -> None:
    project.criterion("regex", "DONE", {"inARow": 2}, maxIterations=6)
    declare(project, WHOLE)
    project.agent.say({"text": "DONE"}, {"text": "DONE TODO"}, {"text": "DONE"}, {"text": "DONE"})
    facts = await project.run(check={})
    assert verdicts(facts) == [("regex", "yes"), ("checks", "no"), ("regex", "yes"), ("regex", "yes")]
    assert facts.end["reason"] == "condition_met"


async def test_AB_173_without_a_criterion_the_checks_end_the_loop(project: EngineProject) -> None:
    declare(project, WHOLE)
    project.agent.say({"text": "TODO"}, {"text": "fine"}, {"text": "more"})
    facts = await project.run(check={})
    assert verdicts(facts) == [("checks", "no"), ("checks", "yes")]
    assert (facts.end["reason"], facts.outputs) == ("condition_met", ["TODO", "fine"])
    assert (await project.run()).end["reason"] == "max_iterations"  # nobody asked for the checks


async def test_AB_173_a_chosen_number_of_iterations_stays_the_end(project: EngineProject) -> None:
    project.criterion("max_iterations")
    declare(project, WHOLE)
    project.agent.say({"text": "fine"})
    facts = await project.run(check={})
    assert (facts.end["reason"], len(facts.outputs)) == ("completed", 3)


async def test_AB_174_the_last_iteration_decides_how_the_run_ends(project: EngineProject) -> None:
    project.criterion("regex", "DONE")
    declare(project, WHOLE, {"name": "cheap", "type": "cost", "threshold": 1000})
    project.agent.say({"text": "a TODO"})
    run_id = await project.started(check={})
    facts = await project.ended(run_id)
    assert (facts.end["kind"], facts.end["reason"]) == ("failed", "verification")
    assert "whole: `TODO` is in the output" in facts.end["error"]["message"]
    state = await project.state(run_id)
    assert (state["exitCode"], state["lastOutput"]) == (4, "a TODO")


async def test_AB_175_the_command_is_shown_and_a_mock_run_starts_none(project: EngineProject) -> None:
    declare(project, {"name": "tests", "type": "command", "value": COMMAND})
    shown = await project.start(consent=False, check={})
    assert COMMAND in shown["programs"]
    facts = await project.run(check={}, mock=True)
    assert any("`tests` was skipped" in one["message"] for one in facts.of("warning"))
    assert facts.of("checked") == []
    assert facts.end["reason"] == "max_iterations"  # a check that is left out proves nothing


async def test_AB_175_prompts_that_are_read_back_and_forks_keep_the_checks(project: EngineProject) -> None:
    project.criterion("regex", "ok")
    declare(project, {"name": "tests", "type": "command", "value": COMMAND})
    project.agent.say({"text": "ok"})
    run_id = await project.started(check={})
    await project.ended(run_id)
    (project.root / "done").touch()
    (project.root / f"{STEM}.checks.yaml").unlink()
    assert project.engine is not None
    told = await project.engine.prompts(run_id)
    assert ["tail of it" in one["prompt"] for one in told["prompts"]] == [False, True, True]
    answer = await project.engine.fork(run_id, 2)
    assert answer["ok"], answer
    facts = await project.ended(answer["runId"])
    assert (facts.end["reason"], [one["verdict"] for one in facts.of("checked")]) == ("condition_met", ["fail", "pass"])


async def test_AB_176_checks_of_another_assistant_of_the_file_are_not_meant(project: EngineProject) -> None:
    both = [{"id": name, "name": name, "persona": "You.", "loopEnabled": True, "maxIterations": 1} for name in "ab"]
    (project.root / PATH).write_text(json.dumps({"assistants": both}))
    declare(project, {"on": "loop.b", "type": "contains", "value": "never"}, WHOLE)
    assert (await project.run(target={"kind": "assistant", "name": "a"}, check={})).end["reason"] == "condition_met"
    assert (await project.run(target={"kind": "assistant", "name": "b"}, check={})).end["reason"] == "verification"


async def test_AB_176_a_case_gives_the_message(project: EngineProject) -> None:
    declare(project, {"name": "sea", "vars": {"input": "the sea"}, "assert": [WHOLE]}, kind="cases")
    facts = await project.run(None, check={"case": "sea"})
    assert facts.end["reason"] == "condition_met"
    assert (await project.calls(1))[0]["message"] == "the sea"


async def test_AB_174_a_restart_decides_nothing_twice(tmp_path: Path) -> None:
    """The engine is gone before the run has told its end: what was decided is read, and nothing is started."""
    counting = [sys.executable, "-c", "open('count', 'a').write('x'); raise SystemExit(1)"]
    check = Check("tests", "command", value=counting)
    alone = Alone(Saying("one", "two"), most=2, root=tmp_path)

    async def looped(recorder: MemoryRecorder) -> Outcome:
        declared = RunChecks((check,), recorder, ScriptedModels(), str(tmp_path))
        start = Start(alone._assistant(), "do it", 2, str(tmp_path), "fixer.assistant.yaml")
        return await AssistantProgram({}).loop(start, alone.runner, recorder, declared)

    first = await looped(alone.recorder)
    assert (first.reason, (tmp_path / "count").read_text()) == ("verification", "xx")
    assert "- tests: it ended with status 1" in alone.runner.messages[1]
    again = await looped(alone.recorder.again())
    assert (again.reason, str(again.failure), (tmp_path / "count").read_text()) == (
        first.reason,
        str(first.failure),
        "xx",
    )
    assert len(alone.runner.asked) == 2
