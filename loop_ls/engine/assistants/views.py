"""A run of an assistant in the words of its document: LoopState, outcome, status.

Views of `RunState` as it travels, and nothing of their own.
"""

from __future__ import annotations

from loop_ls.contract.run_state import RunStateView
from loop_ls.text.json_value import JsonObject

#: The session of each iteration is nobody's business.
NO_SESSION = ""
#: The error of a run whose result a person has rejected.
REJECTED = "Manual approval was rejected by user"
_ENDED = {"completed": "completed", "failed": "failed", "blocked": "failed", "cancelled": "failed"}
_MET = frozenset({"condition_met", "approved"})
_CAUSES = {"teardown": "disconnect", "shutdown": "shutdown"}


def agent_id(state: RunStateView) -> str:
    return str(state["target"].get("name") or "") if "target" in state else ""


def loop_state(state: RunStateView) -> JsonObject:
    """All seven keys, whatever the run has come to. There is no status for waiting."""
    criterion = state.get("criterion") or {}
    status = state["status"]
    return {
        "agentId": agent_id(state),
        "sessionId": NO_SESSION,
        "iteration": state.get("iteration", 0),
        "maxIterations": state.get("maxIterations", 0),
        "criteria": {"type": criterion.get("type", "max_iterations"), "value": criterion.get("value", "")},
        "status": _ENDED.get(status, "paused" if status == "paused" else "running"),
        "progressLog": list(state.get("progressLog") or ()),
    }


def pending(state: RunStateView) -> JsonObject | None:
    """What a person is asked right now."""
    asked = state.get("pendingApproval")
    if not asked:
        return None
    return {"loopId": asked.get("loopId"), "iteration": asked.get("iteration"), "output": asked.get("output")}


def last_state(state: RunStateView) -> JsonObject:
    """The state of a run that has ended, with its outcome."""
    return {**loop_state(state), "runId": state["runId"], "outcome": outcome(state)}


def outcome(state: RunStateView) -> JsonObject:
    found: JsonObject = {"lastOutput": state.get("lastOutput", ""), "endedAt": state.get("endedAt")}
    if state["status"] == "completed":
        reason = reason_of(state.get("reason"))
        return {"reason": reason, "finalOutput": final_output(state), **found}
    if state["status"] == "cancelled":
        cause = _CAUSES.get(str(state.get("reason")), "stopped")
        return {"cause": cause, "error": "The loop was stopped.", **found}
    return {
        "cause": cause_of(state.get("reason")),
        "error": state["error"]["message"] if "error" in state else "",
        **found,
    }


def reason_of(reason: object) -> str:
    """Of the four ways to be done, the document knows two; limits of ours keep their names."""
    return "criterion_met" if reason in _MET else str(reason)


def cause_of(reason: object) -> str:
    return "rejected" if reason == "rejected" else "iteration_error"


def final_output(state: RunStateView) -> str:
    """At a limit the last learning, else the whole output."""
    if state.get("reason") in _MET:
        return str(state.get("lastOutput", ""))
    learnings = state.get("progressLog") or [""]
    return str(learnings[-1])
