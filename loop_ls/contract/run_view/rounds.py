"""Rounds of an enhance loop: what failed, was proposed, rejected, applied, and in which phase the loop is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from loop_ls.contract.amounts import money
from loop_ls.contract.run_view.parts import Event, amount, moment, number, text
from loop_ls.text.json_value import Json, JsonObject

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
    "report_ready": "looking at what failed",
    "planner_started": "planning changes",
    "loop_paused": "waiting for you",
    "edit_sent": "changing the file",
    "backing_off": "waiting before the next round",
}


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
        return text(self.proposal or {}, "rationale") or text(self.said or {}, "rationale")

    @property
    def gave_up(self) -> str:
        return text(self.said or {}, "giveUp")

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
        return text(self.sent or {}, "diff") or text(self.proposal or {}, "diff")

    @property
    def refused(self) -> str | None:
        if self.answer is None or self.answer.get("kind") != "edit_refused":
            return None
        return text(self.answer, "failureReason") or "the editor refused the edit"

    def wire(self) -> Event:
        found: JsonObject = {
            "number": self.number,
            "row": self.row,
            "status": self.status,
            "doing": self.doing,
            "failed": [{name: text(one, name) for name in ("step", "kind", "message")} for one in self.failures],
            "proposed": [change(one) for one in self.proposed],
            "rejected": [
                {**change(one), "reason": text(one, "message"), "code": text(one, "reasonCode")}
                for one in self.rejected
            ],
            "applied": [change(one) for one in self.applied],
            "rationale": self.rationale,
            "diff": self.diff,
            "usd": amount(self.cost, "round_usd"),
            "cumulativeUsd": amount(self.cost, "cumulative_usd"),
            "cost": money(amount(self.cost, "round_usd")) or None,
            "cumulativeCost": money(amount(self.cost, "cumulative_usd")) or None,
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
    _before: str = "idle"

    def all(self) -> list[Round]:
        return [self.by_number[each] for each in sorted(self.by_number)]

    def take(self, event: Event, seq: int) -> None:
        """Facts come in order."""
        self._phase(event)
        self.number = _or(number(event, "round"), self.number)
        self.most = _or(number(event, "maxRounds"), self.most)
        self.spent = _or(amount(event, "spentUsd"), self.spent)
        self.cap = _or(amount(event, "capUsd"), self.cap)
        if asked := text(event, "question"):
            self.question = asked
        self._note(event)
        if (of := number(event, "round")) is not None:
            if (known := self.by_number.get(of)) is None:
                known = self.by_number[of] = Round(of, text(event, "place").partition(":")[0], seq)
            known.last = seq
            _take(known, event)
        elif event.get("kind") in ("completed", "failed", "cancelled"):
            for each in self.by_number.values():
                if each.doing is not None:
                    each.doing, each.last = None, seq

    def _phase(self, event: Event) -> None:
        match event.get("kind"):
            case "loop_paused":
                conflict = event.get("reason") == "conflict"
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
            case "edit_acknowledged":
                self.changes, self.changed_after = listed((self.sent or {}).get("changes")), self.number
            case "loop_continued" if not event.get("withEdits"):
                self.changes = []
            case "completed":
                self.reason, self.because = text(event, "reason"), text(event, "because") or None
            case _:
                pass


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
            one.planner_usd = (one.planner_usd or 0.0) + (amount(event, "plannerUsd") or 0.0)
            one.problem = text(event, "message") if kind == "planner_failed" else one.problem
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
            one.doing = None
        case _:
            pass


def rounds_of(events: Iterable[Event]) -> Rounds:
    """The rounds after these facts of one loop, in order."""
    found = Rounds()
    for event in events:
        found.take(event, number(event, "seq") or 0)
    return found


def change(one: Event) -> dict[str, str]:
    return {"op": text(one, "op"), "target": text(one, "target") or text(one, "name"), "reason": text(one, "reason")}


def listed(value: Json) -> list[Event]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list | tuple) else []


def _or(value: T | None, otherwise: T) -> T:
    return otherwise if value is None else value
