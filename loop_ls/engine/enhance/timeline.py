"""Timeline of an enhance loop: its state by the names of its document, and its rounds as rows and as Markdown."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypedDict, cast

from loop_ls.contract.amounts import money, rounds_spent
from loop_ls.contract.answers import EnhanceState, EnhanceStatus, EnhanceTimeline, TimelineRound
from loop_ls.contract.endings import ENDINGS, failure_words
from loop_ls.contract.run_view.rounds import Round, Rounds, listed
from loop_ls.contract.run_view.wire import RoundFeedback
from loop_ls.text.json_value import Json
from loop_ls.text.markdown import code, escaped, fenced

Event = Mapping[str, Json]


class Timeline(TypedDict):
    status: EnhanceState
    rounds: list[TimelineRound]


def status(rounds: Rounds) -> EnhanceState:
    found: EnhanceState = {
        "state": rounds.phase,
        "round": rounds.number,
        "maxRounds": rounds.most,
        "spentUsd": rounds.spent,
        "capUsd": rounds.cap,
    }
    if rounds.fixation:
        found["label"] = "fixation-risk"
    if rounds.reason:
        found["reason"], found["because"] = rounds.reason, rounds.because
    elif rounds.waiting:
        found["because"] = rounds.waiting
    if rounds.most:
        found["shown"] = rounds_spent(rounds.number, rounds.most, rounds.spent, rounds.cap)
    return found


def timeline(rounds: Rounds) -> Timeline:
    """`{status, rounds}`: of each round what failed, what was proposed, applied and refused, and why."""
    every = rounds.all()
    entries = [_entry(one) for one in every]
    if every and not every[-1].proposed and rounds.phase in ("gave_up", "converged"):
        entries[-1]["planned"] = _without_plan(every[-1], rounds.reason)
    return {"status": status(rounds), "rounds": entries}


#: Why a loop that ended so asked nobody for a plan; every other one was at its last round.
_NOT_PLANNED = {
    "converged": "not planned: nothing failed",
    "unfixable": "not planned: editing the workflow does not fix what failed",
    "budget": "not planned: the budget is used up",
    "fixation": "not planned: it failed in the same way as the previous round",
}


def _without_plan(one: Round, reason: str) -> str:
    """Why a last round has no changes; empty: those that were refused say it."""
    if not one.planned:
        return _NOT_PLANNED.get(reason, "not planned (last round)")
    if one.said is None and one.problem is None:
        return _NOT_PLANNED["budget"] if reason == "budget" else "not planned: the planner was not asked"
    if one.gave_up:
        return f"the planner gave up: {one.gave_up}"
    if one.rejected:
        return ""
    return f"planned, without a usable plan: {one.problem}" if one.problem else "planned, without a change"


def answer(verb: str, run_id: str, name: str, rounds: Rounds) -> EnhanceStatus | EnhanceTimeline:
    """What `status` and `timeline` answer."""
    if verb == "status":
        return {"ok": True, "state": {"runId": run_id, **status(rounds)}}
    told = timeline(rounds)
    return {"ok": True, "status": told["status"], "rounds": told["rounds"], "markdown": markdown(told, name)}


def _entry(one: Round) -> TimelineRound:
    sent, proposal, said = one.sent, one.proposal or {}, one.answer
    entry: dict[str, Json] = {
        **one.outcome,
        "round": one.number,
        "unfinished": True if one.unfinished else None,
        "startedAt": one.started_at,
        "failed": one.failures,
        "proposed": one.proposed,
        "rejected": one.rejected,
        "applied": one.applied,
        "unfixable": one.unfixable,
        "label": "fixation-risk" if one.fixation else "ok",
        "planId": proposal.get("planId"),
        "plannerUsd": one.planner_usd,
        **_reported(one),
    }
    if sent is not None:
        entry["sent"] = {name: sent.get(name) for name in ("planId", "label", "edits", "changes", "at")}
    if said is not None and said.get("kind") == "edit_acknowledged":
        entry["ack"] = {"outcome": "applied", "milliseconds": _between(sent, said)}
    elif said is not None:
        entry["ack"] = {"outcome": said.get("outcome", "refused"), "reason": said.get("failureReason", "")}
    return cast("TimelineRound", {name: value for name, value in entry.items() if value is not None})


def _reported(one: Round) -> dict[str, Json]:
    if one.report is None:
        return {}
    found = one.full_report
    return {
        "endedAt": one.report.get("at"),
        "fingerprint": one.report.get("fingerprint"),
        "totals": found.get("totals"),
        "roundUsd": one.cost.get("round_usd"),
        "successful": one.report.get("successful"),
    }


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


def markdown(found: Timeline, name: str) -> str:
    """The timeline as a document to read."""
    state = found["status"]
    head = [
        f"# Enhance loop of {code(name)}",
        "",
        f"**{state['state'].replace('_', ' ')}** · {state.get('shown', '')}",
        "",
    ]
    if because := state.get("because"):
        head += [escaped(because), ""]
    numbers = [entry["round"] for entry in found["rounds"]]
    parts = [_round(entry, entry["round"] + 1 in numbers) for entry in found["rounds"]]
    return "\n".join([*head, *parts])


def _round(entry: TimelineRound, followed: bool) -> str:
    cost = f" · {money(entry['roundUsd'])}" if "roundUsd" in entry else ""
    risk = f" · {ENDINGS['fixation'].short}" if entry["label"] == "fixation-risk" else ""
    lines = [f"## Round {entry['round']}: {entry['status']}{cost}{risk}", ""]
    lines += _trials(entry)
    if entry.get("trials"):
        lines += _written(entry)
    nothing = "unknown: the round did not finish" if entry.get("unfinished") else "nothing"
    lines += ["### What failed", *(_bullets(entry["failed"], _failure) or [nothing]), ""]
    if entry.get("feedback"):
        lines += ["### Said by a person", *(f"* {_feedback(one)}" for one in entry["feedback"]), ""]
    if entry.get("unfixable"):
        lines += ["### Cannot be fixed by editing", *_bullets(entry["unfixable"], _unfixable), ""]
    if entry.get("planned"):
        lines += [escaped(entry["planned"]), ""]
        return "\n".join([*lines, *_why(entry)])
    lines += ["### Proposed", *(_bullets(entry["proposed"], _operation) or ["nothing"]), ""]
    if entry["rejected"]:
        lines += ["### Not applied", *_bullets(entry["rejected"], _rejection), ""]
    if not entry.get("trials"):
        lines += ["### Applied", *(_bullets(entry["applied"], _operation) or [_not_applied(entry)]), ""]
    elif entry["proposed"]:
        lines += [f"Tried in round {entry['round'] + 1}." if followed else "Not tried.", ""]
    lines += _why(entry)
    if entry["diff"]:
        lines += [fenced(entry["diff"].rstrip("\n"), "diff"), ""]
    return "\n".join(lines)


def _trials(entry: TimelineRound) -> list[str]:
    """What the trials of a round came to, and the score of each case."""
    if not entry.get("trials"):
        return []
    told = [escaped(entry["trials"]) + "."]
    if entry.get("notTaken"):
        told.append(f"Not applied: {escaped(entry['notTaken'])}.")
    scores = [f"{code(one['case'])}: {one['passes']} of {one['trials']}" for one in entry.get("cases", ())]
    return ["### Trials", "", " ".join(told), "", *(f"* {one}" for one in scores), ""]


def _written(entry: TimelineRound) -> list[str]:
    """What the trials of a round led to: the plan of the round before is written after them, or the editor refused."""
    if not entry["applied"] and "ack" not in entry:
        return []
    return ["### Applied", *(_bullets(entry["applied"], _operation) or [_not_applied(entry)]), ""]


def _why(entry: TimelineRound) -> list[str]:
    return ["### Why", "", escaped(entry["rationale"]), ""] if entry["rationale"] else []


def _unfixable(one: Mapping[str, Json]) -> str:
    return f"{code(str(one.get('failure')))}: {_line(one.get('reason'))}"


def _bullets(entries: Json, told: Callable[[Event], str]) -> list[str]:
    return [f"* {told(entry)}" for entry in listed(entries)]


def _failure(one: Mapping[str, Json]) -> str:
    return f"{code(str(one.get('step')))}: {escaped(_kind(one))}: {_line(one.get('message'))}"


def _kind(one: Mapping[str, Json]) -> str:
    return failure_words(str(one.get("kind")))


def _line(text: Json) -> str:
    """A text of others as part of an entry of a list."""
    return escaped(" ".join(str(text or "").split()))


def _feedback(one: RoundFeedback) -> str:
    of = code(one["step"]) if one.get("step") else "the round"
    return f"{'rejected' if one['negative'] else 'feedback on'} {of}: {_line(one['text'])}"


def _operation(one: Mapping[str, Json]) -> str:
    target = one.get("target") or one.get("name") or ""
    reason = f": {_line(one['reason'])}" if one.get("reason") else ""
    return f"{code(str(one.get('op')))} {code(str(target))}{reason}"


def _rejection(one: Mapping[str, Json]) -> str:
    return f"{_operation({**one, 'reason': one.get('message')})} ({escaped(str(one.get('reasonCode')))})"


def _not_applied(entry: TimelineRound) -> str:
    if entry.get("notTaken"):
        return f"nothing: {_line(entry['notTaken'])}"
    ack = entry.get("ack")
    if ack is not None and ack["outcome"] != "applied":
        return f"nothing: {_line(ack.get('reason') or ack.get('outcome'))}"
    return "nothing"
