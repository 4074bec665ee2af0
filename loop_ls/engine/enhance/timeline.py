"""An enhance loop as people read it: its state by the names of its document, and the timeline of its rounds.

A fold over facts, nothing else.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from loop_ls.formats.settings.enhance_states import phase
from loop_ls.text.markdown import code, escaped, fenced

Json = Any
Event = Mapping[str, Json]


def status(events: Iterable[Event]) -> dict[str, Json]:
    """`{state, round, maxRounds, spentUsd, capUsd, shown, label?, reason?, question?}`; `shown` is for people."""
    listed = list(events)
    found: dict[str, Json] = {"state": phase(listed), "round": 0, "maxRounds": None, "spentUsd": 0.0, "capUsd": None}
    for event in listed:
        found |= {name: event[name] for name in ("round", "maxRounds", "spentUsd", "capUsd") if name in event}
        match event.get("kind"):
            case "loop_fixation_warning":
                found["label"] = "fixation-risk"
            case "report_ready":
                found.pop("label", None)
            case "completed":
                found["reason"] = event.get("reason")
                found["because"] = event.get("because")
    if found["maxRounds"]:
        found["shown"] = (
            f"Round {found['round']} of {found['maxRounds']} · ${found['spentUsd']:.2f} of ${found['capUsd']:.2f}"
        )
    return found


def timeline(events: Iterable[Event]) -> dict[str, Json]:
    """`{status, rounds}`: of each round what failed, what was proposed, applied and refused, and why."""
    listed = list(events)
    rounds: dict[int, dict[str, Json]] = {}
    for event in listed:
        number = event.get("round")
        if not isinstance(number, int):
            continue
        entry = rounds.setdefault(number, _empty(number))
        _take(entry, event)
    ordered = [rounds[number] for number in sorted(rounds)]
    if ordered and not ordered[-1]["proposed"] and phase(listed) in ("gave_up", "converged"):
        last = ordered[-1]
        asked = [event for event in listed if event.get("round") == last["round"]]
        last["planned"] = _without_plan(last, asked)
    return {"status": status(listed), "rounds": ordered}


def _without_plan(entry: Mapping[str, Json], events: Iterable[Event]) -> str:
    """Why a last round has no changes; empty: those that were refused say it."""
    told = [event for event in events if str(event.get("kind")).startswith("planner_")]
    if not told:
        return "not planned (last round)"
    if entry["rejected"]:
        return ""
    failed = [event.get("message") for event in told if event.get("kind") == "planner_failed"]
    return f"planned, without a plan that can be used: {failed[-1]}" if failed else "planned, without a change"


def answer(verb: str, run_id: str, name: str, events: Iterable[Event]) -> dict[str, Json]:
    """What `status` and `timeline` answer."""
    listed = list(events)
    if verb == "status":
        return {"ok": True, "state": {"runId": run_id, **status(listed)}}
    told = timeline(listed)
    return {"ok": True, **told, "markdown": markdown(told, name)}


def _empty(number: int) -> dict[str, Json]:
    return {
        "round": number,
        "status": "running",
        "failed": [],
        "proposed": [],
        "rejected": [],
        "applied": [],
        "rationale": "",
        "diff": "",
        "label": "ok",
    }


def _take(entry: dict[str, Json], event: Event) -> None:
    match event.get("kind"):
        case "round_started":
            entry["startedAt"] = event.get("at")
        case "report_ready":
            report = event.get("report") or {}
            entry["endedAt"] = event.get("at")
            entry["status"] = "converged" if event.get("converged") else "failed"
            entry["failed"] = list(event.get("failures") or ())
            entry["fingerprint"] = event.get("fingerprint")
            entry["totals"] = report.get("totals")
            cost = report.get("cost") or {}
            entry["roundUsd"], entry["cumulativeUsd"] = cost.get("round_usd"), cost.get("cumulative_usd")
            entry["successful"] = event.get("successful")
            entry["unfixable"] = list(report.get("unfixable") or ())
        case "planner_finished" | "planner_failed":
            entry["plannerUsd"] = entry.get("plannerUsd", 0.0) + (event.get("plannerUsd") or 0.0)
        case "loop_fixation_warning":
            entry["label"] = "fixation-risk"
        case "op_rejected":
            refused = {name: event.get(name) for name in ("op", "target", "reasonCode", "message")}
            if refused not in entry["rejected"]:  # a planner that was asked again proposed it again
                entry["rejected"].append(refused)
        case "ops_proposed":
            entry["proposed"] = list(event.get("ops") or ())
            entry["rationale"] = event.get("rationale", "")
            entry["planId"] = event.get("planId")
            entry["diff"] = event.get("diff", "")
        case "edit_sent":
            entry["sent"] = {name: event.get(name) for name in ("planId", "label", "edits", "changes", "at")}
            entry["diff"] = event.get("diff", entry["diff"])
        case "edit_acknowledged":
            entry["applied"] = list((entry.get("sent") or {}).get("changes") or ())
            entry["ack"] = {"outcome": "applied", "milliseconds": _between(entry.get("sent"), event)}
        case "edit_refused":
            entry["ack"] = {"outcome": event.get("outcome", "refused"), "reason": event.get("failureReason", "")}


def _between(sent: Mapping[str, Json] | None, event: Event) -> int | None:
    """How long an editor took for an edit."""
    began, ended = (sent or {}).get("at"), event.get("at")
    if not isinstance(began, str) or not isinstance(ended, str):
        return None
    return round((datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds() * 1000)


def unified(before: str, after: str, name: str) -> str:
    """A change as people read one."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"{name} (before)", f"{name} (after)"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def markdown(found: Mapping[str, Json], name: str) -> str:
    """The timeline as a document to read."""
    state = found["status"]
    head = [
        f"# Enhance loop of {code(name)}",
        "",
        f"**{state['state'].replace('_', ' ')}** · {state.get('shown', '')}",
        "",
    ]
    if state.get("because"):
        head += [escaped(str(state["because"])), ""]
    parts = [_round(entry) for entry in found["rounds"]]
    return "\n".join([*head, *parts])


def _round(entry: Mapping[str, Json]) -> str:
    usd = entry.get("roundUsd")
    cost = f" · ${usd:.2f}" if isinstance(usd, int | float) else ""
    risk = " · the same failure as before" if entry["label"] == "fixation-risk" else ""
    lines = [f"## Round {entry['round']}: {entry['status']}{cost}{risk}", ""]
    lines += ["### What failed", *(_bullets(entry["failed"], _failure) or ["nothing"]), ""]
    if entry.get("planned"):
        return "\n".join([*lines, escaped(str(entry["planned"])), ""])
    lines += ["### Proposed", *(_bullets(entry["proposed"], _operation) or ["nothing"]), ""]
    if entry["rejected"]:
        lines += ["### Not taken", *_bullets(entry["rejected"], _rejection), ""]
    lines += ["### Applied", *(_bullets(entry["applied"], _operation) or [_not_applied(entry)]), ""]
    if entry["rationale"]:
        lines += ["### Why", "", escaped(str(entry["rationale"])), ""]
    if entry["diff"]:
        lines += [fenced(str(entry["diff"]).rstrip("\n"), "diff"), ""]
    return "\n".join(lines)


def _bullets(entries: Iterable[Mapping[str, Json]], told: Any) -> list[str]:
    return [f"* {told(entry)}" for entry in entries]


def _failure(one: Mapping[str, Json]) -> str:
    return f"{code(str(one.get('step')))}: {escaped(_kind(one))}: {_line(one.get('message'))}"


def _kind(one: Mapping[str, Json]) -> str:
    return str(one.get("kind")).replace("_", " ")


def _line(text: Json) -> str:
    """A text of others as part of an entry of a list."""
    return escaped(" ".join(str(text or "").split()))


def _operation(one: Mapping[str, Json]) -> str:
    target = one.get("target") or one.get("name") or ""
    reason = f": {_line(one['reason'])}" if one.get("reason") else ""
    return f"{code(str(one.get('op')))} {code(str(target))}{reason}"


def _rejection(one: Mapping[str, Json]) -> str:
    return f"{_operation({**one, 'reason': one.get('message')})} ({escaped(str(one.get('reasonCode')))})"


def _not_applied(entry: Mapping[str, Json]) -> str:
    ack = entry.get("ack")
    if isinstance(ack, Mapping) and ack.get("outcome") != "applied":
        return f"nothing: {_line(ack.get('reason') or ack.get('outcome'))}"
    return "nothing"
