"""Notifications: the program of `notify` gets each occasion once, was agreed to, and holds up no run."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.capabilities.values import Capabilities, Program
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.runs.notifications import Notifications
from loop_ls.engine.runs.registry import LiveRun, control_of
from tests.wired.project import Ended, WiredProject

FLOW = """
$schema: workflow/v2.0
name: flow
version: 1.0.0
execution: {provider: acme, model: large}
steps: [{name: work, run: do it}]
"""
ASSISTANT = {
    "name": "asker",
    "persona": "You ask.",
    "provider": "openai",
    "model": "m",
    "loopEnabled": True,
    "loopCriteria": {"type": "manual"},
}
#: Appends what it gets to a file beside it, as one line.
KEEPS = "import sys; open('told.jsonl', 'a').write(sys.stdin.read())"
LONG = 60


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[WiredProject]:
    found = WiredProject(tmp_path)
    await found.open()
    yield found
    await found.close()


def notify(project: WiredProject, program: str = KEEPS, **settings: Any) -> None:
    project.write(".loop-ls.yaml", json.dumps({"notify": [sys.executable, "-c", program], **settings}))


def told(project: WiredProject) -> list[dict[str, Any]]:
    path = project.root / "told.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_UP_86_the_end_of_a_run_is_told_once_with_its_state(project: WiredProject) -> None:
    notify(project)
    project.write("flow.yaml", FLOW)
    ran = await project.run("flow.yaml", {"work": "done"})
    await project.engine.notifications.close()
    (one,) = told(project)
    assert (one["event"], one["root"]) == ("ended", str(project.root))
    run = one["run"]
    assert (run["runId"], run["status"], run["ending"]["kind"]) == (ran.answer["runId"], "completed", "success")


async def test_UP_86_a_failed_run_is_told_too(project: WiredProject) -> None:
    notify(project)
    project.write("flow.yaml", FLOW)
    await project.run("flow.yaml", {"work": []})
    await project.engine.notifications.close()
    assert [(one["event"], one["run"]["status"]) for one in told(project)] == [("ended", "failed")]


async def test_UP_86_the_owner_has_to_agree_to_the_program(project: WiredProject) -> None:
    notify(project)
    start = {"root": str(project.root), "path": str(project.write("flow.yaml", FLOW))}
    asked = await project.engine.start(start)
    assert asked["code"] == "consent_required"
    assert "told.jsonl" in json.dumps(asked)
    project.write(".loop-ls.yaml", "{}")
    assert "told.jsonl" not in json.dumps(await project.engine.start(start))


async def test_UP_86_a_mock_run_tells_nobody(project: WiredProject) -> None:
    notify(project)
    project.write("flow.yaml", FLOW)
    ran: Ended = await project.run("flow.yaml", {"work": "done"}, mock=True)
    assert ran.end["kind"] == "completed"
    await project.engine.notifications.close()
    assert told(project) == []


async def first(project: WiredProject, running: asyncio.Task[Ended]) -> dict[str, Any]:
    """The first that the program was told."""
    async with asyncio.timeout(LONG):
        while not told(project):
            assert not running.done(), running.result().answer
            await asyncio.sleep(0.01)
    return told(project)[0]


async def test_UP_86_an_engine_that_comes_back_tells_nothing_again(project: WiredProject) -> None:
    notify(project)
    path = project.write("asker.assistant.json", json.dumps(ASSISTANT))
    running = asyncio.create_task(project.run(str(path), {"Fixer": ["one"]}, message="Go."))
    run_id = (await first(project, running))["run"]["runId"]
    running.cancel()
    await project.close()
    await project.open()
    await project.engine.control("resume", run_id)
    await project.engine.approve(run_id, None, True)
    async with asyncio.timeout(LONG):
        async for _, event in project.engine.subscribe(after=0, run_id=run_id):
            if event["kind"] in ("completed", "failed", "cancelled"):
                break
    await project.engine.notifications.close()
    assert [one["event"] for one in told(project)] == ["question", "ended"]


async def test_UP_86_a_question_is_told_while_the_run_waits(project: WiredProject) -> None:
    notify(project)
    path = project.write("asker.assistant.json", json.dumps(ASSISTANT))
    running = asyncio.create_task(project.run(str(path), {"Fixer": ["one"]}, message="Go."))
    asked = await first(project, running)
    assert (asked["event"], asked["run"]["status"]) == ("question", "waiting_approval")
    await project.engine.control("stop", asked["run"]["runId"])
    await running
    await project.engine.notifications.close()
    assert [one["event"] for one in told(project)] == ["question", "ended"]


async def test_UP_86_a_program_that_hangs_holds_up_nobody_and_is_ended(
    project: WiredProject, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(project.engine.notifications, "_limit", 0.3)
    notify(project, "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)")
    project.write("flow.yaml", FLOW)
    ran = await project.run("flow.yaml", {"work": "done"})
    assert ran.end["kind"] == "completed"
    await project.engine.notifications.close()
    assert "could not be called for run" in caplog.text
    assert "longer than 0.3 s" in caplog.text


async def watched(folder: Path, status: str) -> tuple[Notifications, LiveRun]:
    state = RunState("r1")._replace(status=status)  # type: ignore[arg-type]
    run = LiveRun("r1", state, control_of(state))
    words = (sys.executable, "-c", KEEPS)
    plan = Plan("r1", "workflow", str(folder), "flow", "flow.yaml", settings={"notify": list(words)})
    notifications = Notifications()
    notifications.watch(run, plan, lambda: Capabilities.of((Program(words, str(folder)),)))
    return notifications, run


@pytest.mark.parametrize(
    ("kind", "body", "events"),
    [
        ("paused", {"until": "2030-01-01T11:00:00Z", "reason": "exhausted"}, ["parked"]),
        ("paused", {}, []),  # by a person, who knows
        ("loop_paused", {"question": "q"}, ["question"]),
        ("edit_sent", {"question": "q"}, ["question"]),
        ("edit_sent", {}, []),
        ("iteration", {"iteration": 1, "output": "x"}, []),
    ],
)
async def test_UP_86_what_is_an_occasion(tmp_path: Path, kind: str, body: dict[str, Any], events: list[str]) -> None:
    notifications, run = await watched(tmp_path, "paused")
    notifications.hear([Event("r1", 2, 0.0, kind, body), Event("another", 2, 0.0, "completed", {})])
    await notifications.close()
    path = tmp_path / "told.jsonl"
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == events if events else True
    assert path.exists() == bool(events)
    notifications.forget(run.run_id)
    notifications.hear([Event("r1", 3, 0.0, "completed", {})])
    await notifications.close()
    assert path.exists() == bool(events)
