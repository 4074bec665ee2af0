"""Rounds of an enhance loop on the workflow's text: the first line, the steps that failed, the steps that changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loop_ls.contract.run_view import rounds
from loop_ls.features.answers import ShownRun
from loop_ls.features.inlay_hints.inlay_hints import inlays
from loop_ls.features.lenses.enhance import preview
from loop_ls.features.lenses.lenses import lenses
from loop_ls.features.runs.enhance_rounds import Rounds, burn, ended_in_rounds, progress_in_words, rounds_of
from loop_ls.features.runs.run_findings import run_findings
from loop_ls.formats.settings.model import Settings
from loop_ls.rules.engine.finding import Severity
from loop_ls.text.position import Position, Span
from tests.features.viewed import viewed

FLOW = """
    # about reports
    $schema: workflow/v2.0
    name: report
    version: 1.0.0
    steps:
      - {name: draft, run: "Write {{input}}"}
      - {name: review, needs: [draft], run: "Review {{draft}}"}
    loops:
      - {name: polish, workflow: one, max_iterations: 3, until: "The text says PASS"}
"""
URI = "file:///w/flow.yaml"
ALL = Span(Position(0, 0), Position(99, 0))


def facts(*named: dict[str, Any], spent: float = 1.09, number: int = 2) -> list[dict[str, Any]]:
    common = {"round": number, "maxRounds": 3, "spentUsd": spent, "capUsd": 5.0}
    return [{**common, **one} for one in named]


BEGUN = {"kind": "round_started"}
FAILED = {
    "kind": "report_ready",
    "failures": [
        {"id": "2:review:bad_output", "step": "review", "kind": "bad_output", "class": "hard", "message": "no JSON"},
        {"id": "2:polish/write:timeout", "step": "polish/write", "kind": "timeout", "class": "hard", "message": ""},
        {"id": "2:gone:rate_limit", "step": "gone", "kind": "rate_limit", "class": "transient", "message": "429"},
        {"id": "2:draft:upstream_failed", "step": "draft", "kind": "upstream_failed", "class": "soft", "message": "x"},
    ],
}
PLANNED = {"kind": "planner_started"}
SENT = {"kind": "edit_sent", "changes": [{"op": "set_instructions", "target": "review", "reason": "a tone"}]}
TAKEN = {"kind": "edit_acknowledged"}
PAUSED = {"kind": "loop_paused", "reason": "between_rounds"}
CONFLICT = {"kind": "loop_paused", "reason": "conflict"}
OPEN = "Open run [loopLs.history]"


def run(*named: dict[str, Any], status: str = "running", **more: Any) -> ShownRun:
    state = {"runId": "r1", "uri": URI, "format": "enhance", "status": status, "name": "report", **more}
    return viewed(state, facts(*named))


def shown(facts: list[dict[str, Any]]) -> Rounds:
    return rounds_of(rounds.rounds_of(facts))


def titles(ask: Any, *runs: ShownRun, settings: Settings | None = None) -> list[str]:
    asked = ask(FLOW, head=False)
    workspace = asked.workspace.with_settings(settings) if settings else asked.workspace
    found = [one for one in lenses(workspace, asked.document, runs) if one.span.start.line == 0]
    return [f"{one.title} [{one.command.name}]" if one.command else one.title for one in found]


def test_the_first_line_has_the_switch(ask: Any) -> None:
    assert titles(ask) == ["Enhance: off [loopLs.enhance.enable]"]
    on = Settings(enhanced=frozenset({"report"}))
    assert titles(ask, settings=on) == ["Enhance: on [loopLs.enhance.enable]"]
    asked = ask(FLOW, head=False)
    first = next(iter(lenses(asked.workspace, asked.document)))
    assert first.command is not None
    assert first.command.argument == {"uri": URI, "enabled": True}


def test_EB_088_while_it_runs_the_counter_and_the_money_are_shown(ask: Any) -> None:
    assert titles(ask, run(BEGUN)) == ["⏹ Stop [loopLs.enhance.stop]", OPEN, "Round 2 of 3 · $1.09 of $5.00"]
    assert titles(ask, run(BEGUN, FAILED, PLANNED))[-1] == "Round 2 of 3 · $1.09 of $5.00 · planning changes"
    asked = ask(FLOW, head=False)
    assert not [one for one in lenses(asked.workspace, asked.document, [run(BEGUN)]) if "Run workflow" in one.title]


def test_what_may_be_chosen_while_it_waits(ask: Any) -> None:
    assert titles(ask, run(BEGUN, FAILED, PAUSED, status="paused")) == [
        "▶ Continue to next round [loopLs.enhance.continue]",
        OPEN,
        "Show changes [loopLs.enhance.timeline]",
        "Run without changes [loopLs.enhance.skipEdits]",
        "⏹ Stop [loopLs.enhance.stop]",
        "Round 2 of 3 · $1.09 of $5.00 · waiting for you",
    ]
    assert titles(ask, run(BEGUN, FAILED, SENT, CONFLICT, status="paused"))[:4] == [
        "▶ Try again [loopLs.enhance.continue]",
        OPEN,
        "Run without changes [loopLs.enhance.skipEdits]",
        "⏹ Stop [loopLs.enhance.stop]",
    ]


def test_an_interrupted_loop_can_be_taken_up_again(ask: Any) -> None:
    found = titles(ask, run(BEGUN, {"kind": "interrupted"}, status="interrupted"))
    assert found[0] == "▶ Resume [loopLs.resume]"
    assert found[-1].endswith("interrupted")


def test_how_it_ended_stands_beside_the_switch(ask: Any) -> None:
    ended = run(BEGUN, {"kind": "completed", "reason": "converged"}, status="completed", reason="converged")
    assert titles(ask, ended) == [
        "Enhance: off [loopLs.enhance.enable]",
        OPEN,
        "✓ converged in round 2 of 3 · $1.09",
        "Timeline [loopLs.enhance.timeline]",
    ]
    plain = viewed({"runId": "r2", "uri": URI, "status": "running"})
    assert titles(ask, ended, plain) == ["Enhance: off [loopLs.enhance.enable]"]


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ({"kind": "completed", "reason": "max_rounds"}, "◼ gave up after 2 rounds: no rounds left · $1.09"),
        ({"kind": "completed", "reason": "budget"}, "◼ gave up after 2 rounds: budget used up · $1.09"),
        ({"kind": "completed", "reason": "new_reason"}, "◼ gave up after 2 rounds: new reason · $1.09"),
        ({"kind": "cancelled"}, "■ stopped in round 2 of 3 · $1.09"),
        ({"kind": "failed"}, "✗ failed in round 2 of 3 · $1.09"),
    ],
)
def test_giving_up_never_reads_like_a_success(last: dict[str, Any], said: str) -> None:
    assert ended_in_rounds(shown(facts(BEGUN, last))) == said


def test_the_same_failure_again_is_said() -> None:
    warned = facts(BEGUN, FAILED, {"kind": "loop_fixation_warning"}, PLANNED)
    assert "the same failure again" in progress_in_words(shown(warned))
    other = shown([*warned, *facts(BEGUN, FAILED, number=3)])
    assert "again" not in progress_in_words(other)
    assert burn(shown([])) == "Enhance: starting"


def test_what_failed_stands_on_its_step_with_its_kind_as_code(ask: Any) -> None:
    asked = ask(FLOW, head=False)
    found = run_findings(asked.document, run(BEGUN, FAILED))
    shown = [(asked.document.text.slice(one.span), one.rule, one.severity, one.data["failure"]) for one in found]
    assert shown == [
        ("report", "rate_limit", Severity.WARNING, "2:gone:rate_limit"),
        ("draft", "upstream_failed", Severity.INFORMATION, "2:draft:upstream_failed"),
        ("review", "bad_output", Severity.ERROR, "2:review:bad_output"),
        ("polish", "timeout", Severity.ERROR, "2:polish/write:timeout"),
    ]
    assert [one.message for one in found][2:] == ["Round 2: bad output: no JSON", "Round 2: timeout"]


def test_the_next_round_begins_without_them(ask: Any) -> None:
    document = ask(FLOW, head=False).document
    assert run_findings(document, run(BEGUN, FAILED, SENT, TAKEN))
    assert run_findings(document, run(BEGUN, FAILED, SENT, TAKEN, BEGUN)) == ()


def test_loops_inside_of_a_round_are_shown_as_in_a_plain_run(ask: Any) -> None:
    started = {"kind": "step_started", "step": "polish", "mode": "loop", "maxIterations": 3, "depth": 1}
    judged = {"kind": "judged", "loop": "polish", "iteration": 1, "verdict": "no", "depth": 1}
    own = {"kind": "judged", "loop": "report", "iteration": 2, "verdict": "no"}
    inner = {"kind": "judged", "loop": "other", "iteration": 2, "verdict": "no", "depth": 2}
    view = run(BEGUN, started, judged, own, inner)
    assert list(view.loops) == ["polish"]
    assert [one.verdict for one in view.loops["polish"].verdicts] == ["no"]
    assert dict(run(BEGUN, started, judged, BEGUN).loops) == {}


def test_steps_that_the_last_round_changed_are_marked(ask: Any) -> None:
    asked = ask(FLOW, head=False)

    def marks(view: ShownRun) -> list[tuple[int, str, str]]:
        found = inlays(asked.workspace, asked.document, ALL, [replace(view, uri=URI)])
        return [(one.at.line, one.text, one.tooltip) for one in found if "changed" in one.text]

    assert marks(run(BEGUN, FAILED, SENT)) == []
    assert marks(run(BEGUN, FAILED, SENT, TAKEN, BEGUN)) == [(6, "changed after round 2", "a tone")]


def test_what_waits_to_be_looked_at_is_an_action_too(ask: Any) -> None:
    document = ask(FLOW, head=False).document
    [action] = preview(document, [run(BEGUN, FAILED, PAUSED, status="paused")])
    assert action.command is not None
    assert (action.kind.value, action.command.name) == ("source.enhance.preview", "loopLs.enhance.timeline")
    assert preview(document, [run(BEGUN, FAILED, PAUSED, SENT)]) == ()
    assert preview(document, [viewed({"runId": "r2", "status": "running"})]) == ()
