"""What kind of failure an error of a run is, told by its code. Codes that nobody listed are `step_error`."""

from __future__ import annotations

from collections.abc import Mapping

from loop_ls.text.json_value import Json

_KINDS: dict[str, str] = {
    "rate_limited": "rate_limit",
    "server": "network",
    "unreachable": "network",
    "auth": "auth",
    "missing_key": "auth",
    "consent_required": "auth",
    "quota": "quota",
    "timeout": "timeout",
    "agent_timeout": "timeout",
    "empty": "bad_output",
    "bad_answer": "bad_output",
    "truncated": "bad_output",
    "no_result": "bad_output",
    "no_consensus": "verifier_fail",
    "rejected": "user_rejected",
    "success_rate_not_met": "low_success_rate",
    "unknown_variable": "template_error",
    "input_required": "template_error",
    "server_unavailable": "missing_tool",
    "no_tools": "missing_tool",
    "unknown_tool": "missing_tool",
    "agent_missing": "missing_tool",
}

#: What providers say when an account is used up, beside the status that they say it with.
_QUOTA = (
    "insufficient_quota",
    "exceeded your current quota",
    "credit balance",
    "billing hard limit",
    "insufficient balance",
)


def kind_of(error: Mapping[str, Json], reason: str | None = None) -> str:
    """`reason` is how an element ended where that says more than its error (`timeout`)."""
    message = str(error.get("message", "")).lower()
    if any(sign in message for sign in _QUOTA):
        return "quota"
    code = str(error.get("code", ""))
    if code in _KINDS:
        return _KINDS[code]
    if reason in ("timeout", "success_rate_not_met"):
        return _KINDS[reason]
    return "step_error"
