"""The line about a run in lists of runs is the line of the lens."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.contract.run_view.fold import folded
from loop_ls.features.lenses.lenses import lenses
from loop_ls.features.runs.outcome_texts import spent
from loop_ls.features.runs.run_summary import said, seen

FLOW = """
    #- flow.yaml
    $schema: workflow/v2.0
    name: flow
    version: 1.0.0
    description: A flow
    execution: {provider: ollama, model: llama3.2}
    loops:
      - {name: refine, workflow: draft, max_iterations: 5, until: "Good"}
"""
URI = "file:///w/flow.yaml"
BASE: dict[str, Any] = {
    "runId": "r1",
    "uri": URI,
    "name": "flow",
    "target": {"kind": "loop", "name": "refine"},
    "iteration": 3,
    "maxIterations": 5,
    "costUsd": 0.047,
    "elapsedMs": 72_000,
}
LIMIT = "limit reached after 3 iterations, condition not met"
TIMEOUT = "timed out in iteration 3: slow"
ROUND = "Round 2 of 3 · $1.09 of $5.00"
BEGUN = [{"kind": "step_started", "place": "refine", "step": "refine", "mode": "loop", "maxIterations": 5}]


def turn(number: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "place": f"refine/{number}", "loop": "refine", "iteration": number, **more}


GOES_ON = [*BEGUN, turn(1, "iteration_started"), turn(1, "judged", verdict="no"), turn(3, "iteration_started")]


@pytest.mark.parametrize(
    ("state", "facts", "sign", "line"),
    [
        ({"status": "running"}, GOES_ON, "", "iteration 3/5 · 1 NO"),
        ({"status": "running", "iteration": 0}, [], "", "starting"),
        ({"status": "running"}, [], "", "iteration 3/5"),
        ({"status": "paused"}, GOES_ON, "", "paused · iteration 3/5 · 1 NO"),
        ({"status": "waiting_approval"}, [], "", "waiting for approval · iteration 3/5"),
        ({"status": "completed", "reason": "condition_met"}, [], "✓", "condition met in iteration 3"),
        ({"status": "completed", "reason": "budget"}, [], "◼", "budget used up after 3 iterations"),
        ({"status": "completed", "reason": "max_iterations"}, [], "◼", LIMIT),
        ({"status": "cancelled", "reason": "user"}, [], "■", "stopped in iteration 3"),
        ({"status": "failed", "reason": "timeout", "error": {"message": "slow"}}, [], "✗", TIMEOUT),
    ],
)  # fmt: skip
def test_a_loop_is_told_in_one_line(state: dict[str, Any], facts: list[Any], sign: str, line: str) -> None:
    assert said(seen({**BASE, **state}, folded(facts))) == (sign, line)


def test_a_run_whose_answers_are_made_up_says_so_in_place_of_a_price() -> None:
    assert spent(seen(BASE)) == "$0.047 · 01:12"
    assert spent(seen({**BASE, "mock": True})) == "mock · 01:12"
    assert spent(seen({**BASE, "simulated": True})) == "scripted · 01:12"


@pytest.mark.parametrize(
    "state", [{"status": "running"}, {"status": "paused"}, {"status": "cancelled", "reason": "user"}]
)
def test_the_lens_says_the_same(ask: Any, state: dict[str, Any]) -> None:
    asked, run = ask(FLOW), seen({**BASE, **state}, folded(GOES_ON))
    sign, line = said(run)
    titles = [lens.title for lens in lenses(asked.workspace, asked.document, [run])]
    assert f"{sign} {line} · {spent(run)}".strip() in titles


@pytest.mark.parametrize(
    ("kind", "state", "expected"),
    [
        ("workflow", {"status": "running"}, ("", "running")),
        ("workflow", {"status": "failed", "reason": "error", "error": {"message": "no key"}}, ("✗", "failed: no key")),
        ("workflow", {"status": "completed", "reason": "max_iterations"}, ("◼", "limit reached, condition not met")),
        ("definition", {"status": "running"}, ("", "iteration 3/5")),
        ("definition", {"status": "completed", "reason": "approved"}, ("✓", "approved in iteration 3")),
        ("assistant", {"status": "running", "progressLog": ["a", "b"]}, ("", "iteration 2/5")),
    ],
)
def test_whole_runs_have_their_words_too(kind: str, state: dict[str, Any], expected: tuple[str, str]) -> None:
    assert said(seen({**BASE, **state, "target": {"kind": kind, "name": "x"}})) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"status": "running"}, ("", ROUND)),
        ({"status": "paused", "question": {"kind": "loop_paused"}}, ("", f"{ROUND} · waiting for you")),
        ({"status": "completed", "reason": "converged"}, ("✓", "converged in round 2 of 3 · $1.09")),
        ({"status": "completed", "reason": "max_rounds"}, ("◼", "gave up after 2 rounds: no rounds left · $1.09")),
    ],
)  # fmt: skip
def test_rounds_are_counted_without_their_facts(state: dict[str, Any], expected: tuple[str, str]) -> None:
    common = {"format": "enhance", "target": {"kind": "workflow"}, "iteration": 2, "maxIterations": 3}
    caps = {"costUsd": 1.09, "caps": {"budgetUsd": 5.0}}
    assert said(seen({**BASE, **common, **caps, **state})) == expected
