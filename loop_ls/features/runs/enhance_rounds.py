"""The rounds of an enhance loop as an editor shows them.

`rounds_of(view)` makes the value; `progress_in_words` and `ended_in_rounds` are its lines for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loop_ls.contract.amounts import money, rounds_spent
from loop_ls.contract.endings import ENDINGS, line, sign
from loop_ls.text.json_value import Json

if TYPE_CHECKING:
    from loop_ls.contract.run_view import rounds


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
    made after round `changed_after`. `rejected`: a person has said no to the change that is proposed; `unusable`: it
    waits because the file cannot be read or run."""

    phase: str
    number: int = 0
    most: int = 0
    spent: float = 0.0
    cap: float = 0.0
    reason: str = ""
    fixation: bool = False
    rejected: bool = False
    unusable: bool = False
    failures: tuple[StepFailure, ...] = ()
    changes: tuple[StepChange, ...] = ()
    changed_after: int = 0


def rounds_of(view: rounds.Rounds) -> Rounds:
    """What the editor shows of an enhance loop's rounds."""
    return Rounds(
        view.phase,
        view.number,
        view.most or 0,
        view.spent,
        view.cap or 0.0,
        view.reason,
        view.fixation,
        view.change == "rejected",
        view.unusable,
        tuple(map(_failure, view.failures)),
        tuple(map(_change, view.changes)),
        view.changed_after,
    )


def burn(rounds: Rounds) -> str:
    """`Round 2 of 3 · $1.09 of $5.00`."""
    if not rounds.most:
        return "Enhance: starting"
    return rounds_spent(rounds.number, rounds.most, rounds.spent, rounds.cap)


def progress_in_words(rounds: Rounds) -> str:
    """The counter, the money, and what is being done where that is not the round itself."""
    doing = _doing(rounds) if rounds.most else ""
    risk = ENDINGS["fixation"].short if rounds.fixation else ""
    return " · ".join(part for part in (burn(rounds), risk, doing) if part)


def _doing(rounds: Rounds) -> str:
    match rounds.phase:
        case "awaiting_user" | "conflict" if rounds.rejected:
            return "the change was rejected"
        case "conflict" if rounds.unusable:
            return "the file cannot be read or run"
        case phase:
            return _DOING.get(phase, phase.replace("_", " "))


def ended_in_rounds(rounds: Rounds) -> str:
    """`✓ converged in round 2 of 3 · $1.09`; giving up never reads like a success."""
    status, reason = _ENDED.get(rounds.phase, ("failed", None))
    most = f" of {rounds.most}" if rounds.most and rounds.phase != "gave_up" and rounds.number else ""
    told = line(status, reason or rounds.reason or None, rounds.number, "round")
    return f"{sign(status, reason or rounds.reason)} {told}{most} · {money(rounds.spent)}"


#: How a loop in one of these phases has ended: its status, and the reason where the phase is one.
_ENDED: dict[str, tuple[str, str | None]] = {
    "converged": ("completed", "converged"),
    "gave_up": ("completed", None),
    "cancelled": ("cancelled", None),
}


def _failure(one: Mapping[str, Json]) -> StepFailure:
    told = (str(one.get(name) or "") for name in ("id", "step", "kind", "class", "message"))
    return StepFailure(*told)


def _change(one: Mapping[str, Json]) -> StepChange:
    return StepChange(str(one.get("target") or ""), str(one.get("reason") or ""))
