"""Declared checks while a run goes on: each is decided right after its step, iteration or run, and journalled.

A replay reads what was decided. A program is started once, a judge is a model call like any other: with a price,
under the limits of the run. In a mock run neither happens; such checks are left out, and the run says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from loop_ls.contract.facts.kinds import Checked, Warned
from loop_ls.engine.checks.declared import declared_checks, judge_of, judges_otherwise
from loop_ls.engine.checks.evaluate import outcomes_of
from loop_ls.engine.checks.outcome import Outcome, feedback, undecided
from loop_ls.engine.checks.programs import outcome_of, recorded_result
from loop_ls.engine.checks.recorded_result import CheckedText, RecordedResult
from loop_ls.engine.checks.rubric import read_rubric_answer, rubric_question
from loop_ls.engine.checks.run_cost import known_cost
from loop_ls.engine.core.errors import in_one_line
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.events import Event
from loop_ls.engine.judges.test_command import Command
from loop_ls.engine.model_calls.ask import Question, answered
from loop_ls.formats.checks.model import Check, TargetKind
from loop_ls.formats.common.target import Target
from loop_ls.text.json_value import JsonObject, from_fields, text_field

#: What a run has cost so far, in dollars; None: a price is unknown.
Spent = Callable[[], Awaitable[float | None]]
#: Reads what has happened in a run so far.
FactsOf = Callable[[str], Awaitable[Sequence[Event]]]


async def no_facts(run_id: str) -> Sequence[Event]:
    return ()


async def _unknown() -> float | None:
    return None


@dataclass(frozen=True, slots=True)
class RunChecks:
    """`judges` are asked about rubrics that name nobody. `elements` are the steps and loops that run; None: all."""

    checks: tuple[Check, ...]
    recorder: Recorder
    models: Models
    folder: str
    judges: tuple[Target, ...] = ()
    mock: bool = False
    spent: Spent = _unknown
    elements: frozenset[str] | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _found: dict[tuple[str, int | None], Outcome] = field(default_factory=dict)

    @property
    def asked(self) -> tuple[Check, ...]:
        """Those that are not left out: a mock run starts no program and asks nobody."""
        return tuple(one for one in self.checks if not self._is_left_out(one))

    def _is_left_out(self, check: Check) -> bool:
        return self.mock and check.type in ("command", "llm-rubric")

    async def after_step(self, place: Place, name: str, output: str | None, kind: TargetKind = "step") -> list[Outcome]:
        """`output` None: it was skipped."""
        return await self._decided(place, self._on(kind, (name,)), RecordedResult(steps={name: output}))

    async def after_iteration(
        self, place: Place, loops: Sequence[str], number: int, output: str, alone: bool = False
    ) -> list[Outcome]:
        """`loops` are the names of the one loop; `alone`: its iterations give the result of the run."""
        recorded = RecordedResult(output, loops=dict.fromkeys(loops, (output,)))
        checks = [*self._on("loop", loops), *(self._on("result") if alone else ())]
        return await self._decided(place, checks, recorded, iteration=number)

    async def at_end(self, place: Place, result: str | None, began: float, alone: bool = False) -> None:
        """`began`: seconds that had been worked when what is judged began. `alone`: the result was looked at with its
        iteration, if there was one."""
        for check in self.checks:
            named = check.on.name or (alone and check.on.kind == "result")
            if named and self._is_due(check) and not any(name == check.name for name, _ in self._found):
                await self._decided(place, [check], RecordedResult())
        checks = [*(() if alone else self._on("result")), *self._on("run")]
        recorded = RecordedResult(result, milliseconds=(self.recorder.active() - began) * 1000)
        costs = [one for one in checks if one.type == "cost"]
        await self._decided(place, [one for one in checks if one not in costs], recorded)
        if costs:  # last: what a rubric cost its judge belongs to the run
            await self._decided(place, costs, replace(recorded, usd=await self.spent()))

    def failure(self) -> Failure | None:
        """What all that was decided comes to: None where nothing fails."""
        failing = [one for one in self._found.values() if one.fails]
        if not failing:
            return None
        count = len(self._found)
        told = in_one_line(" ".join(one.split()) for one in feedback(failing))
        message = f"{len(failing)} of {count} {'check' if count == 1 else 'checks'} failed: {told}"
        return Failure("verifier_fail", message, "fix what the checks report", reason="verification")

    def _is_due(self, check: Check) -> bool:
        return self.elements is None or not check.on.name or check.on.name in self.elements

    def _on(self, kind: TargetKind, names: Container[str] = ("",)) -> list[Check]:
        return [one for one in self.checks if one.on.kind == kind and one.on.name in names]

    async def _decided(
        self, place: Place, checks: Iterable[Check], recorded: RecordedResult, iteration: int | None = None
    ) -> list[Outcome]:
        found: list[Outcome] = []
        for check in checks:
            decided = await self._one(place, check, recorded, iteration)
            for one in decided:  # of a loop its last iteration counts, or each
                self._found[check.name, iteration if check.on.every else None] = one
            found += decided
        return found

    async def _one(
        self, place: Place, check: Check, recorded: RecordedResult, iteration: int | None
    ) -> Sequence[Outcome]:
        key = place.part(f"check:{check.name}")
        known = cast("list[JsonObject] | None", self.recorder.recall(key))
        if known is not None:
            return [from_fields(partial(Outcome, check), one) for one in known]
        if self._is_left_out(check):
            told = f"the check `{check.name}` was skipped: a mock run does not start programs or call models"
            await self.recorder.record(key, [Warned(code="check_left_out", message=told).fact(place)], answer=[])
            return []
        outcomes = await outcomes_of(check, recorded, _Effects(self, place))
        facts = [checked_fact(one, iteration).fact(place) for one in outcomes]
        kept = [
            {"verdict": one.verdict, "reason": one.reason, "score": one.score, "iteration": one.iteration}
            for one in outcomes
        ]
        await self.recorder.record(key, facts, answer=kept)
        return outcomes


def run_checks(
    plan: Plan,
    recorder: Recorder,
    models: Models,
    facts_of: FactsOf = no_facts,
    within: Place | None = None,
    elements: Iterable[str] | None = None,
) -> RunChecks | None:
    """The declared checks of a run, or of the part of it that lies `within`; None: it has none. Raises `Failure`."""
    checks = declared_checks(plan)
    if not checks:
        return None
    return RunChecks(
        checks,
        recorder,
        models,
        plan.root,
        judges_otherwise(plan),
        plan.mock,
        lambda: spent_within(facts_of, plan.run_id, within),
        None if elements is None else frozenset(elements),
    )


async def spent_within(facts_of: FactsOf, run_id: str, within: Place | None) -> float | None:
    """What the calls of a run, or of a part of it, have cost; None: the price of one is unknown."""
    calls = [event.body for event in await facts_of(run_id) if event.kind == "call"]
    return known_cost(body for body in calls if within is None or _is_within(body, within.key))


def _is_within(call: JsonObject, place: str) -> bool:
    """The planner of an enhance loop is asked at the place of its round, and is no part of it; a judge is."""
    found = text_field(call, "place")
    return found.startswith(f"{place}/") or (found == place and call.get("purpose") == "judge")


def checked_fact(outcome: Outcome, iteration: int | None = None) -> Checked:
    check = outcome.check
    return Checked(
        check=check.name,
        type=f"{'not-' if check.negated else ''}{check.type}",
        verdict=outcome.verdict,
        reason=outcome.reason,
        on=check.on.written,
        severity=check.severity,
        weight=check.weight,
        score=outcome.score,
        iteration=iteration,
    )


@dataclass(frozen=True, slots=True)
class _Effects:
    """What checks of one place do to the world, each once per run."""

    run: RunChecks
    place: Place

    async def command(self, check: Check, looked: CheckedText) -> Outcome:
        command = Command(check.words, self.run.folder, check.timeout, self.run.environ, looked.text)
        key = self.place.part(f"check:{check.name}:command")
        return outcome_of(check, await recorded_result(command, self.run.recorder, key))

    async def rubric(self, check: Check, looked: CheckedText) -> Outcome:
        votes = [await self._vote(check, looked, number) for number in range(1, check.votes + 1)]
        counted = [one for one in votes if not one.void]
        if len(counted) * 2 <= len(votes):
            return next(one for one in votes if one.void)
        yes = [one for one in counted if one.verdict == "pass"]
        winners = yes if len(yes) * 2 > len(counted) else [one for one in counted if one.verdict == "fail"]
        if not winners:
            return undecided(check, "the judge's votes are split")
        return winners[0]

    async def _vote(self, check: Check, looked: CheckedText, number: int) -> Outcome:
        key = self.place.part(f"check:{check.name}:vote-{number}")
        nonce = hashlib.sha256(f"{self.run.recorder.run_id}:{key}".encode()).hexdigest()[:8]
        question = Question(
            place=self.place,
            key=key,
            prompt=rubric_question(check.text, looked.text, nonce),
            targets=judge_of(check, self.run.judges),
            temperature=0.0,
            purpose="judge",
            request_place=key,
            shown={**self.place.fields(), "purpose": "judge"},
        )
        try:
            answer = await answered(question, self.run.models, self.run.recorder)
        except Failure as failure:
            return undecided(check, f"the judge did not answer: {failure.message}")
        found = read_rubric_answer(str(answer["text"]))
        if found is None:
            return undecided(check, "the judge gave no verdict: its answer is not `{reason, pass, score}`")
        if found.passed and found.score >= (check.threshold or 0.0):
            return Outcome(check, "pass", found.reason, found.score)
        wanted = f", {check.threshold:g} is needed" if check.threshold else ""
        no = "" if found.passed else "no, "
        return Outcome(check, "fail", f"{found.reason.rstrip()} ({no}score {found.score:g}{wanted})", found.score)
