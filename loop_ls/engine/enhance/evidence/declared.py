"""Declared checks in a trial: what it left, judged by the checks of its case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loop_ls.engine.checks.evaluate import Evaluators, evaluated
from loop_ls.engine.checks.outcome import Outcome as CheckOutcome
from loop_ls.engine.checks.outcome import undecided
from loop_ls.engine.checks.recorded_result import CheckedText, RecordedResult
from loop_ls.engine.checks.run_cost import known_cost
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.enhance.evidence.trials import TrialCase
from loop_ls.engine.enhance.report.traces import traces
from loop_ls.engine.events import Event
from loop_ls.formats.checks.model import Case, Check, Checks, checks_of
from loop_ls.index.document import Document

#: Types that no trial can judge: programs and judges of their own are not asked from inside of a trial.
NOT_IN_TRIALS = frozenset({"command", "llm-rubric"})


@dataclass(frozen=True)
class DeclaredChecks:
    """`cases` by name. `document` is the workflow, whose names stay in every text of the loop."""

    checks: Checks
    cases: Mapping[str, Case]
    document: Document
    means: Evaluators

    def every(self) -> tuple[Check, ...]:
        """The checks of all cases."""
        return tuple(check for case in self.cases.values() for check in checks_of(self.checks, case))

    def decides(self, case: TrialCase) -> bool:
        return any(
            one.severity == "error" and not one.optional for one in checks_of(self.checks, self.cases[case.name])
        )

    async def checked(
        self, case: TrialCase, place: Place, facts: Sequence[Event], outcome: Outcome
    ) -> Sequence[CheckOutcome]:
        listed = checks_of(self.checks, self.cases[case.name])
        recorded = recorded_result(place, facts, self.document, outcome)
        variables = {**case.parameters, "input": case.input or ""}
        return await evaluated(listed, recorded, self.means, variables)


def sought_by(checks: Iterable[Check]) -> tuple[str, ...]:
    """Texts that checks look for as a whole and hide: a workflow that holds one has learnt the answer by heart."""
    whole = ("equals", "regex", "llm-rubric")
    return tuple(dict.fromkeys(one.text for one in checks if one.type in whole and not one.reveal))


class OnlyTexts:
    """Nothing but texts is judged. A start with checks that need more is refused before."""

    async def command(self, check: Check, looked: CheckedText) -> CheckOutcome:
        return undecided(check, "trials do not run programs")

    async def rubric(self, check: Check, looked: CheckedText) -> CheckOutcome:
        return undecided(check, "trials do not call a judge")


def recorded_result(place: Place, facts: Sequence[Event], document: Document, outcome: Outcome) -> RecordedResult:
    """What the run below a place left."""
    below = [one for one in facts if str(one.body.get("place", "")).startswith(f"{place.key}/")]
    found = traces(place.key, below, document)
    ended = {name: trace for name, trace in found.items() if trace.ended in ("completed", "skipped")}
    outputs = {str(one.body.get("place")): str(one.body.get("output", "")) for one in below if one.kind == "iteration"}
    return RecordedResult(
        result=None if outcome.failure is not None else outcome.output,
        steps={name: None if trace.ended == "skipped" else trace.output for name, trace in ended.items()},
        loops={name: tuple(outputs[turn] for _, turn in sorted(trace.turns.items())) for name, trace in found.items()},
        usd=known_cost(one.body for one in below if one.kind == "call"),
        milliseconds=1000 * (below[-1].at - below[0].at) if below else 0.0,
    )
