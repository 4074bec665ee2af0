"""The states of an enhance loop by the names of its document, as a fold over its facts.

The engine answers with them, and an editor that follows the facts shows them: one table for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_PHASES = {
    "round_started": "running_round",
    "round_finished": "reporting",
    "report_ready": "reporting",
    "planner_started": "planning",
    "ops_proposed": "planning",
    "edit_sent": "awaiting_ack",
    "backing_off": "backing_off",
}


def phase(events: Iterable[Mapping[str, Any]]) -> str:
    """Where a loop is after these facts, in their order. Facts as they travel."""
    found = before = "idle"
    for event in events:
        kind = event.get("kind")
        match kind:
            case "loop_paused":
                before, found = found, "conflict" if event.get("reason") == "conflict" else "awaiting_user"
            case "interrupted":
                before, found = found, "interrupted"
            case "resumed":
                found = before if found == "interrupted" else found
            case "completed":
                found = "converged" if event.get("reason") == "converged" else "gave_up"
            case "cancelled" | "failed":
                found = str(kind)
            case _:
                found = _PHASES.get(str(kind), found)
    return found
