"""What the facts of a round come to, element by element."""

from __future__ import annotations

import textwrap
from typing import Any

from loop_ls.engine.enhance.report.traces import Trace, traces
from loop_ls.engine.events import Event
from loop_ls.index.document import Document
from loop_ls.testing.fixture import HEAD, MODEL

STEPS = """
    steps:
      - {name: a, run: "{{input}}"}
      - name: l
        needs: [a]
        loop: {workflow: draft, max_iterations: 3, until: "It says READY"}
"""
DOCUMENT = Document.open("file:///ws/flow.yaml", HEAD.format(name="flow") + MODEL + textwrap.dedent(STEPS))


def traced(*facts: tuple[str, str, dict[str, Any]]) -> dict[str, Trace]:
    """Facts by kind, place below the run and content; each a second after the one before."""
    events = [
        Event("r", at, float(at), kind, {"place": f"run/{place}", **body})
        for at, (kind, place, body) in enumerate(facts, 1)
    ]
    return traces("run", events, DOCUMENT)


def test_EB_024_who_answered_is_told_of_the_elements_own_calls_alone() -> None:
    call = {"provider": "p", "model": "m", "usd": 0.5}
    own = traced(("call", "a", call))["a"]
    assert (own.answered_by, own.usd) == (("p", "m"), 0.5)
    judged = traced(("call", "a", {**call, "purpose": "judge"}))["a"]
    assert (judged.answered_by, judged.usd) == (None, 0.5)
    inside = traced(("call", "l/1", call), ("call", "l/1/write", {**call, "usd": None}))["l"]
    assert (inside.answered_by, inside.usd) == (None, 0.5)
    refused = traced(("call", "a", {**call, "error": {"code": "bad", "message": "no", "hint": ""}}))["a"]
    assert (refused.answered_by, refused.refused_by, refused.usd) == (None, ("p", "m", "bad"), 0.5)


def test_EB_024_the_verdict_is_that_of_the_loop_itself() -> None:
    judged = {"criterion": "until", "verdict": "no", "answer": "NO", "condition": "c"}
    own = traced(("judged", "l/1", judged))["l"]
    assert (own.verdict, own.answer) == ("no", "NO")
    inner = traced(("judged", "l/1/x/1", judged))["l"]
    assert (inner.verdict, inner.answer) == (None, "")


def test_EB_022_the_first_step_that_failed_inside_is_named_until_it_succeeds() -> None:
    error = {"code": "bad", "message": "no", "hint": ""}
    first = ("step_failed", "l/1/x", {"step": "x", "error": error})
    second = ("step_failed", "l/1/y", {"step": "y", "error": error})
    assert traced(first, second)["l"].inner == "x"
    assert traced(first, ("step_completed", "l/1/x", {"step": "x", "output": ""}))["l"].inner is None
    assert traced(first, ("step_completed", "l/1/z", {"step": "z", "output": ""}))["l"].inner == "x"


def test_EB_021_a_loop_tells_how_many_iterations_it_used() -> None:
    started = ("step_started", "l", {"step": "l", "mode": "loop", "max_iterations": 3})
    rounds = [("iteration", f"l/{n}", {"iteration": n, "output": text}) for n, text in ((1, "one"), (2, ""))]
    running = traced(started, *rounds)["l"]
    assert running.iterations == {"used": 2, "max": 3, "exit_reason": None}
    assert running.output == "one"
    ended = ("step_completed", "l", {"step": "l", "output": "end", "reason": "max_iterations", "total_iterations": 3})
    assert traced(started, *rounds, ended)["l"].iterations == {"used": 3, "max": 3, "exit_reason": "max_iterations"}
    failed = ("step_failed", "l", {"step": "l", "error": {"code": "bad", "message": "no", "hint": ""}})
    assert traced(started, *rounds, failed)["l"].iterations == {"used": 2, "max": 3, "exit_reason": "error"}
    plain = traced(("step_started", "a", {"step": "a"}), ("step_completed", "a", {"step": "a", "output": "x"}))["a"]
    assert plain.iterations is None


def test_EB_024_an_element_that_begins_again_is_timed_from_its_first_begin() -> None:
    error = {"code": "bad", "message": "no", "hint": ""}
    again = traced(
        ("step_started", "a", {"step": "a"}),
        ("step_failed", "a", {"step": "a", "error": error}),
        ("step_started", "a", {"step": "a", "attempt": 2}),
        ("step_completed", "a", {"step": "a", "output": "x"}),
    )["a"]
    assert (again.ended, again.attempts, again.error, again.duration) == ("completed", 2, None, 3.0)


def test_EB_024_what_happens_elsewhere_belongs_to_no_element() -> None:
    error = {"code": "bad", "message": "no", "hint": ""}
    found = traced(
        ("step_failed", "other", {"step": "other", "error": error}),
        ("step_skipped", "a", {"step": "a", "condition": "{{input}}"}),
    )
    assert found["l"] == Trace()
    assert (found["a"].ended, found["a"].condition) == ("skipped", "{{input}}")
    outside = Event("r", 1, 1.0, "step_failed", {"place": "elsewhere/a", "step": "a", "error": error})
    assert traces("run", [outside], DOCUMENT)["a"] == Trace()
