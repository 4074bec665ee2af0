"""Runs as the rows of the documented loop API: views of `RunState`, nothing of their own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypedDict

from loop_ls.contract.answers import Loop
from loop_ls.contract.endings import loop_status
from loop_ls.contract.run_state import RunStateView
from loop_ls.engine.core.users import OWNER
from loop_ls.engine.projections.run_metrics import age
from loop_ls.formats.registry import ROLE_LOOP
from loop_ls.text.json_value import Json, JsonObject


class OfRoleLoop(TypedDict):
    """What the row of a role loop says besides, or in other words."""

    project_id: str | None
    completion_reason: str | None
    current_stage: int | None
    termination_criteria: Json
    metadata: JsonObject


#: Why a role loop ended, in the words of its document.
_REASON = {"goal_met": "goal_achieved", "max_iterations": "iteration_limit", "time_limit": "deadline"}


def loop_row(state: RunStateView) -> Loop:
    """The loop of one run. `state` keeps everything that the row has no name for."""
    row = _generic(state)
    return {**row, **_role_loop(state)} if state["format"] == ROLE_LOOP else row


def _role_loop(state: RunStateView) -> OfRoleLoop:
    """What a role loop has besides, or tells in other words."""
    reason, criterion = state.get("reason"), state.get("criterion") or {}
    turn = state.get("turn")
    why = _REASON.get(str(reason), reason) if state["status"] == "completed" else None
    more = {"dispatch": state.get("dispatch"), "completion_reason": why}
    return {
        "project_id": state.get("projectId"),
        "completion_reason": why,
        "current_stage": 0 if turn is None else turn.get("index"),
        "termination_criteria": criterion.get("value") or None,
        "metadata": {**(state.get("metadata") or {}), **{key: value for key, value in more.items() if value}},
    }


def _generic(state: RunStateView) -> Loop:
    return {
        "id": state["runId"],
        "definition_name": state["name"],
        "session_id": state.get("sessionId"),
        "goal": state.get("goal"),
        "status": loop_status(state["status"], bool((state.get("pendingApproval") or {}).get("blocked"))),
        "completion_reason": state.get("reason"),
        "current_iteration": state["iteration"],
        "current_stage": state.get("stage"),
        "max_iterations": state.get("maxIterations"),
        "termination_criteria": state.get("criterion"),
        "metadata": state.get("metadata") or {},
        "user": state.get("user") or OWNER,
        "started_at": state.get("startedAt"),
        "completed_at": state.get("endedAt"),
        "last_activity_at": state.get("lastActivityAt"),
        "deadline": state.get("deadline"),
        "elapsed_seconds": age(state, datetime.now(UTC)),
        "active_seconds": state["elapsedMs"] / 1000,
        "state": state,
    }
