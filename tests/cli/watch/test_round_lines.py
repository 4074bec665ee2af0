"""The lines below the end of an enhance loop: of each round what failed, what people said, what was applied."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.cli.watch.round_lines import show_rounds

ROUND = {
    "status": "failed",
    "label": "ok",
    "failed": [],
    "proposed": [],
    "rejected": [],
    "applied": [],
    "unfixable": [],
}


class Engine:
    def __init__(self, *rounds: dict[str, Any]) -> None:
        every = [{**ROUND, "rationale": "", "diff": "", "round": number, **one} for number, one in enumerate(rounds, 1)]
        self.told = {"ok": True, "status": {"state": "gave_up"}, "rounds": every}

    async def enhance(self, run_id: str, verb: str) -> dict[str, Any]:
        return self.told


async def lines(capsys: pytest.CaptureFixture[str], *rounds: dict[str, Any]) -> list[str]:
    engine: Any = Engine(*rounds)
    await show_rounds(engine, "run-123456")
    return capsys.readouterr().err.splitlines()[:-1]


async def test_a_round_that_did_not_finish_is_not_one_without_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    told = await lines(capsys, {}, {"unfinished": True})
    assert told == ["  round 1: failed nothing; no change", "  round 2: did not finish; no change"]


async def test_what_people_said_of_a_round_stands_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    said = [{"text": "be nicer", "step": "draft", "negative": True}, {"text": "fine so far", "negative": False}]
    told = await lines(capsys, {"feedback": said})
    assert told[1:] == ["    rejected by a person: draft: be nicer", "    a person on the round: fine so far"]
