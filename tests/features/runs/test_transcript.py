"""A run as a document: every iteration with verdict, question, answer and cost; hostile outputs stay outputs."""

from __future__ import annotations

from typing import Any

from loop_ls.features.runs.transcript import transcript


def row(number: int, **more: Any) -> dict[str, Any]:
    return {"loop": "develop", "iteration_number": number, "max_iterations": 5, "status": "completed", **more}


def told(*rows: dict[str, Any], **state: Any) -> str:
    known = {"runId": "r1", "name": "flow", "status": "completed", "reason": "condition_met", "elapsedMs": 72000}
    return transcript({"state": {**known, **state}, "history": list(rows), "stages": []})


def test_it_says_how_it_ended_and_what_it_cost() -> None:
    head = told(costUsd=0.047, tokens={"input": 5000, "output": 210}).splitlines()
    assert head[0] == "# Run of `flow`"
    limit = told(reason="max_iterations", iteration=5, costUsd=0.009, simulated=True)
    assert "**limit reached, condition not met** · $0.009 (simulated) · " in limit
    assert head[2] == "**condition met** · $0.047 · 5,210 tokens · 01:12 · run `r1`"


def test_an_iteration_shows_output_question_and_answer() -> None:
    text = told(row(1, output="FAIL: empty", verdict="no", usd=0.01, question="Is it good?", answer="NO, not yet"))
    assert "## `develop` iteration 1 of 5: NO · $0.01" in text
    assert "**Output**\n\n```text\nFAIL: empty\n```" in text
    assert "**Question to the judge**\n\n```text\nIs it good?\n```" in text
    assert "**Answer of the judge**\n\n```text\nNO, not yet\n```" in text


def test_a_condition_that_was_decided_locally_has_no_question() -> None:
    text = told(row(1, output="DONE", verdict="yes", condition="DONE", local=True))
    assert "**Condition, decided locally**\n\n```text\nDONE\n```" in text


def test_an_output_cannot_close_its_fence() -> None:
    text = told(row(1, output="a\n````\n# not a heading\n````"))
    assert "`````text\na\n````\n# not a heading\n````\n`````" in text


def test_failures_say_why() -> None:
    failed = row(2, status="failed", attempt=2, error={"code": "timeout", "message": "it took too long"})
    text = told(failed, status="failed", reason="error", error={"message": "it took too long"})
    assert "## `develop` iteration 2 of 5, attempt 2: failed" in text
    assert text.count("it took too long") == 2


def test_a_stage_that_judges_says_its_verdict() -> None:
    stages = [
        {"name": "write", "status": "completed", "output": "text"},
        {"name": "review", "status": "completed", "output": "Tests fail.", "verdict": "no"},
    ]
    text = told(row(1, verdict="no", stages=stages))
    assert "### `write`\n" in text
    assert "### `review`: NO\n" in text
