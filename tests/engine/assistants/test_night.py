"""A night in fast motion: twelve hours by the clock of the engine, two usage limits, two restarts, a test that passes
now and then. The loop ends for the right reason, nothing is paid twice, and one page says what happened."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.watch.words import ending
from loop_ls.engine.core import run_gate
from loop_ls.report.run_report import MOST_EVENTS, report
from tests.engine.assistants.support.project import PATH, EngineProject

HOUR = 3600.0
#: Fails the third time that it is asked, and passes every other time.
FLAKY = """
import pathlib, sys
file = pathlib.Path("asked.txt")
asked = len(file.read_text()) + 1 if file.exists() else 1
file.write_text("x" * asked)
sys.exit(asked == 3)
"""


class Night(EngineProject):
    """Each turn of the agent takes an hour; `waited` are those between them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.began, self.waited = time.time(), 0.0
        self.clock = lambda: self.began + HOUR * (len(self.agent.calls) + self.waited)

    async def restart(self) -> None:
        await self.close()
        await self.open()


@pytest.fixture
async def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Night]:
    monkeypatch.setattr(run_gate, "LOOK_AGAIN", 0.01)
    made = Night(tmp_path)
    yield made
    await made.close()


async def test_a_night_ends_as_it_should_pays_once_and_is_told_on_a_page(night: Night, tmp_path: Path) -> None:
    first, second, go_on = night.began + 4 * HOUR, night.began + 11 * HOUR, tmp_path / "go-on"
    night.agent.say(
        {"text": "Looked at the tests.", "cost": 0.5},
        {"text": "Mended one.", "cost": 0.25},
        {"result": "You've hit your session limit", "limit": first, "cost": 0},
        {"text": "DONE", "cost": 1.0},  # and the flaky test fails
        {"text": "lost", "wait_for": str(go_on)},  # at work when the engine is restarted
        {"text": "Mended another.", "cost": 2.0},
        {"result": "You've hit your weekly limit", "limit": second, "cost": 0},
        {"text": "DONE", "cost": 4.0},
    )
    night.criterion("regex", "^DONE$", maxIterations=20)
    flaky = {"name": "flaky", "type": "command", "value": [sys.executable, "-c", FLAKY]}
    stem = PATH.removesuffix(".assistant.json")
    (night.root / f"{stem}.checks.yaml").write_text(json.dumps({"assert": [flaky]}))
    run_id = await night.started("Make the tests pass.", check={})

    await parked_until(night, run_id, 1)
    await night.restart()
    night.waited += 1.1
    await night.calls(5)
    await night.restart()
    await parked_until(night, run_id, 2)
    night.waited += 3
    facts = await night.ended(run_id)

    assert (facts.end["kind"], facts.end["reason"], facts.end["totalIterations"]) == ("completed", "condition_met", 5)
    assert facts.outputs == ["Looked at the tests.", "Mended one.", "DONE", "Mended another.", "DONE"]
    assert sum(fact["usd"] or 0.0 for fact in facts.of("call")) == pytest.approx(0.5 + 0.25 + 1.0 + 2.0 + 4.0)
    assert (len(night.agent.calls), night.clock() - night.began > 12 * HOUR) == (8, True)
    told(await night.state(run_id), list(facts))


async def parked_until(night: Night, run_id: str, times: int) -> dict[str, Any]:
    """The run waits for a reset, for the so many-th time."""
    seen: list[int] = []

    def again(event: dict[str, Any]) -> bool:
        seen.extend([1] if event["kind"] == "paused" and event.get("until") else [])
        return len(seen) == times

    return await night.until(run_id, again)


def told(state: Any, facts: list[Any]) -> None:
    page = report(state, ending(state), facts)
    text = "\n".join(page)
    assert len(page) <= MOST_EVENTS + 20, text
    for said in (
        "condition met in iteration 5",
        "asked: Make the tests pass.",
        "for a usage limit to reset: The agent",
        "resumed after an interruption, one call may have been billed twice",
        "iterations 1–2: NO",
        "iteration 3: NO (checks failed)",
        "flaky: 1 of 5 times failed",
        "ended: condition met",
        "$7.75",
    ):
        assert said in text, text
