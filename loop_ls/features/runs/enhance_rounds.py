"""The rounds of an enhance loop as an editor shows them, folded from the facts of the run.

`rounds_of(facts)` makes the value; `progress_in_words` and `ended_in_rounds` are its lines for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from loop_ls.contract.endings import line, sign
from loop_ls.formats.settings.enhance_states import phase

Json = Mapping[str, Any]

_DOING = {
    "idle": "starting",
    "running_round": "",
    "reporting": "looking at what failed",
    "planning": "planning changes",
    "awaiting_user": "waiting for you",
    "awaiting_ack": "changing the file",
    "backing_off": "waiting before the next round",
    "conflict": "the change is not in the file",
    "interrupted": "interrupted",
}


@dataclass(frozen=True, slots=True)
class StepFailure:
    """What failed in a round. `step` of a called workflow is `loop/step`; `weight` is the class of its kind."""

    id: str
    step: str
    kind: str
    weight: str
    message: str


@dataclass(frozen=True, slots=True)
class StepChange:
    """A change that is in the document."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rounds:
    """`phase` by the names of the loop's document; `failures` are those of the last report, `changes` those
    made after round `changed_after`."""

    phase: str
    number: int = 0
    most: int = 0
    spent: float = 0.0
    cap: float = 0.0
    reason: str = ""
    fixation: bool = False
    failures: tuple[StepFailure, ...] = ()
    changes: tuple[StepChange, ...] = ()
    changed_after: int = 0


def rounds_of(facts: Iterable[Json]) -> Rounds:
    """Facts of one enhance loop, in order; forgives what is missing."""
    listed = list(facts)
    number = most = changed_after = 0
    spent = cap = 0.0
    reason, fixation = "", False
    failures: tuple[StepFailure, ...] = ()
    changes: tuple[StepChange, ...] = ()
    sent: tuple[StepChange, ...] = ()
    for fact in listed:
        number, most = fact.get("round", number), fact.get("maxRounds", most)
        spent, cap = fact.get("spentUsd", spent), fact.get("capUsd", cap)
        match fact.get("kind"):
            case "round_started":
                failures = ()
            case "report_ready":
                failures, fixation = tuple(map(_failure, fact.get("failures") or ())), False
            case "loop_fixation_warning":
                fixation = True
            case "edit_sent":
                sent = tuple(map(_change, fact.get("changes") or ()))
            case "edit_acknowledged":
                changes, changed_after = sent, number
            case "loop_continued" if not fact.get("withEdits"):
                changes = ()
            case "completed":
                reason = str(fact.get("reason") or "")
            case _:
                pass
    return Rounds(phase(listed), number, most, spent, cap, reason, fixation, failures, changes, changed_after)


def burn(rounds: Rounds) -> str:
    """`Round 2 of 3 · $1.09 of $5.00`."""
    if not rounds.most:
        return "Enhance: starting"
    return f"Round {max(rounds.number, 1)} of {rounds.most} · ${rounds.spent:.2f} of ${rounds.cap:.2f}"


def progress_in_words(rounds: Rounds) -> str:
    """The counter, the money, and what is being done where that is not the round itself."""
    doing = _DOING.get(rounds.phase, rounds.phase.replace("_", " ")) if rounds.most else ""
    risk = "the same thing failed again" if rounds.fixation else ""
    return " · ".join(part for part in (burn(rounds), risk, doing) if part)


def ended_in_rounds(rounds: Rounds) -> str:
    """`✓ converged in round 2 of 3 · $1.09`; giving up never reads like a success."""
    status, reason = _ENDED.get(rounds.phase, ("failed", None))
    most = f" of {rounds.most}" if rounds.most and rounds.phase != "gave_up" and rounds.number else ""
    told = line(status, reason or rounds.reason or None, rounds.number, "round")
    return f"{sign(status, reason or rounds.reason)} {told}{most} · ${rounds.spent:.2f}"


#: How a loop in one of these phases has ended: its status, and the reason where the phase is one.
_ENDED: dict[str, tuple[str, str | None]] = {
    "converged": ("completed", "converged"),
    "gave_up": ("completed", None),
    "cancelled": ("cancelled", None),
}


def _failure(one: Json) -> StepFailure:
    told = (str(one.get(name) or "") for name in ("id", "step", "kind", "class", "message"))
    return StepFailure(*told)


def _change(one: Json) -> StepChange:
    return StepChange(str(one.get("target") or ""), str(one.get("reason") or ""))
