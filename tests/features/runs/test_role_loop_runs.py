"""Role loops before and while they run: what they may cost, and what a run says on the file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.features.estimate.estimate import estimate
from loop_ls.features.runs.run_findings import run_findings
from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import Severity
from tests.features.viewed import viewed

PAIR: dict[str, Any] = {
    "name": "pair",
    "description": "d",
    "roles": [
        {"role": "coder", "prompt": "Write.", "max_iterations": 7},
        {"role": "reviewer", "prompt": "APPROVED?"},
    ],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "good", "max_review_rounds": 3}},
}


def opened(settings: dict[str, Any] | None = None, **changes: Any) -> tuple[Workspace, Document]:
    text = json.dumps({**PAIR, **changes}, indent=1)
    document = Document.open("file:///w/loops/pair.json", text, path="/w/loops/pair.json")
    return Workspace.of(Roots("/w"), [document], settings_of(settings or {})[0]), document


def test_an_estimate_goes_from_one_call_a_stage_to_all_steps_of_all_rounds() -> None:
    found = estimate(*opened())
    assert found.calls == (2, 3 * (7 + 15))
    assert "coder 7, reviewer 15" in found.why
    assert found.usd is None


def test_prices_of_the_settings_make_it_dollars() -> None:
    price = {"input": 1, "output": 2}
    settings = {"assist": {"provider": "own", "model": "m"}, "providers": {"own": {"kind": "openai", "price": price}}}
    found = estimate(*opened(settings))
    assert found.usd is not None
    assert found.usd.most == pytest.approx(found.usd.least * 33)


def test_a_goal_has_its_judge_and_manual_no_end() -> None:
    goal = {"type": "goal_bound", "value": {"goal_prompt": "g", "max_iterations": 2}}
    assert estimate(*opened(termination_condition=goal)).calls == (3, 2 * (22 + 1))
    assert estimate(*opened(termination_condition={"type": "manual"})).calls == (2, None)


def run(status: str = "completed", reason: str | None = "approved", **more: Any) -> Any:
    state = {
        "runId": "r1",
        "format": "role_loop",
        "name": "pair",
        "uri": "file:///w/loops/pair.json",
        "target": {"kind": "definition", "name": "pair"},
        "status": status,
        "reason": reason,
        "iteration": 2,
        "maxIterations": 3,
        **more,
    }
    verdicts = (("no", "no approval"), ("yes" if reason == "approved" else "no", "`LGTM` approves"))
    events = [
        event
        for number, (verdict, answer) in enumerate(verdicts, 1)
        for event in (
            {"kind": "iteration_started", "loop": "pair", "iteration": number, "maxIterations": 3},
            {"kind": "judged", "loop": "pair", "iteration": number, "verdict": verdict, "answer": answer},
        )
    ]
    return viewed(state, events)


@pytest.mark.parametrize(
    ("view", "message", "severity"),
    [
        (run(), "approved in iteration 2", Severity.HINT),
        (run("running", None), "running: iteration 2 of 3", Severity.INFORMATION),
        (run("paused", "user"), "paused: iteration 2 of 3", Severity.INFORMATION),
        (run("completed", "max_iterations"), "limit reached after 2 iterations", Severity.INFORMATION),
        (run("completed", "goal_met"), "goal met in iteration 2", Severity.HINT),
        (run("failed", "error", error={"message": "no key"}), "failed: no key", Severity.WARNING),
        (run("blocked", "question", error={"message": "which one?"}), "blocked: which one?", Severity.WARNING),
    ],
)
def test_UP_69_a_run_says_how_it_ended_on_the_name_with_the_words_that_decided(
    view: Any, message: str, severity: Severity
) -> None:
    _, document = opened()
    [finding] = run_findings(document, view)
    assert finding.message.startswith(message)
    assert finding.severity is severity
    assert document.text.slice(finding.span) == '"pair"'
    assert any("no approval" in related.message for related in finding.related)
    assert {document.text.slice(related.span) for related in finding.related} == {'"termination_condition"'}


def test_after_a_limit_the_finding_advises() -> None:
    _, document = opened()
    [finding] = run_findings(document, run("completed", "max_iterations"))
    assert "ask for approval" in finding.message


def test_another_loop_is_not_ours() -> None:
    _, document = opened(name="other")
    assert run_findings(document, run()) == ()
