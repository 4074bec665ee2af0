"""The page about a run: what went alike is one line, it stays one page, and nothing in it is obeyed by a terminal."""

from __future__ import annotations

from typing import Any

from loop_ls.report.run_report import MOST, MOST_EVENTS, report

STATE: Any = {"runId": "r1", "name": "main", "startedAt": "2026-01-01T20:00:00Z"}


def page(*events: dict[str, Any], **state: Any) -> str:
    rows = [{"at": f"2026-01-01T20:{number % 60:02}:00Z", **event} for number, event in enumerate(events)]
    return "\n".join(report({**STATE, **state}, "running", rows))


def judged(number: int, verdict: str = "no", **more: Any) -> dict[str, Any]:
    return {"kind": "judged", "loop": "polish", "iteration": number, "verdict": verdict, **more}


def test_iterations_that_went_alike_are_one_line() -> None:
    told = page(*(judged(number) for number in range(1, 8)), judged(8, "yes"))
    assert "polish: iterations 1–7: NO" in told
    assert "polish: iteration 8: YES" in told


def test_however_long_a_run_is_the_page_is_one() -> None:
    rounds = [judged(number, "no" if number % 2 else "unclear") for number in range(500)]
    checks = [{"kind": "checked", "check": f"c{number}", "verdict": "fail"} for number in range(50)]
    calls = [{"kind": "call", "provider": "p", "model": f"m{number}", "tokens": {}} for number in range(50)]
    told = page(*rounds, *checks, *calls, lastOutput="line\n" * 500)
    assert len(told.splitlines()) <= MOST_EVENTS + 3 * MOST + 20
    assert "… 42 more" in told


def test_it_says_what_is_open_and_what_was_paid_for_nothing() -> None:
    findings = [
        {"severity": "critical", "summary": "no tests", "location": "a.py:3"},
        {"severity": "minor", "summary": "a name", "settled": True},
    ]
    lost = {"kind": "call", "provider": "p", "model": "m", "tokens": {"input": 3}, "usd": 0.5, "error": {"code": "x"}}
    told = page(judged(1, findings=findings), lost, {**lost, "error": None, "usd": 1.0})
    assert "critical: no tests (a.py:3)" in told
    assert "a name" not in told
    assert "p/m: 2 calls · 1 without an answer · 6 tokens · $1.50" in told


def test_texts_of_a_run_are_shown_and_not_obeyed() -> None:
    told = page({"kind": "note_added", "text": "\x1b[2Jgone"}, goal="\x1b]0;title\x07", lastOutput="a\x1b[2J")
    assert "\x1b" not in told and "\x07" not in told
