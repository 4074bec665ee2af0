"""Results of a run in the list of problems: on the loop's name, with the verdicts at its condition."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.contract.run_view.parts import Verdict
from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.runs.run_findings import run_findings
from loop_ls.rules.engine.finding import Finding, Severity

FLOW = """
    steps:
      - {name: plan, run: "Plan {{input}}"}
    loops:
      - name: refine
        workflow: polish
        max_iterations: 5
        until: "The review says PASS"
"""


def run(loop: LoopView | None, **more: Any) -> ShownRun:
    given: dict[str, Any] = {"kind": "loop", "name": "refine", "status": "completed", **more}
    loops = {loop.name: loop} if loop else {}
    return ShownRun(run_id="r1", uri="file:///w/flow.yaml", loops=loops, **given)


def one(ask: Any, view: ShownRun) -> Finding:
    found = run_findings(ask(FLOW).document, view)
    assert len(found) == 1
    return found[0]


def test_the_result_stands_on_the_name_and_the_verdicts_on_the_condition(ask: Any) -> None:
    verdicts = (Verdict(1, "no", "FAIL: missing test for empty input"), Verdict(2, "yes", "PASS", local=True))
    loop = LoopView("refine", "completed", 2, 5, "condition_met", verdicts)
    finding = one(ask, run(loop))
    text = ask(FLOW).document.text
    assert finding.message == "condition met in iteration 2"
    assert finding.severity is Severity.HINT and finding.rule == "loop-run"
    assert text.slice(finding.span) == "refine"
    assert {text.slice(related.span) for related in finding.related} == {'"The review says PASS"'}
    assert [related.message for related in finding.related] == [
        'iteration 1: NO - "FAIL: missing test for empty input"',
        'iteration 2: YES (decided locally) - "PASS"',
    ]


def test_a_limit_is_no_success_and_brings_the_advice_of_the_guide(ask: Any) -> None:
    finding = one(ask, run(LoopView("refine", "completed", 5, 5, "max_iterations")))
    assert finding.severity is Severity.INFORMATION
    assert finding.message.startswith("limit reached after 5 iterations, condition not met. ")
    assert "`polish`" in finding.message and "loopLs.testUntil" in finding.message


def test_a_condition_that_was_met_at_once_may_be_too_broad(ask: Any) -> None:
    finding = one(ask, run(LoopView("refine", "completed", 1, 5, "condition_met")))
    assert finding.severity is Severity.HINT
    assert "too broad" in finding.message
    assert "too broad" not in one(ask, run(LoopView("refine", "completed", 1, 1, "condition_met"))).message


@pytest.mark.parametrize(
    ("loop", "status", "message", "severity"),
    [
        (LoopView("refine", "running", 3, 5), "running", "running: iteration 3 of 5", Severity.INFORMATION),
        (LoopView("refine", "paused", 3, 5), "paused", "paused: iteration 3 of 5", Severity.INFORMATION),
        (
            LoopView("refine", "failed", 2, 5, "error", error="`polish`: no answer"),
            "failed",
            "failed in iteration 2: `polish`: no answer",
            Severity.WARNING,
        ),
        (
            LoopView("refine", "failed", 2, 5, "timeout"),
            "failed",
            "timed out in iteration 2",
            Severity.WARNING,
        ),
        (LoopView("refine", "cancelled", 2, 5, "user"), "cancelled", "stopped in iteration 2", Severity.INFORMATION),
        (
            LoopView("refine", "cancelled", 2, 5, "teardown"),
            "cancelled",
            "stopped in iteration 2: the editor was closed",
            Severity.INFORMATION,
        ),
        (
            LoopView("refine", "completed", 4, 5, "budget"),
            "completed",
            "budget used up after 4 iterations",
            Severity.INFORMATION,
        ),
    ],
)
def test_UP_81_every_end_reads_differently(
    ask: Any, loop: LoopView, status: str, message: str, severity: Severity
) -> None:
    finding = one(ask, run(loop, status=status))
    assert (finding.message, finding.severity) == (message, severity)


def test_a_run_that_failed_outside_of_loops_says_so_on_the_name_of_the_workflow(ask: Any) -> None:
    view = run(None, kind="workflow", name="flow", status="failed", error="no key for openai")
    finding = one(ask, view)
    assert ask(FLOW).document.text.slice(finding.span) == "flow"
    assert finding.message == "failed: no key for openai"


def test_a_loop_that_is_not_in_the_file_any_more_is_left_out(ask: Any) -> None:
    assert run_findings(ask(FLOW).document, run(LoopView("gone", "completed", 1, 5, "condition_met"))) == ()
