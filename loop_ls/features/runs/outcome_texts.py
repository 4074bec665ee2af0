"""How a loop or run ended, in words: every reason has its own, and a limit never reads like a success."""

from __future__ import annotations

from loop_ls.features.answers import LoopView, RunView, Verdict
from loop_ls.features.text.humanize import clock, count, excerpt, money

ENDED = frozenset(("completed", "failed", "blocked", "cancelled"))

#: Reasons of limits, without the number of iterations.
_LIMITS = {
    "time_limit": "time limit reached",
    "budget": "budget used up",
    "fixation": "stopped: the same thing failed again",
    "unchanged": "stopped: the output did not change any more",
    "no_items": "no items to go through",
}
_FAILURES = {
    "timeout": "time limit reached, failed",
    "success_rate_not_met": "too few items succeeded",
    "rejected": "rejected",
    "verification": "verification failed",
    "exhausted": "quota, credit or usage limit used up",
}
_CAUSES = {
    "user": "stopped",
    "teardown": "stopped: the editor went away",
    "shutdown": "stopped: the engine was shut down",
}
VERDICTS = {"yes": "YES", "no": "NO", "unclear": "unclear", "error": "judge failed", "failed": "failed"}


def ended_in_words(loop: LoopView) -> str:
    """`condition met in iteration 3`, `limit reached after 5 iterations, condition not met`."""
    number, reason = loop.iteration, loop.reason
    match reason:
        case "condition_met":
            return f"condition met in iteration {number}"
        case "approved" | "goal_met":
            return f"{'approved' if reason == 'approved' else 'goal reached'} in iteration {number}"
        case "max_iterations":
            if loop.verdicts and all(verdict.verdict == "failed" for verdict in loop.verdicts):
                return f"limit reached after {count(number, 'iteration')}, all of them failed"
            return f"limit reached after {count(number, 'iteration')}, condition not met"
        case "completed":
            return f"completed after {count(number, 'iteration')}"
        case _ if reason in _LIMITS:
            return _LIMITS[reason]
        case _ if loop.status == "cancelled" or reason in _CAUSES:
            where = f" in iteration {number}" if number else ""
            return f"{_CAUSES.get(reason or '', 'stopped')}{where}"
        case _ if loop.status == "failed":
            said = _FAILURES.get(reason or "", "failed")
            where = f" in iteration {number}" if number else ""
            return f"{said}{where}" + (f": {excerpt(loop.error, 120)}" if loop.error else "")
        case _:
            return reason.replace("_", " ") if reason else loop.status


def run_in_words(run: RunView) -> str:
    """How a whole run ended."""
    if run.status == "failed":
        said = _FAILURES.get(run.reason or "", "failed")
        return said + (f": {excerpt(run.error, 120)}" if run.error else "")
    if run.status == "cancelled":
        return _CAUSES.get(run.reason or "", "stopped")
    if run.status == "blocked":
        return "blocked" + (f": {excerpt(run.error, 120)}" if run.error else "")
    if run.reason == "max_iterations":
        return "limit reached, condition not met"
    if run.reason in _LIMITS:
        return _LIMITS[run.reason or ""]
    return (run.reason or "completed").replace("_", " ")


def sign(status: str, reason: str | None) -> str:
    """One character for a result: success, limit, failure, stop."""
    if status in ("failed", "blocked"):
        return "✗"
    if status == "cancelled":
        return "⏹"
    succeeded = reason in (None, "condition_met", "approved", "goal_met", "converged", "completed")
    return "✓" if succeeded else "◼"


def spent(run: RunView) -> str:
    """`$0.031 · 00:41`; of a run whose answers are made up, `mock · 00:01`: its price means nothing."""
    parts = ["mock"] if run.mock else [money(run.cost_usd)] if run.cost_usd is not None else []
    return " · ".join([*parts, clock(run.elapsed_ms)])


def verdict_in_words(verdict: Verdict) -> str:
    """`iteration 1: NO - "FAIL: missing test"`: what was judged, or why it could not be."""
    said = VERDICTS.get(verdict.verdict, verdict.verdict)
    shown = verdict.answer if verdict.verdict in ("failed", "error", "unclear") else verdict.output
    local = " (decided locally)" if verdict.local else ""
    quoted = f' - "{excerpt(shown, 80)}"' if shown.strip() else ""
    return f"iteration {verdict.iteration}: {said}{local}{quoted}"
