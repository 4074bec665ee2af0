"""A run whose agent has used more of its usage window than the settings allow waits for the reset, or for a person."""

from __future__ import annotations

import time

from loop_ls.engine.runners import usage_windows
from loop_ls.engine.runners.usage_windows import Window
from tests.engine.assistants.support.project import EngineProject


async def test_a_run_waits_between_two_iterations_and_continues_when_it_is_resumed(project: EngineProject) -> None:
    resets = time.time() + 3600
    usage_windows.heard("claude-code", (Window(0.0, resets),))
    project.settings["providers"]["claude-code"]["usagePercent"] = 80
    project.agent.say({"text": "one", "window": [0.9, resets]}, {"text": "two"})
    project.write(maxIterations=2)
    run_id = await project.started()
    parked = await project.until_kind(run_id, "paused")
    assert (parked["reason"], "90 % of its usage window" in parked["because"]) == ("exhausted", True)
    assert parked["until"] > "2020"
    assert len(project.agent.calls) == 1, "the second iteration has not begun"
    assert project.engine is not None
    await project.engine.control("resume", run_id)
    facts = await project.ended(run_id)
    assert facts.outputs == ["one", "two"]
