"""Loops of assistants in an engine that is killed (SIGKILL), and what is paid again: only what was in flight."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.assistants.support.project import EngineProject, Facts
from tests.processes.ended import gone
from tests.processes.forked import Forked

ROOT = Path(__file__).resolve().parents[3]


class RestartedEngine:
    """One engine after the other over the same folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.house = EngineProject(folder)
        self.process: Forked | None = None

    async def begin(self, *words: str) -> None:
        module = "tests.engine.assistants.support.engine_process"
        self.process = Forked([sys.executable, "-m", module, str(self.folder), *words], cwd=ROOT)

    async def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        await asyncio.to_thread(self.process.wait, 60)

    async def facts(self) -> Facts:
        assert self.process is not None
        assert await asyncio.to_thread(self.process.wait, 60) == 0
        return Facts(json.loads((self.folder / "facts.json").read_text()))


@pytest.fixture
async def mortal(tmp_path: Path) -> AsyncIterator[RestartedEngine]:
    project = RestartedEngine(tmp_path)
    yield project
    if project.process is not None and project.process.poll() is None:
        await project.kill()


async def there(path: Path) -> Any:
    async with asyncio.timeout(60):
        while not path.exists() or not path.read_text():
            await asyncio.sleep(0.01)
    return path.read_text()


async def test_AB_159_a_loop_that_is_killed_in_iteration_2_goes_on_there(mortal: RestartedEngine) -> None:
    agent = mortal.house.agent
    agent.say({"text": "first"}, {"text": "lost", "child": True, "hang": True})
    await mortal.begin()
    calls = await mortal.house.calls(2)
    await mortal.kill()
    async with asyncio.timeout(60):
        while not (gone(calls[1]["pid"]) and gone(calls[1]["child"])):
            await asyncio.sleep(0.005)
    agent.say({"text": "first"}, {"text": "lost"}, {"text": "second"}, {"text": "third"})
    await mortal.begin()
    facts = await mortal.facts()
    assert facts.outputs == ["first", "second", "third"]
    assert [message.count("- Iteration") for message in agent.messages] == [0, 1, 1, 2]
    assert facts.of("recovered")[0]["mayHavePaidTwice"] is True
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
    assert [fact["learning"] for fact in facts.of("progress")] == ["first", "second", "third"]


async def test_AB_159_a_loop_that_is_killed_while_a_person_is_asked_asks_on(mortal: RestartedEngine) -> None:
    mortal.house.criterion("manual")
    mortal.house.agent.say({"text": "the output"})
    await mortal.begin()
    asked = await there(mortal.folder / "asked")
    await mortal.kill()
    await mortal.begin("approve")
    facts = await mortal.facts()
    assert [fact["loopId"] for fact in facts.of("manual_approval_required")] == [asked]
    assert (facts.end["reason"], facts.end["finalOutput"]) == ("approved", "the output")
    assert len(mortal.house.agent.calls) == 1
    assert facts.of("recovered")[0].get("mayHavePaidTwice", False) is False


@pytest.mark.parametrize("when", ["before", "after"])
async def test_AB_179_a_memory_survives_a_kill_and_is_paid_once(mortal: RestartedEngine, when: str) -> None:
    """The engine dies around the moment in which the first memory is written."""
    house = mortal.house
    house.write(memory="memory/fixer.md", maxIterations=2)
    house.agent.say({"text": "first"}, {"text": "second"})
    await mortal.begin("memory-written", when)
    assert mortal.process is not None
    await asyncio.to_thread(mortal.process.wait, 60)
    await mortal.begin()
    facts = await mortal.facts()
    assert facts.outputs == ["first", "second"]
    assert [call["purpose"] for call in facts.of("call")] == ["agent", "memory"] * 2
    assert "ok" in house.agent.calls[1]["files"]["--append-system-prompt-file"]
    assert (house.root / "memory/fixer.md").read_text().endswith("\n\nok\n")


EDIT = {"text": "done", "bash": "echo >> package.json"}


@pytest.mark.parametrize("hangs", [True, False])
async def test_UP_91_an_edit_before_a_kill_is_asked_about_before_anything_else_begins(
    mortal: RestartedEngine, hangs: bool
) -> None:
    """The engine dies while the agent works on, or with the fact that its answer is there."""
    house = mortal.house
    (house.root / "package.json").write_text("{}")
    house.criterion("test_pass", f"{sys.executable} -c pass")
    house.agent.say({**EDIT, "hang": hangs}, {"text": "again"})
    await mortal.begin(*(() if hangs else ("call", "after")))
    await house.calls(1)
    if hangs:
        async with asyncio.timeout(60):
            while (house.root / "package.json").read_text() == "{}":
                await asyncio.sleep(0.005)
        await mortal.kill()
    else:
        assert mortal.process is not None
        await asyncio.to_thread(mortal.process.wait, 60)
    await mortal.begin("approve")
    facts = await mortal.facts()
    kinds = [fact["kind"] for fact in facts]
    (asked,) = facts.of("manual_approval_required")
    assert asked["protected"] == [{"path": "package.json", "change": "changed"}]
    assert kinds.index("approval_resolved") < kinds.index("judged")
    assert facts.end["reason"] == "condition_met"
    assert len(house.agent.calls) == (2 if hangs else 1)
