"""What the fold of facts answers is the state of the contract: no field that it does not declare."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from loop_ls.contract.facts.kinds import payloads
from loop_ls.contract.run_state import RunStateView
from loop_ls.engine.events import Event, fold

STATE = TypeAdapter(RunStateView)
PLACE = {"place": "develop/2", "loop": "develop", "depth": 0}
STARTED: dict[str, Any] = {
    "format": "workflow",
    "name": "ship",
    "target": {"kind": "loop", "name": "develop"},
    "limits": {"maxIterations": 5, "budgetUsd": 2.0, "criterion": {"type": "condition", "value": "it says PASS"}},
    "source": {"kind": "fork", "runId": "r0", "iteration": 2},
    "mock": True,
}
ERROR = {"code": "auth", "message": "the key is wrong", "hint": "set another"}
ROUND = {"round": 1, "maxRounds": 3, "spentUsd": 0.1, "capUsd": 5.0, "question": "q"}
FACTS: list[tuple[str, dict[str, Any]]] = [
    ("run_started", STARTED),
    ("step_started", {**PLACE, "step": "develop", "mode": "loop", "condition": "it says PASS", "maxIterations": 5}),
    ("iteration_started", {**PLACE, "iteration": 1, "maxIterations": 5}),
    ("iteration", {**PLACE, "iteration": 1, "output": "v1"}),
    ("judged", {**PLACE, "iteration": 1, "criterion": "condition", "verdict": "no", "answer": "NO", "local": False}),
    (
        "call",
        {**PLACE, "provider": "p", "model": "m", "tokens": {"input": 3, "output": 4}, "cut": True, "maxTokens": 9},
    ),
    ("stage_started", {**PLACE, "stage": "plan", "role": "planner", "index": 0}),
    ("stage_failed", {**PLACE, "stage": "plan", "error": ERROR, "dispatch": True, "index": 0}),
    ("progress", {"iteration": 1, "learning": "tests are slow"}),
    ("manual_approval_required", {**PLACE, "iteration": 1, "output": "v1", "loopId": "develop", "revise": True}),
    ("loop_paused", {**PLACE, **ROUND, "reason": "conflict", "conflict": "stale"}),
    ("loop_updated", {"goal": "faster", "metadata": {"note": "x"}, "labels": ["a"]}),
    ("recovered", {"inFlight": [], "mayHavePaidTwice": True}),
]
ENDS: list[tuple[str, dict[str, Any]]] = [
    ("completed", {"reason": "budget", "because": "$2.00 of $2.00 are spent", "lastOutput": "v1"}),
    ("failed", {"reason": "error", "error": ERROR}),
    ("cancelled", {"cause": "teardown"}),
]


def state_after(facts: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    return fold(Event("r1", seq, float(seq), kind, body) for seq, (kind, body) in enumerate(facts, 1)).wire(99.0)


@pytest.mark.parametrize("number", range(1, len(FACTS) + 1))
def test_the_state_after_each_fact_is_one_of_the_contract(number: int) -> None:
    assert all(kind in payloads() for kind, _ in FACTS)
    STATE.validate_python(state_after(FACTS[:number]))


@pytest.mark.parametrize("end", ENDS, ids=[kind for kind, _ in ENDS])
def test_a_run_that_has_ended_says_how(end: tuple[str, dict[str, Any]]) -> None:
    state = STATE.validate_python(state_after([*FACTS, end]))
    assert state["ending"]["line"]


def test_a_field_that_nobody_declared_is_noticed() -> None:
    with pytest.raises(ValueError, match="surprise"):
        STATE.validate_python({**state_after(FACTS), "surprise": 1})
