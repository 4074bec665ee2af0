"""What follows from a round, in one fixed order:
converged, fixation, budget, rounds, unfixable or transient, plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loop_ls.engine.enhance.report.failures import Mode, Observed, has_converged, independent, only
from loop_ls.engine.enhance.report.fingerprint import fingerprint

Next = Literal["converged", "gave_up", "back_off", "plan"]
#: Seconds that a back-off lasts at most.
LONGEST_BACK_OFF = 300.0


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` is set where the loop gives up. `fixation` tells that the round failed like the last."""

    next: Next
    reason: str | None = None
    fixation: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the decision looks at. `previous` is the fingerprint of the round before, None where
    there is none that counts. `affordable`: spent is below the cap and the planner fits."""

    observed: Observed
    mode: Mode
    previous: str | None
    on_fixation: Literal["abort", "warn"]
    affordable: bool
    max_rounds: int


def decide(now: Situation) -> Decision:
    """What comes after this round."""
    observed = now.observed
    if has_converged(observed, now.mode):
        return Decision("converged")
    transient = only(observed.failures, "transient")
    fixation = not transient and now.previous is not None and fingerprint(observed.failures) == now.previous
    if fixation and now.on_fixation == "abort":
        return Decision("gave_up", "fixation", fixation=True)
    if observed.truncated_by_budget or not now.affordable:
        return Decision("gave_up", "budget", fixation)
    if observed.round >= now.max_rounds:
        return Decision("gave_up", "max_rounds", fixation)
    if transient:
        return Decision("back_off")
    counting = independent(observed.failures)
    if not any(one.fixable for one in counting):
        waits = any(one.weight == "transient" for one in counting)
        passing = waits and not any(one.weight == "permanent" for one in counting)
        return Decision("back_off") if passing else Decision("gave_up", "unfixable", fixation)
    return Decision("plan", fixation=fixation)


def back_off(base: float, count: int, retry_after: float | None) -> float:
    """Seconds before the rerun; `count` back-offs in a row came before. What a server asks for wins."""
    if retry_after is not None:
        return min(retry_after, LONGEST_BACK_OFF)
    return float(min(base * 2**count, LONGEST_BACK_OFF))


def next_previous(observed: Observed, previous: str | None) -> str | None:
    """The fingerprint that the next round is compared with. Rounds of rate limits do not take part."""
    if only(observed.failures, "transient"):
        return previous
    return fingerprint(observed.failures)
