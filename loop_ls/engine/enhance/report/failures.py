"""What can go wrong in a round, as an enhance loop sorts it: kinds, what they weigh, who can mend them.

One table decides convergence, planning and giving up. Nothing here reads facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from loop_ls.contract.facts.enhance import ReportVerifier, Totals, UsedIterations
from loop_ls.engine.enhance.report.kinds_of_errors import kind_of
from loop_ls.text.json_value import Json, JsonObject

Weight = Literal["hard", "soft", "transient", "permanent"]
Mode = Literal["strict", "lenient"]


class Kind(NamedTuple):
    """`dependent` kinds never stand alone: they follow from another failure."""

    weight: Weight
    fixable: bool
    dependent: bool = False


KINDS: dict[str, Kind] = {
    "step_error": Kind("hard", True),
    "bad_output": Kind("hard", True),
    "verifier_fail": Kind("hard", True),
    "verifier_error": Kind("hard", True),
    "until_not_met": Kind("hard", True),
    "low_success_rate": Kind("hard", True),
    "timeout": Kind("hard", True),
    "user_rejected": Kind("hard", True),
    "template_error": Kind("hard", True),
    "missing_tool": Kind("hard", True),
    "upstream_failed": Kind("soft", False, dependent=True),
    "budget_stop": Kind("soft", False, dependent=True),
    "intentional_skip": Kind("soft", False),
    "skipped_by_plan": Kind("hard", True),
    "fallback_output": Kind("soft", True),
    "rate_limit": Kind("transient", False),
    "network": Kind("transient", False),
    "auth": Kind("permanent", False),
    "quota": Kind("permanent", False),
}

#: What lenient mode takes as it is.
SOFT_OK = frozenset({"intentional_skip", "fallback_output"})


def checked(verdict: Literal["fail", "error"], criterion: str, reason: str) -> ReportVerifier:
    """`criterion` is the text of `until` or of the check; `reason` what the judge said."""
    return ReportVerifier(verdict=verdict, criterion=criterion, reason=reason)


@dataclass(frozen=True, slots=True)
class FailedStep:
    """One entry of a report's `failures`. `step` is its name, `loop/step` inside a called workflow.

    `error` is `{code, message, http_status?, provider?, model?}`; `range` an LSP range or None where
    the step has no place of its own in the text that was run. `duration` in seconds. `guessed`: its verifier is one by
    its prompt alone, which asks for PASS or FAIL.
    """

    round: int
    step: str
    kind: str
    target: Literal["step", "loop", "execution"] = "step"
    range: JsonObject | None = None
    attempts: int = 1
    error: Mapping[str, Json] | None = None
    output: str = ""
    verifier: ReportVerifier = field(default_factory=ReportVerifier)
    feedback: tuple[str, ...] = ()
    skip_reason: str | None = None
    fallback: JsonObject | None = None
    iterations: UsedIterations | None = None
    upstream: tuple[str, ...] = ()
    duration: float = 0.0
    usd: float = 0.0
    guessed: bool = False

    @property
    def id(self) -> str:
        return f"{self.round}:{self.step}:{self.kind}"

    @property
    def weight(self) -> Weight:
        return KINDS[self.kind].weight

    @property
    def fixable(self) -> bool:
        return KINDS[self.kind].fixable


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person said of a round; `step` None: of all of it. `negative` rejects the step, or else the result."""

    text: str
    at: str
    step: str | None = None
    negative: bool = False

    def wire(self) -> dict[str, Json]:
        return {"text": self.text, "at": self.at, **({"step": self.step} if self.step else {})}


@dataclass(frozen=True, slots=True)
class Observed:
    """One round as it ended: what failed, in document order, and what the run gave.

    `successful` tells that the run produced its final output with no hard failure in a step that the
    output depends on; `ran` names the elements that were not skipped, and the checks
    in called workflows that were not (`element/check`); `items` are the lengths of the JSON lists that loops went over,
    `listed` what was in them, and `failed_items` what of that failed.
    """

    round: int
    failures: tuple[FailedStep, ...] = ()
    totals: Totals = field(default_factory=Totals)
    output: str = ""
    successful: bool = True
    truncated_by_budget: bool = False
    ran: tuple[str, ...] = ()
    feedback: tuple[Feedback, ...] = field(default=())
    items: Mapping[str, int] = field(default_factory=dict)
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failed_items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def observed_type() -> TypeAdapter[Observed]:
    """How the record holds one."""
    return TypeAdapter(Observed)


def independent(failures: Iterable[FailedStep]) -> tuple[FailedStep, ...]:
    """The failures that count: dependent ones only where nothing else explains them (section 5)."""
    every = tuple(failures)
    roots = tuple(one for one in every if not KINDS[one.kind].dependent)
    return roots or every


def has_converged(observed: Observed, mode: Mode) -> bool:
    """Whether the round is good enough (section 6)."""
    if observed.truncated_by_budget:
        return False
    counting = independent(observed.failures)
    if mode == "lenient":
        return all(one.kind in SOFT_OK for one in counting)
    return not counting


def is_outside(failures: Iterable[FailedStep]) -> bool:
    """Whether nothing but providers and networks failed: what checks say of such a run says nothing of the workflow."""
    counting = [one for one in independent(failures) if one.weight != "soft"]
    return bool(counting) and all(one.weight in ("transient", "permanent") for one in counting)


def is_of_provider(error: Mapping[str, Json]) -> bool:
    """Whether an error `{code, message}` comes from a provider or the network, and says nothing of the file."""
    return KINDS[kind_of(error)].weight in ("transient", "permanent")


def only(failures: Iterable[FailedStep], weight: Weight) -> bool:
    """Whether there are failures that count, and all of them weigh the same."""
    counting = independent(failures)
    return bool(counting) and all(one.weight == weight for one in counting)
