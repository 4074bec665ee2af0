"""What a run is now: a fold over its facts, nothing else.

Pure and incremental: `state.after(event)` looks at no clock, file or table, so that every reader who has
the same facts sees the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from loop_ls.contract.endings import ENDED, LoopStatus, Status, ending, exit_code, loop_status, status_of
from loop_ls.contract.ids import place_id
from loop_ls.contract.questions import decision_of
from loop_ls.contract.run_view.rounds import Proposal, listed, proposal_after
from loop_ls.engine.events.event import Event, utc
from loop_ls.text.json_value import Json, JsonObject, as_object, float_field, int_field, text_field

if TYPE_CHECKING:
    from loop_ls.contract.facts.payload import Error
    from loop_ls.contract.run_state import (
        Caps,
        CutAnswer,
        GivenAnswer,
        PendingApproval,
        Question,
        RunStateView,
        Source,
        StageTurn,
        VerdictView,
        WorktreeView,
    )

#: Warnings that hold for the rest of the run: its file is not what it was started with (UP-60).
LABELS = {"file_gone": "file deleted", "file_faulty": "file faulty", "loop_disabled": "loop disabled"}

#: While a run has one of these, time counts as its own.
WORKING: frozenset[str] = frozenset({"running", "stopping"})


#: Answers at their length limit that a state names, and answers of people: the newest.
MOST_CUT = MOST_ANSWERS = 20

#: Fields of a state that a fact sets.
Changes = dict[str, object]

#: Limits of a run that are about what it spends.
CAPS = ("budgetUsd", "maxTokens", "wallClock")


#: The kind of provider that answers from a file, and its usual name.
SCRIPTED = "scripted"


class RunState(NamedTuple):
    """The state of protocol 4. `loop` is the one it follows: the shallowest that runs. A tuple, because
    it is made anew for every fact."""

    run_id: str = ""
    format: str = ""
    name: str = ""
    uri: str | None = None
    path: str | None = None
    root: str = ""
    project: str | None = None  # whose settings count for it, where that is not `root`
    writes: bool | None = None  # whether its plan lets it change any file of its folder, where its first fact says so
    target: JsonObject | None = None
    session_id: str | None = None
    goal: str | None = None
    metadata: JsonObject | None = None  # what people noted about it, labels included
    changed: JsonObject | None = None  # what people changed since it was started
    project_id: str | None = None
    origin: str = "cli"
    detach: bool = False
    user: str | None = None
    status: Status = "queued"
    reason: str | None = None
    label: str | None = None
    loop: str | None = None
    iteration: int = 0
    failed: tuple[int, ...] = ()  # iterations of its loop that failed, and were not tried again with success
    max_iterations: int | None = None
    stage: str | None = None
    turn: StageTurn | None = None  # of a role loop: index, role and label of the stage that it is at
    dispatch: JsonObject | None = None  # of a role loop: whether that stage reached an agent
    started_at: float | None = None
    ended_at: float | None = None
    active: float = 0.0
    last_at: float | None = None
    deadline: str | None = None  # when the time of a role loop is up that ends after a time or at a date
    cost_usd: float | None = None
    unpriced: bool = False
    scripted: tuple[str, ...] = ()  # providers whose answers and prices come from a script
    paid: bool = False  # others have given answers that have a price
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    criterion: JsonObject | None = None
    verdict: VerdictView | None = None
    progress_log: tuple[str, ...] = ()
    asked: tuple[PendingApproval, ...] = ()  # what people are asked and have not answered, in order
    answers: tuple[GivenAnswer, ...] = ()  # what people answered and ordered, the newest
    waits_since: float | None = None  # since when it is paused
    notes: tuple[str, ...] = ()  # what people said to it, and no prompt has yet
    worktree: WorktreeView | None = None  # of one that works in a worktree of its own
    source: Source | None = None  # whose answers it takes: a fork, a replay
    imported: bool = False
    mock: bool = False  # its answers are made up
    caps: Caps | None = None  # what the run may spend, as its first fact says
    because: str | None = None
    cut: tuple[CutAnswer, ...] = ()  # answers that ended at their length limit: where, and at which one
    resumes_at: str | None = None  # when a run that is paused goes on by itself
    proposal: Proposal = ""  # what became of the change that an enhance loop proposes
    question: Question | None = None  # what an enhance loop has asked outside of the engine
    last_output: str | None = None
    error: Error | None = None
    recovered: int = 0
    may_have_paid_twice: bool = False
    last_seq: int = 0
    last_position: int = 0
    depth: int = 0

    @property
    def account(self) -> str:
        """The project that pays for it: all who work under the same settings, wherever they were started."""
        return self.project or self.root

    @property
    def loop_status(self) -> LoopStatus:
        """As the documents of loops call it."""
        return loop_status(self.status, bool(self.asked and self.asked[0].get("blocked")))

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    def after(self, event: Event) -> RunState:
        """The state once `event` has happened too."""
        # The time between a crash and the return of the engine was nobody's work.
        idle = event.kind in ("recovered", "interrupted") or self.status not in WORKING
        spent = 0.0 if idle or self.last_at is None else max(0.0, event.at - self.last_at)
        counted: Changes = {
            "run_id": event.run_id,
            "last_seq": event.seq,
            "last_position": event.position,
            "last_at": event.at,
            "active": self.active + spent,
        }
        return self._replace(**cast("Any", counted | _changes(self, event.kind, event.body, event.at)))

    def wire(self, now: float | None = None) -> RunStateView:
        """As it travels; `now` adds the time since the last fact of a run that works."""
        running = now is not None and self.last_at is not None and self.status in WORKING
        since = max(0.0, now - self.last_at) if running and now is not None and self.last_at is not None else 0.0
        found: dict[str, object] = {
            "runId": self.run_id,
            "format": self.format,
            "name": self.name,
            "uri": self.uri,
            "path": self.path,
            "target": self.target,
            "sessionId": self.session_id,
            "goal": self.goal,
            "metadata": self.metadata,
            "projectId": self.project_id,
            "origin": self.origin,
            "detach": self.detach or None,
            "user": self.user,
            "status": self.status,
            "reason": self.reason,
            "label": self.label,
            "loop": self.loop,
            "iteration": self.iteration,
            "maxIterations": self.max_iterations,
            "stage": self.stage,
            "turn": self.turn,
            "dispatch": self.dispatch,
            "startedAt": _moment(self.started_at),
            "endedAt": _moment(self.ended_at),
            "lastActivityAt": _moment(self.last_at),
            "deadline": self.deadline,
            "elapsedMs": round((self.active + since) * 1000),
            "costUsd": None if self.cost_usd is None else round(self.cost_usd, 9),
            "unpriced": self.unpriced or None,
            "simulated": (bool(self.cost_usd) and not self.paid) or None,
            "caps": self.caps or None,
            "because": self.because,
            "resumesAt": self.resumes_at,
            "notes": list(self.notes) or None,
            "worktree": self.worktree,
            "cutOff": list(self.cut) or None,
            "source": self.source,
            "imported": self.imported or None,
            "mock": self.mock or None,
            "tokens": {"input": self.input_tokens, "output": self.output_tokens},
            "calls": self.calls,
            "criterion": self.criterion,
            "verdict": self.verdict,
            "progressLog": list(self.progress_log),
            "pendingApproval": self.asked[0] if self.asked else None,
            "pendingApprovals": list(self.asked) if len(self.asked) > 1 else None,
            "question": self.question,
            "waitingSince": _moment(self.waits_since),
            "lastAnswer": self.answers[-1] if self.answers else None,
            "lastOutput": self.last_output,
            "error": self.error,
            "mayHavePaidTwice": self.may_have_paid_twice or None,
            "exitCode": exit_code(self.status, self.reason),
            "lastSeq": self.last_seq,
        }
        found["ending"] = ending(found, self.failed)
        return cast("RunStateView", {name: value for name, value in found.items() if value is not None})


def fold(events: Iterable[Event], state: RunState | None = None) -> RunState:
    """The state after `events`, which are one run's, in order."""
    now = state or RunState()
    for event in events:
        now = now.after(event)
    return now


def _moment(at: float | None) -> str | None:
    return None if at is None else utc(at)


def _changes(state: RunState, kind: str, body: JsonObject, at: float) -> Changes:
    match kind:
        case "run_started":
            return _started(body, at)
        case "step_started" if body.get("mode") == "loop":
            return _loop_begins(state, body)
        case "iteration_started":
            return _iteration_begins(state, body)
        case "iteration":
            return {"last_output": body.get("output"), "failed": _failed(state, body)} if _followed(state, body) else {}
        case "iteration_failed":
            return {"failed": _failed(state, body, True)} if _followed(state, body) else {}
        case "judged":
            shown = ("iteration", "verdict", "answer", "local", "cut")
            return {"verdict": {k: body[k] for k in shown if k in body}} if _followed(state, body) else {}
        case "call":
            return _paid(state, body)
        case "step_started":
            return {"stage": body.get("step")}
        case "stage_started" | "stage_failed":
            return _turn(state.run_id, kind, body, at)
        case "loop_updated":
            return _updated(state, body)
        case "deadline_set":
            return {"deadline": body.get("deadline")}
        case "worktree_made" | "worktree_committed" | "worktree_decided":
            return {"worktree": _worktree(state, body)}
        case "progress":
            return {"progress_log": (*state.progress_log, str(body.get("learning", "")))}
        case "loop_fixation_warning":
            return {"label": "fixation-risk"}
        case "warning" if (code := text_field(body, "code")) in LABELS:
            return {"label": LABELS[code]}
        case "report_ready":  # a round that fails in the same way says so behind its report
            return {"label": None}
        case "recovered":
            return {
                "recovered": state.recovered + 1,
                "may_have_paid_twice": state.may_have_paid_twice or bool(body.get("mayHavePaidTwice")),
            }
        case _:
            return _status(state, kind, body, at)


def _started(body: JsonObject, at: float) -> Changes:
    limits = as_object(body.get("limits"))
    return {
        "status": "running",
        "started_at": at,
        "format": body.get("format", ""),
        "name": body.get("name", ""),
        "uri": body.get("uri"),
        "path": body.get("path"),
        "root": body.get("root", ""),
        "project": body.get("project"),
        "writes": body.get("writes"),
        "target": body.get("target"),
        "session_id": body.get("sessionId"),
        "goal": body.get("goal"),
        **_first_turn(body, at),
        "origin": body.get("origin", "cli"),
        "detach": bool(body.get("detach")),
        "user": body.get("user"),
        "max_iterations": limits.get("maxIterations"),
        "criterion": limits.get("criterion"),
        "scripted": _scripted(body),
        "source": _source(body.get("source")),
        "imported": bool(body.get("imported")),
        "mock": bool(body.get("mock")),
        "caps": {name: limits[name] for name in CAPS if limits.get(name) is not None},
    }


def _scripted(body: JsonObject) -> tuple[str, ...]:
    found = as_object(as_object(body.get("settings")).get("providers"))
    kinds = {name: as_object(own).get("kind") for name, own in found.items()}
    return tuple(name for name, kind in ({SCRIPTED: None} | kinds).items() if (kind or name) == SCRIPTED)


def _source(given: Json) -> Json:
    """Without the prompt that was changed, which may be long."""
    found = as_object(given)
    changed: JsonObject = {"changed": True} if found.get("prompt") else {}
    return {name: value for name, value in found.items() if name != "prompt"} | changed or None


def _updated(state: RunState, body: JsonObject) -> Changes:
    changed = dict(state.changed or {})
    changed |= {name: body[name] for name in ("goal", "maxIterations") if name in body}
    if body.get("unlimited"):
        changed["maxIterations"] = None
    metadata = _merged(state.metadata or {}, as_object(body.get("metadata")))
    if "labels" in body:
        metadata["labels"] = body["labels"]
    return {
        "changed": changed,
        "metadata": metadata or None,
        "goal": changed.get("goal", state.goal),
        "max_iterations": changed.get("maxIterations", state.max_iterations),
    }


def _merged(old: Mapping[str, Json], new: Mapping[str, Json]) -> JsonObject:
    """Deep: what is not named stays."""
    found = dict(old)
    for name, value in new.items():
        before = found.get(name)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        found[name] = _merged(as_object(before), as_object(value)) if both else value
    return found


def _first_turn(body: JsonObject, at: float) -> Changes:
    """A role loop is in its first iteration from the start; its first stage waits to be handed out."""
    plan = as_object(body.get("plan"))
    stages = listed(plan.get("stages"))
    if not stages:
        return {}
    waiting = {"status": "pending", "message": "the first stage waits for its agent", "updated_at": utc(at)}
    first = {"index": 0, "role": stages[0].get("role"), "label": stages[0].get("label")}
    return {"iteration": 1, "project_id": plan.get("projectId"), "turn": first, "dispatch": waiting}


def _turn(run_id: str, kind: str, body: JsonObject, at: float) -> Changes:
    """A stage reached its agent, or it failed; only one that never got there is a matter of dispatch."""
    index, label, stage_id = body.get("index"), body.get("stage"), place_id(run_id, text_field(body, "place"))
    if kind == "stage_failed":
        if not body.get("dispatch"):
            return {}
        error = str(as_object(body.get("error")).get("message", ""))[:200]
        failed = {"status": "failed", "message": f"`{label}` could not be assigned to its agent", "error": error}
        return {"dispatch": {**failed, "stage_id": stage_id, "stage_index": index, "updated_at": utc(at)}}
    sent = {
        "status": "dispatched",
        "message": f"`{label}` is with its agent",
        "task_id": body.get("task"),
        "stage_id": stage_id,
        "stage_index": index,
        "updated_at": utc(at),
    }
    return {"stage": label, "turn": {"index": index, "role": body.get("role"), "label": label}, "dispatch": sent}


def _status(state: RunState, kind: str, body: JsonObject, at: float) -> Changes:
    match kind:
        case "paused":
            parked = {"resumes_at": body.get("until"), "because": body.get("because"), "waits_since": at}
            said = _said(state, body, at, "pause") if body.get("via") else {}
            return {"status": "paused", "reason": body.get("reason", "user"), **parked, **said}
        case "loop_paused":
            asked = _question(kind, body, at) | ({"rejected": True} if state.proposal == "rejected" else {})
            waits = {"question": asked, "waits_since": at}
            return {"status": "paused", "reason": body.get("reason", "user"), **waits}
        case "edit_sent" if "question" in body:
            return {"question": _question(kind, body, at)}
        case "loop_continued" if state.status == "interrupted":
            return {"question": None, **_chosen(state, kind, body, at)}  # answered, but nobody has told it to go on
        case "loop_continued":
            going = {"status": "running", "reason": None, "question": None, "waits_since": None}
            return {**going, **_chosen(state, kind, body, at)}
        case "edit_acknowledged" | "edit_refused":
            return {"question": None, "proposal": proposal_after(state.proposal, kind, body)}
        case "ops_proposed" | "feedback":
            return _proposal(state, kind, body)
        case "resumed" if state.question is not None and state.question["kind"] == "loop_paused":
            return {"status": "paused", "reason": state.question.get("reason")}
        case "resumed":
            going = {"reason": None, "resumes_at": None, "because": None, "waits_since": None}
            said = _said(state, body, at, "resume") if body.get("via") else {}
            return {"status": "waiting_approval" if state.asked else "running", **going, **said}
        case "stopping":
            said = _said(state, body, at, "stop") if body.get("via") else {}
            return {"status": "stopping", "reason": body.get("cause", "user"), "asked": (), **said}
        case "manual_approval_required":
            return _asked(state, body, at)
        case "note_added":
            return {"notes": (*state.notes, str(body.get("text", "")))}
        case "note_given":
            return {"notes": tuple(state.notes[int_field(body, "notes") or 0 :])}
        case "approval_resolved":
            return _answered(state, body, at)
        case "interrupted":
            return {"status": "interrupted", "reason": body.get("reason", "engine_restart"), "waits_since": at}
        case "completed":
            reason = str(body.get("reason", "completed"))
            kept = {"last_output": body.get("lastOutput", state.last_output), "because": body.get("because")}
            return {**_ended(status_of(reason), reason, at), **kept}
        case "failed":
            reason = str(body.get("reason", "error"))
            ended = "blocked" if status_of(reason) == "blocked" else "failed"
            return {**_ended(ended, reason, at), "error": body.get("error")}
        case "cancelled":
            return _ended("cancelled", str(body.get("cause", "user")), at)
        case _:
            return {}


def _ended(status: str, reason: str, at: float) -> Changes:
    closed = {"stage": None, "asked": (), "question": None, "resumes_at": None, "because": None, "waits_since": None}
    return {"status": status, "reason": reason, "ended_at": at, **closed}


def _worktree(state: RunState, body: JsonObject) -> Changes:
    """`commit` is where the branch is now. Where it was restored, or went on, nobody has decided on that yet."""
    shown = ("branch", "folder", "base", "commit", "changed", "decision")
    found = {"commit": body.get("base"), **dict(state.worktree or {}), **{k: body[k] for k in shown if k in body}}
    return {name: value for name, value in found.items() if value is not None}


def _question(kind: str, body: JsonObject, at: float) -> Changes:
    shown = ("question", "planId", "reason", "conflict", "failureReason", "round", "place")
    return {"kind": kind, "since": utc(at), **{name: body[name] for name in shown if name in body}}


def _asked(state: RunState, body: JsonObject, at: float) -> Changes:
    shown = ("loopId", "iteration", "output", "place", "revise", "protected", "blocked")
    asked = {**{key: body[key] for key in shown if key in body}, "since": utc(at)}
    waits = state.status == "running"  # a paused run stays paused; it waits once it is resumed
    return {"asked": (*state.asked, asked), "status": "waiting_approval" if waits else state.status}


def _answered(state: RunState, body: JsonObject, at: float) -> Changes:
    left = tuple(each for each in state.asked if each.get("place") != body.get("place"))
    done = state.status == "waiting_approval" and not left
    said = _said(state, body, at, decision_of(body), text_field(body, "loopId"), text_field(body, "feedback"))
    return {"asked": left, "status": "running" if done else state.status, **said}


def _proposal(state: RunState, kind: str, body: JsonObject) -> Changes:
    """What became of the change that is proposed; a question about one that was rejected says so."""
    proposal, asked = proposal_after(state.proposal, kind, body), state.question
    rejected = proposal == "rejected" and asked is not None and asked["kind"] == "loop_paused"
    return {"proposal": proposal, "question": {**asked, "rejected": True} if rejected and asked else asked}


def _chosen(state: RunState, kind: str, body: JsonObject, at: float) -> Changes:
    answer, question = text_field(as_object(body.get("answer")), "choice"), text_field(body, "question")
    said = _said(state, {**body, "by": body.get("user")}, at, answer, question)
    return {**said, "proposal": proposal_after(state.proposal, kind, body)}


def _said(state: RunState, body: JsonObject, at: float, answer: str, question: str = "", text: str = "") -> Changes:
    """What people said, the newest last."""
    found = {"answer": answer, "by": body.get("by"), "via": body.get("via"), "text": text, "question": question}
    given = {"at": utc(at), **{name: value for name, value in found.items() if value}}
    return {"answers": (*state.answers, given)[-MOST_ANSWERS:]}


def _followed(state: RunState, body: JsonObject) -> bool:
    return (int_field(body, "depth") or 0) <= state.depth


def _loop_begins(state: RunState, body: JsonObject) -> Changes:
    depth = int_field(body, "depth") or 0
    if state.loop is not None and depth > state.depth:
        return {}
    condition = body.get("condition")
    return {
        "loop": body.get("step"),
        "depth": depth,
        "stage": body.get("step"),
        "iteration": 0,
        "failed": (),
        "max_iterations": body.get("maxIterations"),
        "criterion": {"type": "condition", "value": condition} if condition else state.criterion,
        "verdict": None,
    }


def _iteration_begins(state: RunState, body: JsonObject) -> Changes:
    if not _followed(state, body) and state.iteration:
        return {}
    return {
        "iteration": body.get("iteration", state.iteration),
        "max_iterations": body.get("maxIterations", state.max_iterations),
        "loop": body.get("loop", state.loop),
        "depth": int_field(body, "depth") or 0,
    }


def _failed(state: RunState, body: JsonObject, failed: bool = False) -> tuple[int, ...]:
    """Which iterations have failed after this one has ended."""
    number = int_field(body, "iteration") or 0
    others = tuple(one for one in state.failed if one != number)
    return tuple(sorted((*others, number))) if failed else others


def _cut(body: JsonObject) -> Changes:
    shown = {"place": body.get("place", ""), "purpose": body.get("purpose"), "maxTokens": body.get("maxTokens")}
    return {name: value for name, value in shown.items() if value is not None}


def _paid(state: RunState, body: JsonObject) -> Changes:
    if body.get("copied"):  # another run has paid for it
        return {}
    usd, tokens = float_field(body, "usd"), as_object(body.get("tokens"))
    given_up = as_object(body.get("error")).get("code") == "given_up"  # paid, and no answer of any kind
    return {
        "calls": state.calls + (not given_up),
        "cut": (*state.cut, _cut(body))[-MOST_CUT:] if body.get("cut") else state.cut,
        "cost_usd": state.cost_usd if usd is None else (state.cost_usd or 0.0) + usd,
        "paid": state.paid or bool(usd and body.get("provider") not in state.scripted),
        "unpriced": state.unpriced or (usd is None and "error" not in body),
        "input_tokens": state.input_tokens + (int_field(tokens, "input") or 0),
        "output_tokens": state.output_tokens + (int_field(tokens, "output") or 0),
    }
