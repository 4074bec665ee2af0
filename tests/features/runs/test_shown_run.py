"""Runs as the editor shows them: from the facts of the engine, as they travel."""

from __future__ import annotations

from typing import Any

from tests.features.viewed import viewed

LOOP = {"place": "refine", "loop": "refine"}


def turn(number: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "place": f"refine/{number}", "loop": "refine", "iteration": number, **more}


def facts() -> list[dict[str, Any]]:
    return [
        {"kind": "run_started", "name": "flow", "target": {"kind": "loop", "name": "refine"}},
        {"kind": "step_started", "place": "refine", "step": "refine", "mode": "loop", "maxIterations": 5},
        turn(1, "iteration_started", maxIterations=5),
        turn(1, "step_started", depth=1, step="review"),
        turn(1, "iteration", output="FAIL: no test"),
        turn(1, "judged", criterion="until", verdict="no", answer="NO", outputRef="refine/1"),
        turn(2, "iteration_started", maxIterations=5),
        turn(2, "iteration_failed", error={"code": "timeout", "message": "no answer after 30 s"}),
        turn(3, "iteration_started", maxIterations=5),
        turn(3, "iteration", output="PASS"),
        turn(3, "judged", criterion="until", verdict="yes", answer="YES", outputRef="refine/3", local=True),
    ]


STATE = {
    "runId": "r1",
    "uri": "file:///w/flow.yaml",
    "name": "flow",
    "target": {"kind": "loop", "name": "refine"},
    "status": "running",
    "iteration": 3,
    "maxIterations": 5,
    "costUsd": 0.031,
    "elapsedMs": 41000,
}


def test_verdicts_are_joined_with_the_outputs_that_were_judged() -> None:
    run = viewed(STATE, facts())
    loop = run.loops["refine"]
    assert (run.kind, run.name, run.cost_usd, loop.iteration, loop.max_iterations) == ("loop", "refine", 0.031, 3, 5)
    assert [(v.iteration, v.verdict, v.output) for v in loop.verdicts] == [
        (1, "no", "FAIL: no test"),
        (2, "failed", ""),
        (3, "yes", "PASS"),
    ]
    assert loop.verdicts[1].answer == "no answer after 30 s" and loop.verdicts[2].local


def test_loops_inside_called_workflows_are_not_those_of_the_file() -> None:
    inner = {"kind": "judged", "loop": "refine", "depth": 1, "iteration": 9, "verdict": "no", "outputRef": ""}
    assert viewed(STATE, [*facts(), inner]).loops["refine"].iteration == 3


def test_how_a_loop_ended() -> None:
    done = {"kind": "step_completed", "step": "refine", "mode": "loop", "reason": "condition_met", "totalIterations": 3}
    loop = viewed({**STATE, "status": "completed"}, [*facts(), done]).loops["refine"]
    assert (loop.status, loop.reason) == ("completed", "condition_met")
    broken = {"kind": "step_failed", "step": "refine", "mode": "loop", "reason": "error", "error": {"message": "boom"}}
    loop = viewed({**STATE, "status": "failed"}, [*facts(), broken]).loops["refine"]
    assert (loop.status, loop.error) == ("failed", "boom")


def test_a_loop_that_had_not_ended_ends_with_its_run() -> None:
    loop = viewed({**STATE, "status": "cancelled", "reason": "user"}, facts()).loops["refine"]
    assert (loop.status, loop.reason) == ("cancelled", "user")
    assert viewed({**STATE, "status": "paused"}, facts()).loops["refine"].status == "paused"


def test_anything_may_be_missing_or_of_another_kind() -> None:
    for state in ({}, {"target": None, "error": 3, "elapsedMs": "x"}, {"target": "loop"}):
        assert viewed(state, [{}, {"kind": None}, {"kind": "judged"}, {"kind": "iteration", "loop": 3}]).loops == {}
    assert viewed({"status": "failed", "error": {"message": "no key"}}).error == "no key"
