"""Trials: one run of one text on one case each, with its checks, recorded so that a replay pays none again.

A trial is a real run at a place of its own: no answer is taken from another one. What says nothing about the text (a
provider that is out of order, a judge that gave no answer) is void, and is tried again a few times.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NotRequired, Protocol, TypedDict, cast

from loop_ls.contract.facts.enhance import TrialCheck, TrialFinished
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.checks.outcome import Outcome as CheckOutcome
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Outcome, Turn
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.enhance.plan.bundle import ALONE, Bundle
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy
from loop_ls.engine.enhance.report.costs import LoopCosts
from loop_ls.engine.enhance.report.failed_checks import failed_step
from loop_ls.engine.enhance.report.failures import FailedStep, Observed, has_converged, is_outside, observed_type
from loop_ls.engine.enhance.report.observe import observe
from loop_ls.engine.enhance.rounds import EnhanceMemory, RunWorkflow
from loop_ls.engine.events import Event
from loop_ls.engine.money.loop_account import LoopCap
from loop_ls.formats.settings.enhance import Knobs
from loop_ls.text.json_value import JsonObject

#: How often a void trial is made again.
AGAIN = 2


@dataclass(frozen=True, slots=True)
class TrialCase:
    """One input. `parameters` are those of the workflow besides it; `held`: no plan may see it."""

    name: str
    input: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    held: bool = False


class TrialChecks(Protocol):
    """The declared checks of a case, on what a trial left. `decides`: one of them can fail it."""

    def decides(self, case: TrialCase) -> bool: ...

    async def checked(
        self, case: TrialCase, place: Place, facts: Sequence[Event], outcome: Outcome
    ) -> Sequence[CheckOutcome]: ...


class NoChecks:
    """Where none are declared, a run that is clean passes."""

    def decides(self, case: TrialCase) -> bool:
        return False

    async def checked(
        self, case: TrialCase, place: Place, facts: Sequence[Event], outcome: Outcome
    ) -> Sequence[CheckOutcome]:
        return ()


@dataclass(frozen=True, slots=True)
class Trial:
    """How a trial ended. `ended` tells that nothing more can be tried: the money is spent."""

    case: str
    outcome: Literal["pass", "fail", "void"]
    output: str = ""
    usd: float = 0.0
    failures: tuple[FailedStep, ...] = ()
    ran: tuple[str, ...] = ()
    ended: bool = False
    items: Mapping[str, int] = field(default_factory=dict)
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failed_items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class RecordedCase(TypedDict):
    """A case as the start records it."""

    name: str
    input: str | None
    parameters: dict[str, str]
    held: bool


class RecordedEvidence(TypedDict):
    """What a start records of cases and checks: the files by their SHA-256, and the texts of both kinds."""

    cases: list[RecordedCase]
    texts: NotRequired[dict[str, str]]
    files: NotRequired[dict[str, str]]


class TrialRecord(TypedDict):
    """A trial in the record: an `Observed`, the fields of each `TrialCheck`, and US dollars."""

    observed: JsonObject
    outcome: Literal["pass", "fail", "void"]
    usd: float
    judge_usd: float
    spent: float
    checks: list[JsonObject]
    ended: bool


@dataclass
class Trials:
    """Makes trials. `made` counts all of them in this loop. `ran_at_first`: what ran in round 1, by case;
    `items_at_first`: how many items its loops had at least, `listed_at_first` those that they always had, and
    `failed_items_at_first` what ever failed of its items."""

    plan: Plan
    knobs: Knobs
    course: EnhanceMemory
    recorder: Recorder
    models: Models
    run_workflow: RunWorkflow
    facts: Callable[[], Awaitable[Sequence[Event]]]
    checks: TrialChecks
    open: Callable[[str], WorkingCopy]
    bundle: Bundle = ALONE
    made: int = 0
    ran_at_first: dict[str, frozenset[str]] = field(default_factory=dict)
    items_at_first: dict[str, Mapping[str, int]] = field(default_factory=dict)
    listed_at_first: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    failed_items_at_first: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    _opened: dict[str, WorkingCopy] = field(default_factory=dict)

    @property
    def left(self) -> int:
        return self.knobs.max_trials - self.made

    async def try_on(self, turn: Turn, text: str, case: TrialCase, number: int) -> Trial:
        """Trial `number` of the round, again where it is void. Raises `Stopped`."""
        for again in range(AGAIN + 1):
            name = f"trial-{number}" if again == 0 else f"trial-{number}.{again + 1}"
            trial = await self._once(turn, text, case, turn.place.element(name))
            self.made += 1
            if trial.outcome != "void" or trial.ended or self.left <= 0:
                break
        if trial.outcome != "void" and turn.number == 1:
            self.ran_at_first[case.name] = self.ran_at_first.get(case.name, frozenset()) | frozenset(trial.ran)
            known = self.items_at_first.get(case.name, {})
            least = {name: min(count, known.get(name, count)) for name, count in trial.items.items()}
            self.items_at_first[case.name] = {**known, **least}
            self._remember_items(case.name, trial)
        return trial

    async def _once(self, turn: Turn, text: str, case: TrialCase, place: Place) -> Trial:
        key = place.part("trial")
        known = cast("TrialRecord | None", self.recorder.recall(key))
        if known is None:
            known = await self._made(turn, text, case, place, key)
        observed = observed_type().validate_python(known["observed"])
        return Trial(
            case.name,
            known["outcome"],
            observed.output,
            known["usd"],
            observed.failures,
            observed.ran,
            known["ended"],
            observed.items,
            observed.listed,
            observed.failed_items,
        )

    async def _made(self, turn: Turn, text: str, case: TrialCase, place: Place, key: str) -> TrialRecord:
        costs = LoopCosts.of(await self.facts(), self.knobs)
        texts = {**self.plan.texts, **self.bundle.apart(text)}
        plan = replace(self.plan, texts=texts, input=case.input, parameters=dict(case.parameters))
        outcome, ended = Outcome("budget"), costs.exhausted
        if not ended:
            try:
                outcome = await self.run_workflow(plan, replace(turn, place=place), self.recorder, self.models)
            except LoopCap:
                ended = True

        async def work() -> TrialRecord:  # inside of a call all facts of the run are in the record
            return await self._judged(turn, text, case, place, outcome, ended)

        return await self.recorder.call(key, work, lambda known: [self._told(turn, case, place, known)])

    async def _judged(
        self, turn: Turn, text: str, case: TrialCase, place: Place, outcome: Outcome, ended: bool
    ) -> TrialRecord:
        facts = await self.facts()
        observed = self._observed(turn, text, case, place, facts, outcome)
        checked = () if ended else await self.checks.checked(case, place, facts, outcome)
        own = [one for one in facts if str(one.body.get("place", "")).startswith(f"{place.key}/")]
        judged = LoopCosts.of(facts, self.knobs).rounds
        spent = LoopCosts.of(await self.facts() if checked else facts, self.knobs)
        void = ended or is_outside(observed.failures)
        if not void:
            observed = replace(observed, failures=(*observed.failures, *_failed_checks(turn, case, checked)))
        return {
            "observed": observed_type().dump_python(observed),
            "outcome": "void" if void else _outcome(observed, checked, self.knobs),
            "usd": float(LoopCosts.of(own, self.knobs).rounds),
            "judge_usd": float(spent.rounds - judged),
            "spent": float(spent.spent),
            "checks": [
                TrialCheck(name=one.check.name, verdict=one.verdict, reason=one.reason).model_dump() for one in checked
            ],
            "ended": ended,
        }

    def _told(self, turn: Turn, case: TrialCase, place: Place, known: TrialRecord) -> Fact:
        observed = observed_type().validate_python(known["observed"])
        told = TrialFinished(
            round=turn.number,
            max_rounds=self.knobs.max_rounds,
            spent_usd=known["spent"],
            cap_usd=self.knobs.budget_cap_usd,
            case=case.name,
            outcome=known["outcome"],
            held=case.held,
            failed=[f"{one.step}: {one.kind}" for one in observed.failures],
            checks=[TrialCheck.model_validate(one) for one in known["checks"]],
            usd=known["usd"],
            judge_usd=known["judge_usd"],
            run=place.key,
        )
        return told.fact(turn.place)

    def _remember_items(self, case: str, trial: Trial) -> None:
        listed, failed = self.listed_at_first.setdefault(case, {}), self.failed_items_at_first.setdefault(case, {})
        for name, items in trial.listed.items():
            listed[name] = listed.get(name, frozenset(items)) & frozenset(items)
        for name, items in trial.failed_items.items():
            failed[name] = failed.get(name, frozenset()) | frozenset(items)

    def _failed_items(self, case: TrialCase) -> Mapping[str, tuple[str, ...]]:
        """The items of a case that failed in some trial of round 1 and were there in each: one that comes and goes by
        itself may be gone later, too."""
        always = self.listed_at_first.get(case.name, {})
        failed = self.failed_items_at_first.get(case.name, {})
        return {name: tuple(sorted(items & always.get(name, frozenset()))) for name, items in failed.items()}

    def _observed(
        self, turn: Turn, text: str, case: TrialCase, place: Place, facts: Sequence[Event], outcome: Outcome
    ) -> Observed:
        copy = self._opened.get(text)
        if copy is None:
            copy = self._opened[text] = self.open(text)
        expected = self.ran_at_first.get(case.name, frozenset()) if turn.number > 1 else frozenset()
        below = [one for one in facts if str(one.body.get("place", "")).startswith(f"{place.key}/")]
        observed = observe(
            turn.number,
            place.key,
            below,
            copy.document,
            outcome.output,
            baseline=self.course.baseline,
            ran=expected,
            workspace=copy.workspace,
            items=self.items_at_first.get(case.name, {}) if turn.number > 1 else {},
            failed_items=self._failed_items(case) if turn.number > 1 else {},
        )
        if outcome.failure is not None and not observed.failures:
            error = {"code": outcome.failure.code, "message": outcome.failure.message}
            whole = FailedStep(turn.number, self.plan.name, "step_error", "execution", error=error)
            observed = replace(observed, failures=(whole,), successful=False)
        return observed


def _failed_checks(turn: Turn, case: TrialCase, checked: Sequence[CheckOutcome]) -> list[FailedStep]:
    return [
        failed_step(turn.number, one.check, case.name, one.verdict, one.reason)
        for one in checked
        if one.fails and not one.void
    ]


def _outcome(observed: Observed, checked: Sequence[CheckOutcome], knobs: Knobs) -> Literal["pass", "fail", "void"]:
    """Void where nothing but judges failed."""
    if any(one.fails and not one.void for one in checked):
        return "fail"
    if not has_converged(observed, knobs.convergence_mode):
        return "fail"
    return "void" if any(one.fails and one.void for one in checked) else "pass"
