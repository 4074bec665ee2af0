"""Why runs end, kept apart for good: every reason has one status and one exit code.

A limit that was reached is not a success and not a failure; nothing here may blur them.
"""

from __future__ import annotations

from typing import Literal, get_args

Status = Literal[
    "queued",
    "running",
    "stopping",
    "paused",
    "waiting_approval",
    "interrupted",
    "completed",
    "failed",
    "blocked",
    "cancelled",
]
Success = Literal["condition_met", "approved", "goal_met", "converged", "completed"]
Limit = Literal[
    "max_iterations",
    "time_limit",
    "max_rounds",
    "budget",
    "fixation",
    "unchanged",
    "no_ops",
    "unfixable",
    "planner_error",
    "apply_rejected",
    "no_items",
]
Failing = Literal["error", "rejected", "timeout", "success_rate_not_met", "verification", "exhausted"]
Blocking = Literal["missing_artifact", "question"]
Cause = Literal["user", "teardown", "shutdown"]
Reason = Success | Limit | Failing | Blocking | Cause

SUCCESSES: frozenset[str] = frozenset(get_args(Success))
LIMITS: frozenset[str] = frozenset(get_args(Limit))
FAILINGS: frozenset[str] = frozenset(get_args(Failing))
BLOCKINGS: frozenset[str] = frozenset(get_args(Blocking))
CAUSES: frozenset[str] = frozenset(get_args(Cause))

#: A run with one of these has ended.
ENDED: frozenset[str] = frozenset({"completed", "failed", "blocked", "cancelled"})


def status_of(reason: str) -> Status:
    """The status of a run that ended for `reason`. An unknown one (a newer engine's) is a failure."""
    if reason in SUCCESSES or reason in LIMITS:
        return "completed"
    if reason in CAUSES or reason == "cancelled":
        return "cancelled"
    return "blocked" if reason in BLOCKINGS else "failed"


def exit_code(status: str, reason: str | None) -> int | None:
    """What `loop-ls run` ends with; None while the run goes on."""
    if status not in ENDED:
        return None
    if status == "completed":
        return 3 if reason in LIMITS else 0
    return 5 if status == "cancelled" else 4
