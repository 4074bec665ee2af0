"""Declared checks in trials: what they look at, and what a run has cost."""

from __future__ import annotations

import pytest

from loop_ls.engine.checks.run_cost import known_cost
from loop_ls.text.json_value import JsonObject
from tests.engine.enhance.evidence.noisy import CASES, TEXT
from tests.engine.enhance.loops import HEAD, Loop, failing, priced

COST = "assert: [{type: cost, threshold: 0.05}]"
AGAIN = TEXT.replace("    run:", "    on_failure: retry\n    max_retries: 2\n    run:")


async def test_EB_124_an_attempt_that_failed_leaves_the_price_of_a_run_known() -> None:
    """The first call of each run is answered with HTTP 500, which costs nothing."""
    answers = [failing("server"), priced("good", 0.01)] * 10
    loop = Loop(AGAIN, {"draft": answers}, cases=CASES, checks=COST)
    assert (await loop.run()).reason == "converged"
    told = [(one["outcome"], one["checks"][0]["verdict"]) for one in loop.of("trial_finished")]
    assert told == [("pass", "pass")] * 10


@pytest.mark.parametrize(
    ("calls", "usd"),
    [
        ([{"usd": 0.25}, {"error": {"code": "server"}}], 0.25),
        ([{"usd": 0.25}, {"error": {"code": "server"}, "usd": None, "tokens": {"input": 0, "output": 0}}], 0.25),
        ([{"usd": 0.25}, {"error": {"code": "truncated"}, "usd": 0.5}], 0.75),
        ([{"usd": 0.25}, {"error": {"code": "truncated"}, "tokens": {"input": 9, "output": 0}}], None),
        ([{"usd": 0.25}, {"tokens": {"input": 9, "output": 9}}], None),
        ([{"usd": 0.25}, {"usd": None}], None),
        ([], 0.0),
    ],
)
def test_only_a_call_that_costs_something_makes_the_price_of_a_run_unknown(
    calls: list[JsonObject], usd: float | None
) -> None:
    assert known_cost(calls) == usd


OUTER = (
    HEAD
    + """\
loops:
  - {name: big, workflow: middle, max_iterations: 1, until: It is done}
"""
)
MIDDLE = (
    HEAD.replace("report", "middle")
    + """\
steps: [{name: start, run: Begin}, {name: close, needs: [small], run: Close}]
loops:
  - {name: small, workflow: least, max_iterations: 2, until: It is small}
"""
)
LEAST = HEAD.replace("report", "least") + "steps: [{name: go, run: Go}]\n"


async def test_EB_124_a_check_of_a_loop_looks_at_its_own_iterations_only() -> None:
    """Those of a loop that it calls are none of its own."""
    checks = "assert: [{on: loop.big, every: true, type: contains, value: closed}]"
    script = {"start": "begun", "go": "inner", "close": "closed", "judge": "YES"}
    more = {"middle.yaml": MIDDLE, "least.yaml": LEAST}
    loop = Loop(OUTER, script, cases=CASES[:1], checks=checks, more=more)
    outcome = await loop.run()
    told = [one["checks"] for one in loop.of("trial_finished")]
    assert outcome.reason == "converged", told


async def test_EB_124_a_check_that_has_nothing_to_look_at_for_want_of_a_provider_fails_no_trial() -> None:
    """An outage in the first trials would make every later plan look better."""
    answers = [failing("server"), failing("unreachable"), *["good"] * 20]
    loop = Loop(TEXT, {"draft": answers}, cases=CASES, checks="assert: [{type: contains, value: good}]")
    assert (await loop.run()).reason == "converged"
    assert [one["outcome"] for one in loop.of("trial_finished")] == ["void", "void", *["pass"] * 10]


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ("assert: [{type: contains, value: good}]", ""),
        ("assert: [{type: contains, value: good, severity: warn}]", "No check can fail a trial on any test case"),
        ("assert: [{on: step.draft, type: contains, value: good, optional: true}]", "No check can fail a trial on any"),
        ("verifiers: []", "No check can fail a trial on any test case: it passes whenever its run is clean."),
    ],
)
async def test_EB_124_who_has_no_check_that_can_fail_is_told_what_converged_means(checks: str, told: str) -> None:
    loop = Loop(TEXT, {"draft": "good"}, cases=CASES, checks=checks)
    outcome = await loop.run()
    assert outcome.reason == "converged"
    assert told in (outcome.because or "")
    assert ("No check" in (outcome.because or "")) is bool(told)
