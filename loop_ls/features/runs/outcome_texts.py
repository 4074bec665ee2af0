"""Run outcomes as the editor shows them: endings, verdicts and what was spent, in words.

The words of endings are those of `contract.endings`, as on every other surface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.contract.amounts import clock, count, money
from loop_ls.contract.endings import ENDED, VERDICTS, kind_of, line, sign
from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.text.humanize import excerpt
from loop_ls.rules.engine.finding import Severity

if TYPE_CHECKING:
    from loop_ls.contract.run_view.parts import Verdict

__all__ = ["ENDED", "VERDICTS", "ended_in_words", "run_in_words", "sign", "spent", "verdict_in_words"]


def ended_in_words(loop: LoopView) -> str:
    """`condition met in iteration 3`, `limit reached after 5 iterations, condition not met`."""
    number, failed = loop.iteration, [verdict.verdict == "failed" for verdict in loop.verdicts]
    if loop.reason == "max_iterations" and failed and all(failed):
        return f"limit reached after {count(number, 'iteration')}, all of them failed"
    detail = excerpt(loop.error, 120) if loop.error else ""
    return line(loop.status, loop.reason, number, detail=detail, failed=loop.failed)


def run_in_words(run: ShownRun) -> str:
    """How a whole run ended: of a workflow, whose loops have lines of their own, without a number."""
    return line(run.status, run.reason, detail=excerpt(run.error, 120) if run.error else "")


def spent(run: ShownRun) -> str:
    """`$0.031 · 00:41`; of a run whose answers are made up, `mock · 00:01` or `scripted · 00:01`: its price means
    nothing."""
    made_up = "mock" if run.mock else "scripted" if run.simulated else ""
    parts = [made_up] if made_up else [money(run.cost_usd)] if run.cost_usd is not None else []
    return " · ".join([*parts, clock(run.elapsed_ms)])


def so_far(one: ShownRun | LoopView) -> str:
    """`running: iteration 2 of 5`; of a run that goes on by itself, until when it waits."""
    paused = one.until if isinstance(one, ShownRun) and one.until else "paused"
    said = {"paused": paused, "waiting_approval": "waiting for approval", "stopping": "stopping"}
    of = f" of {one.max_iterations}" if one.max_iterations else ""
    return f"{said.get(one.status, 'running')}: iteration {one.iteration or 1}{of}"


def severity_of(one: ShownRun | LoopView) -> Severity:
    """Of what is shown on the name of a loop. A success draws no squiggle and counts as no problem; only a failure
    asks for something to be fixed."""
    if one.status not in ENDED:
        return Severity.INFORMATION
    match kind_of(one.status, one.reason):
        case "failure" | "blocked":
            return Severity.WARNING
        case "success":
            return Severity.HINT
        case "limit" | "stopped":
            return Severity.INFORMATION


def verdict_in_words(verdict: Verdict) -> str:
    """`iteration 1: NO - "FAIL: missing test"`: what was judged, or why it could not be."""
    said = VERDICTS.get(verdict.verdict, verdict.verdict)
    shown = verdict.output if verdict.verdict in ("yes", "no") else verdict.answer
    local = " (decided locally)" if verdict.local else ""
    quoted = f' - "{excerpt(shown, 80)}"' if shown.strip() else ""
    return f"iteration {verdict.iteration}: {said}{local}{quoted}"
