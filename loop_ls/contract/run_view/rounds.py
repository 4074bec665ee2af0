"""Rounds of an enhance loop: what failed, was proposed, rejected, applied, and in which phase the loop is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from loop_ls.contract.amounts import count, money
from loop_ls.contract.run_view.parts import Event, moment
from loop_ls.text.json_value import Json, JsonObject, float_field, int_field, text_field

T = TypeVar("T")

_PHASES = {
    "round_started": "running_round",
    "round_finished": "reporting",
    "report_ready": "reporting",
    "planner_started": "planning",
    "ops_proposed": "planning",
    "edit_sent": "awaiting_ack",
    "backing_off": "backing_off",
}
_DOING = {
    "round_started": "running the workflow",
    "trial_finished": "testing it on cases",
    "report_ready": "looking at what failed",
    "planner_started": "planning changes",
    "loop_paused": "waiting for you",
    "edit_sent": "changing the file",
    "backing_off": "waiting before the next round",
}


#: What begins a wait for a person, and what ends it.
_WAITING = frozenset({"loop_paused", "loop_continued", "round_started", "completed", "cancelled", "failed"})

#: What decided against the text of a round.
_AGAINST = {
    "screen": "not better in its first trials",
    "probability": "not significantly better",
    "regression": "a test case fails that passed before",
    "cost": "costs more than twice as much",
    "holdout": "fails on held-out test cases",
    "unlooked": "not tried on all held-out test cases",
    "unfinished": "could not be tested completely",
    "rejected": "rejected by a person",
}


#: What a person is told who wants the change that a person has rejected.
REJECTED = "The change was rejected and is not applied: continue without it, or stop the run."


#: What became of the change that an enhance loop proposes: nothing is proposed, it is, or a person said no to it.
Proposal = Literal["", "open", "rejected"]


def proposal_after(proposal: Proposal, kind: str, event: Event) -> Proposal:
    """The same after one more fact. What is said of a round in which nothing is proposed rejects no change."""
    match kind:
        case "ops_proposed":
            return "open"
        case "feedback" if event.get("negative") and proposal:
            return "rejected"
        case "edit_acknowledged":
            return ""
        case "loop_continued" if not event.get("withEdits"):
            return ""
        case _:
            return proposal


def why_it_waits(question: JsonObject) -> str:
    """Why an enhance loop waits, as a sentence; empty where it only waits between rounds."""
    if question.get("rejected"):
        return REJECTED
    if question.get("reason") != "conflict":
        return ""
    conflict = text_field(question, "conflict")
    why = text_field(question, "failureReason") or conflict.replace("_", " ")
    return why if conflict == "document_invalid" else f"The change is not in the file: {why.rstrip('.')}."


@dataclass(slots=True)
class Round:
    """One round. `report`, `proposal` and `sent` are the facts that hold its failures, operations and edit."""

    number: int
    row: str
    first: int = 0
    last: int = 0
    status: str = "running"
    started_at: str | None = None
    doing: str | None = None
    report: Event | None = None
    planned: bool = False
    planner_usd: float | None = None
    problem: str | None = None  # why the last plan could not be used
    said: Event | None = None  # what the planner answered last, whether or not anything was accepted
    rejected: list[Event] = field(default_factory=list)
    proposal: Event | None = None
    sent: Event | None = None
    answer: Event | None = None  # what the editor said about the edit
    fixation: bool = False
    trials: list[Event] = field(default_factory=list)
    evidence: Event | None = None
    decided: Event | None = None
    held: Event | None = None
    skipped: bool = False  # a person went on without the change
    feedback: list[Event] = field(default_factory=list)  # what people said of it, while it ran or in its pause

    @property
    def trials_told(self) -> str:
        """`9 of 10 trials passed (3 of 7 in round 1), e 3.2 of 10, held out 4 of 4, runs $0.20`; empty where nothing
        was tried on cases."""
        if not self.trials:
            return ""
        counted = [one for one in self.trials if one.get("outcome") != "void" and not one.get("held")]
        passed = sum(one.get("outcome") == "pass" for one in counted)
        decided, evidence, held = self.decided or {}, self.evidence or {}, self.held
        before = ""
        if (best := int_field(decided, "bestRound")) is not None:
            before = f" ({int_field(decided, 'bestPasses')} of {int_field(decided, 'bestTrials')} in round {best})"
        parts = [f"{passed} of {count(len(counted), 'trial')} passed{before}"]
        if evidence:
            parts.append(f"e {float_field(evidence, 'e') or 0.0:g} of {float_field(evidence, 'wanted') or 0.0:g}")
        if held is not None:
            parts.append(f"held out {int_field(held, 'passed')} of {int_field(held, 'of')}")
        if runs := sum(float_field(one, "usd") or 0.0 for one in self.trials):
            parts.append(f"runs {money(runs)}")
        if judges := sum(float_field(one, "judgeUsd") or 0.0 for one in self.trials):
            parts.append(f"judges {money(judges)}")
        return ", ".join(parts)

    @property
    def cases(self) -> list[dict[str, Json]]:
        """Passes and trials of each seen case."""
        found: dict[str, list[bool]] = {}
        for one in self.trials:
            if one.get("outcome") != "void" and not one.get("held"):
                found.setdefault(text_field(one, "case"), []).append(one.get("outcome") == "pass")
        return [{"case": name, "passes": sum(each), "trials": len(each)} for name, each in found.items()]

    @property
    def unfinished(self) -> bool:
        """Whether the round ended, or was left, before anything was known of what fails in it."""
        return self.report is None or (self.evidence is not None and not int_field(self.evidence, "trials"))

    @property
    def not_taken(self) -> str:
        """Why the change of this round is not in the file; empty: it is, or nobody asked."""
        if self.skipped and not self.applied:
            return "left out by a person"
        if self.decided is None or self.decided.get("accepted"):
            return ""
        by = text_field(self.decided, "by")
        case = text_field(self.decided, "case")
        return f"{_AGAINST.get(by, by)}{f': `{case}`' if case else ''}"

    @property
    def failures(self) -> list[Event]:
        return listed((self.report or {}).get("failures"))

    @property
    def full_report(self) -> Event:
        found = (self.report or {}).get("report")
        return found if isinstance(found, dict) else {}

    @property
    def cost(self) -> Event:
        found = self.full_report.get("cost")
        return found if isinstance(found, dict) else {}

    @property
    def proposed(self) -> list[Event]:
        return listed((self.proposal or {}).get("ops"))

    @property
    def rationale(self) -> str:
        return text_field(self.proposal or {}, "rationale") or text_field(self.said or {}, "rationale")

    @property
    def gave_up(self) -> str:
        return text_field(self.said or {}, "giveUp")

    @property
    def unfixable(self) -> list[Event]:
        """What editing does not mend: known by its kind, and by the planner's word."""
        return [*listed(self.full_report.get("unfixable")), *listed((self.said or {}).get("unfixable"))]

    @property
    def applied(self) -> list[Event]:
        taken = self.answer is not None and self.answer.get("kind") == "edit_acknowledged"
        return listed((self.sent or {}).get("changes")) if taken else []

    @property
    def diff(self) -> str:
        return text_field(self.sent or {}, "diff") or text_field(self.proposal or {}, "diff")

    @property
    def refused(self) -> str | None:
        if self.answer is None or self.answer.get("kind") != "edit_refused":
            return None
        return text_field(self.answer, "failureReason") or "the editor rejected the edit"

    @property
    def outcome(self) -> JsonObject:
        """What the view and the timeline tell of it in the same words."""
        return {
            "status": self.status,
            "rationale": self.rationale,
            "diff": self.diff,
            "cumulativeUsd": float_field(self.cost, "cumulative_usd"),
            "trials": self.trials_told or None,
            "cases": self.cases or None,
            "notTaken": self.not_taken or None,
            "unfinished": True if self.unfinished and (self.report is not None or self.doing is None) else None,
            "feedback": [_said(each) for each in self.feedback] or None,
        }

    def wire(self) -> Event:
        found: JsonObject = {
            **self.outcome,
            "number": self.number,
            "row": self.row,
            "doing": self.doing,
            "failed": [{name: text_field(one, name) for name in ("step", "kind", "message")} for one in self.failures],
            "proposed": [change(one) for one in self.proposed],
            "rejected": [
                {**change(one), "reason": text_field(one, "message"), "code": text_field(one, "reasonCode")}
                for one in self.rejected
            ],
            "applied": [change(one) for one in self.applied],
            "usd": float_field(self.cost, "round_usd"),
            "cost": money(float_field(self.cost, "round_usd")) or None,
            "cumulativeCost": money(float_field(self.cost, "cumulative_usd")) or None,
            "fixation": self.fixation,
            "reported": self.report is not None,
            "refused": self.refused,
            "planned": self.planned,
            "planProblem": self.problem,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(slots=True)
class Rounds:
    """All rounds of a loop, and the loop itself by the names of its document. `spent` and `cap` are US dollars."""

    phase: str = "idle"
    number: int = 0
    most: int | None = None
    spent: float = 0.0
    cap: float | None = None
    reason: str = ""
    because: str | None = None
    fixation: bool = False
    by_number: dict[int, Round] = field(default_factory=dict)
    failures: list[Event] = field(default_factory=list)  # of the last report, until the next round begins
    changes: list[Event] = field(default_factory=list)  # that are in the document
    changed_after: int = 0  # the round whose changes they are
    question: str | None = None  # the last one that was asked
    sent: Event | None = None
    proposal: Event | None = None
    unusable: bool = False  # it waits because the file cannot be read or run
    waiting: str = ""  # why, where it does not only wait between rounds
    change: Proposal = ""
    answered: JsonObject = field(default_factory=dict)  # how the last question was answered, and from where
    _before: str = "idle"
    _early: list[Event] = field(default_factory=list)  # feedback from before the first round

    def all(self) -> list[Round]:
        return [self.by_number[each] for each in sorted(self.by_number)]

    def take(self, event: Event, seq: int) -> None:
        """Facts come in order."""
        self._phase(event)
        self.number = _or(int_field(event, "round"), self.number)
        self.most = _or(int_field(event, "maxRounds"), self.most)
        self.spent = _or(float_field(event, "spentUsd"), self.spent)
        self.cap = _or(float_field(event, "capUsd"), self.cap)
        if asked := text_field(event, "question"):
            self.question = asked
        if event.get("kind") in _WAITING:
            self.waiting = why_it_waits(event) if event.get("kind") == "loop_paused" else ""
        self.change = proposal_after(self.change, text_field(event, "kind"), event)
        if self.change == "rejected" and self.phase in ("awaiting_user", "conflict"):
            self.waiting = REJECTED
        self._note(event)
        if event.get("kind") == "feedback" and (told := self.by_number.get(self.number)) is not None:
            told.last = seq  # it belongs to the round, though it does not name it
        if (of := int_field(event, "round")) is not None:
            if (known := self.by_number.get(of)) is None:
                known = self.by_number[of] = Round(of, text_field(event, "place").partition(":")[0], seq)
                known.feedback, self._early = self._early, []
            known.last = seq
            _take(known, event)
        elif event.get("kind") in ("completed", "failed", "cancelled"):
            for each in self.by_number.values():
                if each.doing is not None:
                    each.doing, each.last = None, seq

    def _phase(self, event: Event) -> None:
        match event.get("kind"):
            case "loop_paused":
                conflict, self.unusable = event.get("reason") == "conflict", event.get("conflict") == "document_invalid"
                self._before, self.phase = self.phase, "conflict" if conflict else "awaiting_user"
            case "interrupted":
                self._before, self.phase = self.phase, "interrupted"
            case "resumed":
                self.phase = self._before if self.phase == "interrupted" else self.phase
            case "completed":
                self.phase = "converged" if event.get("reason") == "converged" else "gave_up"
            case "cancelled" | "failed" as ended:
                self.phase = ended
            case kind:
                self.phase = _PHASES.get(str(kind), self.phase)

    def _note(self, event: Event) -> None:
        self.answered = _answer(event) or self.answered
        match event.get("kind"):
            case "round_started":
                self.failures = []
            case "report_ready":
                self.failures, self.fixation = listed(event.get("failures")), False
            case "loop_fixation_warning":
                self.fixation = True
            case "ops_proposed":
                self.proposal = event
            case "edit_sent":
                self.sent = event
            case "feedback":
                of = self.by_number.get(self.number)
                (self._early if of is None else of.feedback).append(event)
            case "edit_acknowledged":
                self.changes, self.changed_after = listed((self.sent or {}).get("changes")), self.number
            case "loop_paused" if event.get("reason") == "conflict":
                self.changes = []
            case "loop_continued" if not event.get("withEdits"):
                self.changes = []
            case "completed":
                self.reason, self.because = text_field(event, "reason"), text_field(event, "because") or None
            case _:
                pass


def _answer(event: Event) -> JsonObject:
    """Of a fact that answers: which, by whom, where and when, as `questions.told_by` takes it."""
    answer, kind = event.get("answer"), event.get("kind")
    if kind not in ("loop_continued", "edit_acknowledged", "edit_refused") or not isinstance(answer, dict):
        return {}
    word = text_field(answer, "choice") or text_field(answer, "outcome")
    by = event.get("user") if event.get("via") else event.get("by")
    return {"answer": word, "via": event.get("via"), "by": by, "at": event.get("at")}


def _take(one: Round, event: Event) -> None:
    kind = str(event.get("kind"))
    one.doing = _DOING.get(kind, one.doing)
    match kind:
        case "round_started":
            one.started_at = moment(event)
        case "report_ready":
            converged = event.get("converged") is True
            one.report, one.status = event, "converged" if converged else "failed"
            one.doing = None if converged else one.doing
        case "loop_fixation_warning":
            one.fixation = True
        case "planner_started":
            one.planned = True
        case "planner_finished" | "planner_failed":
            one.planned = True
            one.planner_usd = (one.planner_usd or 0.0) + (float_field(event, "plannerUsd") or 0.0)
            one.problem = text_field(event, "message") if kind == "planner_failed" else one.problem
            one.said = event if kind == "planner_finished" else one.said
        case "op_rejected":
            refused = {name: event.get(name) for name in ("op", "target", "reasonCode", "message")}
            if refused not in one.rejected:  # a planner that was asked again proposed it again
                one.rejected.append(refused)
        case "ops_proposed":
            one.proposal = event
        case "edit_sent":
            one.sent = event
        case "edit_acknowledged" | "edit_refused":
            one.answer = event
            one.doing = None if kind == "edit_acknowledged" else one.doing
        case "loop_continued":
            answer = event.get("answer")
            one.doing, one.skipped = None, isinstance(answer, dict) and answer.get("choice") == "skip"
        case _:
            _take_rest(one, kind, event)


def _take_rest(one: Round, kind: str, event: Event) -> None:
    match kind:
        case "trial_finished":
            one.trials.append(event)
        case "evidence":
            one.evidence = event
        case "candidate_decided":
            one.decided = event
        case "holdout_looked":
            one.held = event
        case "loop_paused" if event.get("reason") == "conflict":  # an editor said yes, and holds another text
            one.answer = {**event, "kind": "edit_refused", "outcome": event.get("conflict")}
        case _:
            pass


def _said(one: Event) -> JsonObject:
    step = text_field(one, "step")
    of: JsonObject = {"step": step} if step else {}
    return {"text": text_field(one, "text"), **of, "negative": one.get("negative") is True}


def rounds_of(events: Iterable[Event]) -> Rounds:
    """The rounds after these facts of one loop, in order."""
    found = Rounds()
    for event in events:
        found.take(event, int_field(event, "seq") or 0)
    return found


def change(one: Event) -> dict[str, str]:
    return {
        "op": text_field(one, "op"),
        "target": text_field(one, "target") or text_field(one, "name"),
        "reason": text_field(one, "reason"),
    }


def listed(value: Json) -> list[Event]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list | tuple) else []


def _or(value: T | None, otherwise: T) -> T:
    return otherwise if value is None else value
