"""Facts of enhance loops have a shape: what a reader relies on cannot come in by an imported run."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from loop_ls.contract.facts.kinds import payloads, readable

NUMBERS: dict[str, Any] = {"round": 1, "maxRounds": 3, "spentUsd": 0.1, "capUsd": 5.0}
FAILURE = {"id": "1/draft/step_error", "step": "draft", "kind": "step_error", "class": "hard", "message": "it failed"}
REPORT = {"schema": "enhance/failure-report/1", "totals": {"steps": 1}, "failures": [], "cost": {"round_usd": 0.1}}
READY = {**NUMBERS, "failures": [FAILURE], "converged": False, "report": REPORT}


def test_a_report_as_it_is_written_can_be_read() -> None:
    readable("report_ready", READY)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("report", "boom"),
        ("failures", "boom"),
        ("failures", [{"step": 1}]),
        ("spentUsd", "x"),
        ("round", "one"),
        ("report", {**REPORT, "cost": {"round_usd": "much"}}),
        ("report", {**REPORT, "failures": [3]}),
    ],
)
def test_a_report_that_no_timeline_could_show_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        readable("report_ready", {**READY, field: value})


@pytest.mark.parametrize(
    "kind",
    [
        *("round_started", "round_finished", "report_ready", "loop_fixation_warning", "planner_started"),
        *("planner_finished", "planner_failed", "op_rejected", "ops_proposed", "edit_sent", "edit_acknowledged"),
        *("edit_refused", "loop_paused", "loop_continued", "backing_off", "feedback"),
    ],
)
def test_every_kind_of_an_enhance_loop_has_a_model(kind: str) -> None:
    assert payloads()[kind].kind == kind
