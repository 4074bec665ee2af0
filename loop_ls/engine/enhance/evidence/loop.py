"""Enhance loops with evidence: a text is tried on cases, a plan is tried from memory, and written when it is better.

A round is a text: the first is the file as it is, each further one what a plan makes of the best text so far. The
document is changed on acceptance only, so at every moment it holds the best text that is known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal, cast

from loop_ls.contract.facts.enhance import (
    CandidateDecided,
    DecidedBy,
    Evidence,
    FailureReport,
    HoldoutLooked,
    RoundStarted,
)
from loop_ls.engine.core.loop_driver import Turn, Verdict
from loop_ls.engine.core.ports import Recorder
from loop_ls.engine.enhance.evidence.statistics import lower_bound
from loop_ls.engine.enhance.evidence.tally import (
    Against,
    Tally,
    against,
    every_case_passes,
    held_out_passes,
    in_order,
    progress,
    screened,
    wanted_e,
)
from loop_ls.engine.enhance.evidence.trials import Trial, TrialCase, Trials
from loop_ls.engine.enhance.judge import EnhanceJudge, RecordedRound
from loop_ls.engine.enhance.plan.propose import Proposed
from loop_ls.engine.enhance.report.costs import LoopCosts
from loop_ls.engine.enhance.report.failures import FailedStep, Observed, independent, observed_type
from loop_ls.engine.enhance.report.limits_told import told_of_limit, told_of_trials
from loop_ls.engine.enhance.report.observe import feedback_in, feedback_since_plan
from loop_ls.engine.events import Event
from loop_ls.formats.settings.enhance import Knobs
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import Json, JsonObject

#: How often a loop looks at the held-out cases: each look tells something of them.
LOOKS = 2
_UNTRUE = "The test cases or checks were changed while they were in use."

Stop = Literal["budget", "void"]
Held = Literal["passes", "fails", "untried"]


@dataclass(frozen=True)
class TriedText:
    """A text with its trials. `proposed` is the plan that it comes from; None: the file as it was. `stop`: why no
    more trials could be made."""

    number: int
    text: str
    tally: Tally = field(default_factory=Tally)
    trials: tuple[Trial, ...] = ()
    proposed: Proposed | None = None
    screened: bool = False
    stop: Stop | None = None

    @property
    def output(self) -> str:
        """That of the last trial that passed, else of the last one."""
        return next((one.output for one in reversed(self.trials) if one.outcome == "pass"), self._last)

    @property
    def _last(self) -> str:
        return self.trials[-1].output if self.trials else ""

    def observed(self) -> Observed:
        """What failed in any of its trials, each failure once, with the cases that it came up in."""
        found: dict[tuple[str, str, str], tuple[FailedStep, list[str]]] = {}
        for trial in self.trials:
            for one in independent(trial.failures) if trial.outcome == "fail" else ():
                key = (one.step, one.kind, one.verifier.criterion)
                found.setdefault(key, (replace(one, round=self.number), []))[1].append(trial.case)
        failures = tuple(
            replace(one, feedback=(*one.feedback, _in_cases(names, len(self.trials)))) for one, names in found.values()
        )
        return Observed(self.number, failures, output=self.output, successful=self.tally.passes > 0)


def _in_cases(names: Sequence[str], trials: int) -> str:
    listed = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
    return f"in {len(names)} of {trials} trials, on {listed}"


class TriedRound(RecordedRound):
    """`affordable`: another text can be planned and tried."""

    affordable: bool


@dataclass
class EvidenceLoop:
    """Body and judge of such a loop. `truth` answers whether the cases and checks are as they were at the start."""

    plain: EnhanceJudge
    trials: Trials
    cases: tuple[TrialCase, ...]
    recorder: Recorder
    facts: Callable[[], Awaitable[Sequence[Event]]]
    knobs: Knobs
    truth: Callable[[], Awaitable[bool]]
    texts: dict[int, TriedText] = field(default_factory=dict)
    next: TriedText | None = None
    best: TriedText | None = None
    first: TriedText | None = None
    looks: int = 0
    held_results: dict[int, tuple[int, int]] = field(default_factory=dict)  # of texts, by round: passes and trials
    looked: Stop | None = None  # what ended the last look at the held-out cases before its end
    because: str = ""

    @property
    def seen(self) -> tuple[TrialCase, ...]:
        return tuple(case for case in self.cases if not case.held)

    @property
    def held(self) -> tuple[TrialCase, ...]:
        return tuple(case for case in self.cases if case.held)

    # -- body --------------------------------------------------------------------------------------

    async def run(self, turn: Turn) -> str:
        text = await self._tried(turn)
        return text.output

    async def _tried(self, turn: Turn) -> TriedText:
        """The text of this round with its trials; a replay takes them from the record."""
        if turn.number in self.texts:
            return self.texts[turn.number]
        now = self.next or TriedText(turn.number, self.plain.course.text)
        self.plain.course.texts[turn.number] = now.text
        common = self.plain.common(turn.number, self.plain.planner.spent)
        started = RoundStarted(**common, text_sha256=text_hash(now.text))
        await self.recorder.record(turn.place.part("round"), [started.fact(turn.place)], answer=now.text)
        names = in_order([case.name for case in self.seen], self.best.tally if self.best else None)
        cases = [next(case for case in self.seen if case.name == name) for name in names]
        while now.stop is None and not now.screened and progress(now.tally, len(cases), self.knobs) == "more":
            now = await self._with_trial(turn, now, cases)
        self.texts[turn.number] = now
        return now

    async def _with_trial(self, turn: Turn, now: TriedText, cases: Sequence[TrialCase]) -> TriedText:
        if self.trials.left <= 0:
            return replace(now, stop="budget")
        case = cases[now.tally.trials % len(cases)]
        trial = await self.trials.try_on(turn, now.text, case, len(now.trials) + 1)
        if trial.outcome == "void":
            return replace(now, stop="budget" if trial.ended else "void")
        tally = now.tally.with_trial(case.name, trial.outcome == "pass", trial.usd)
        out = self.best is not None and screened(tally, self.best.tally, len(cases), self.knobs)
        return replace(now, tally=tally, trials=(*now.trials, trial), screened=out)

    # -- judge -------------------------------------------------------------------------------------

    async def judge(self, turn: Turn, output: str) -> Verdict:
        now = await self._tried(turn)
        if self.first is None:
            self.first = now
        if not await self._is_true(turn, "truth"):
            return await self._ended(turn, "void", _UNTRUE)
        observed = now.observed()
        by, case = self._against(now)
        proven = by is None and self._is_proven(now)
        held = await self._on_held_out(turn, now) if proven else "untried"
        if held != "untried" and not await self._is_true(turn, "truth-held"):
            return await self._ended(turn, "void", _UNTRUE)
        rejected = await self._rejected(turn)
        by = _spoken_against(now, by, proven, held, bool(rejected))
        observed = replace(observed, failures=(*observed.failures, *rejected))
        converged = proven and held == "passes" and not rejected
        seen = await self._seen(turn, now, observed, by, case, converged)
        self.plain.planner.spent = Decimal(seen["spent"])
        self.plain.course.see(turn.number, observed)
        if (exit_ := await self._taken(turn, now, by, FailureReport.model_validate(seen["report"]))) is not None:
            return exit_
        if converged and self.best is now:
            return await self._converged(turn, now)
        if proven and held == "untried" and not rejected:
            return await self._ended(turn, *self._unlooked(now))
        if now.stop == "void":
            return await self._ended(turn, "void", "A trial failed repeatedly: this version could not be evaluated.")
        if now.stop == "budget" or not seen["affordable"]:
            return await self._ended(turn, "budget", self._limit("budget"))
        if turn.number >= self.knobs.max_rounds:
            return await self._ended(turn, "max_rounds", self._limit("max_rounds"))
        return await self._planned(turn)

    def _unlooked(self, now: TriedText) -> tuple[str, str]:
        """Why a text that is proven on the seen cases was not tried on the others, and what follows from it."""
        left = " and was not written" if now.proposed is not None else ""
        told = (
            f"Round {now.number} has the evidence on the seen test cases, but was not tried on all held-out ones{left}"
        )
        if self.looked == "void":
            return "void", f"{told}: a trial on them failed repeatedly."
        if self.looked == "budget":
            return "budget", f"{told}. {self._limit('budget')}"
        return "max_rounds", f"{told}: a loop uses them at most {LOOKS} times. Start it again with new held-out ones."

    def _limit(self, reason: str) -> str:
        if reason == "budget" and self.trials.left <= 0:
            return told_of_trials(self.knobs)
        return told_of_limit(reason, self.knobs, float(self.plain.planner.spent))

    async def _converged(self, turn: Turn, now: TriedText) -> Verdict:
        if told := await self.plain.changed_meanwhile(turn, now.text):
            self.because = told
            return Verdict("no", exit="file_changed")
        return Verdict("yes", exit="converged")

    def _against(self, now: TriedText) -> tuple[DecidedBy | None, str | None]:
        """What speaks against taking the text; nothing does against the first."""
        if self.best is None:
            return None, None
        if now.screened:
            return "screen", None
        if now.stop is not None:
            return "unfinished", None
        found: tuple[Against, str | None] | None = against(now.tally, self.best.tally, self.knobs)
        return (None, None) if found is None else found

    async def _rejected(self, turn: Turn) -> tuple[FailedStep, ...]:
        """What people have rejected while the text of this round was tried: no figure outweighs that."""

        async def work() -> list[Json]:
            said = feedback_in(await self.facts(), turn.number)
            return [{"step": one.step or "", "text": one.text} for one in said if one.negative]

        found = cast("list[dict[str, str]]", await self.recorder.call(turn.place.part("rejected"), work))
        name = self.plain.plan.name
        return tuple(
            FailedStep(turn.number, one["step"] or name, "user_rejected", "execution", feedback=(one["text"],))
            for one in found
        )

    async def _is_true(self, turn: Turn, when: str) -> bool:
        async def work() -> Json:
            return await self.truth()

        return bool(await self.recorder.call(turn.place.part(when), work))

    def _is_proven(self, now: TriedText) -> bool:
        return progress(now.tally, len(self.seen), self.knobs) == "proven" and every_case_passes(now.tally)

    async def _on_held_out(self, turn: Turn, now: TriedText) -> Held:
        """How a text that is proven on the seen cases does on the others. A loop looks at them twice at most."""
        if not self.held:
            return "passes"
        if self.looks >= LOOKS:
            return "untried"
        self.looks += 1
        passed = of = 0
        for case in self.held * self.knobs.holdout_runs:
            if self.trials.left <= 0:
                self.looked = "budget"
                return "untried"
            trial = await self.trials.try_on(turn, now.text, case, len(now.trials) + of + 1)
            if trial.outcome == "void":
                self.looked = "budget" if trial.ended or self.trials.left <= 0 else "void"
                return "untried"
            passed, of = passed + (trial.outcome == "pass"), of + 1
        self.held_results[turn.number] = passed, of
        common = self.plain.common(turn.number, self.plain.planner.spent)
        looked = HoldoutLooked(**common, passed=passed, of=of)
        await self.recorder.record(turn.place.part("holdout"), [looked.fact(turn.place)])
        return "passes" if held_out_passes(passed, of) else "fails"

    async def _seen(
        self, turn: Turn, now: TriedText, observed: Observed, by: DecidedBy | None, case: str | None, converged: bool
    ) -> TriedRound:
        """The report of the round with the facts that follow from it: once, whatever the facts say later."""

        async def work() -> TriedRound:
            facts = await self.facts()
            costs = LoopCosts.of(facts, self.knobs)
            report = self.plain.report(turn, observed, costs, facts)
            planner_fits = costs.planner_fits(self.plain.planner.estimate(observed))
            return {
                "observed": observed_type().dump_python(observed),
                "report": {**report.model_dump(by_alias=True), "converged": converged},
                "spent": str(costs.spent),
                "affordable": not costs.exhausted and planner_fits,
            }

        def facts(seen: TriedRound) -> list[tuple[str, dict[str, Json]]]:
            common = self.plain.common(turn.number, Decimal(seen["spent"]))
            tally, best = now.tally, self.best
            cases = {name: (sum(each), len(each)) for name, each in tally.results.items()}
            evidence = Evidence(
                **common,
                trials=tally.trials,
                passes=tally.passes,
                e=round(tally.e(self.knobs), 2),
                wanted=round(wanted_e(self.knobs), 2),
                cases=cases,
            )
            decided = CandidateDecided(
                **common,
                accepted=by is None,
                by=by or ("first" if best is None else "probability"),
                case=case,
                passes=tally.passes,
                trials=tally.trials,
                best_round=None if best is None else best.number,
                best_passes=None if best is None else best.tally.passes,
                best_trials=None if best is None else best.tally.trials,
            )
            told = self.plain.report_facts(turn, seen)
            return [evidence.fact(turn.place), decided.fact(turn.place), *told]

        return await self.recorder.call(turn.place.part("report"), work, facts)

    # -- what follows ------------------------------------------------------------------------------

    async def _taken(self, turn: Turn, now: TriedText, by: DecidedBy | None, report: FailureReport) -> Verdict | None:
        """Write an accepted text. A verdict where a person ended the loop over it."""
        course = self.plain.course
        if now.proposed is None:
            self.best = self.best or now
            course.written, course.chosen = self.best.text, self.best.number
            return None
        told = {"decided": f"refused ({by})" if by else "accepted", "passed": _counts(now.tally)}
        entry = {**now.proposed.history(now.number - 1, None, report), **told}
        if by is not None:
            course.history.append({**entry, "applied": []})
            return None
        written = await self.plain.write(turn, now.proposed, 1)
        if written.how == "refused":
            return Verdict("no", exit="apply_rejected")
        course.history.append({**entry, "applied": [op.wire() for op in written.applied]})
        if written.how == "written" and written.text == now.text:
            self.plain.know(written)
            self.best = now
            course.written, course.chosen = now.text, now.number
            return None
        if written.how == "skipped" and written.text == (self.best or now).text:
            return None  # a person goes on without it
        # The document is another one than what was tried: what is known of a text is not known of that one.
        self.because = "The document was changed while a plan for it was tried, so it no longer has that text."
        course.written = written.text
        return Verdict("no", exit="file_changed")

    async def _planned(self, turn: Turn) -> Verdict:
        """Ask for the next text: what a plan makes of the best one."""
        best = self.best
        assert best is not None, "the first version is used"
        text = await self.plain.edit_target.current(turn.place, best.text)
        if text != best.text:
            self.because = "The file was changed while the loop ran, so nothing was planned for its current text."
            return Verdict("no", exit="file_changed")
        report = await self._report_of(turn, best)
        course = self.plain.course
        proposed = await self.plain.planner.propose(
            turn, report, self.plain.open(best.text), self.plain.planning, course
        )
        if isinstance(proposed, str):
            return await self._ended(turn, proposed, self._limit(proposed))
        self.next = TriedText(turn.number + 1, proposed.planned.copy.text, proposed=proposed)
        return Verdict("no")

    async def _report_of(self, turn: Turn, best: TriedText) -> FailureReport:
        """What the planner is told: the failures of the text that it starts from."""

        async def work() -> JsonObject:
            facts = await self.facts()
            costs = LoopCosts.of(facts, self.knobs)
            of = replace(turn, number=best.number)
            observed = replace(best.observed(), feedback=feedback_since_plan(facts))
            return self.plain.report(of, observed, costs, facts).model_dump(by_alias=True)

        return FailureReport.model_validate(await self.recorder.call(turn.place.part("best"), work))

    async def _ended(self, turn: Turn, reason: str, because: str = "") -> Verdict:
        """Improved, where a better text than the first is in the document; else given up, with the reason."""
        self.because = because
        if self.best is None or self.best.number == 1:
            return Verdict("no", exit=reason)
        if told := await self.plain.changed_meanwhile(turn, self.best.text):
            self.because = f"{because} {told}".strip()
            return Verdict("no", exit="file_changed")
        return Verdict("no", exit="improved")

    def summary(self) -> str:
        """How the loop ended, in numbers: the best text against the first."""
        if self.best is None or self.first is None:
            return self.because
        best, first = self.best, self.first
        told = f"{_counts(best.tally)} trials passed"
        if best.number != first.number:
            told += f" after round {best.number - 1}'s plan, {_counts(first.tally)} before"
        sure = lower_bound(*best.tally.counts, self.knobs.confidence)
        told += f": at least {sure:.0%} would, with {self.knobs.confidence:.0%} confidence."
        if not self.held:
            told += " No test case was held out, so the plans may fit only these test cases."
        elif best.number in self.held_results:
            told += " On the held-out ones {} of {} trials passed.".format(*self.held_results[best.number])
        else:
            told += " It was not tried on the held-out test cases."
        if loose := [case.name for case in self.cases if not self.trials.checks.decides(case)]:
            told += f" {_not_checked(loose, len(self.cases))}"
        return f"{self.because} {told}".strip()


def _spoken_against(now: TriedText, by: DecidedBy | None, proven: bool, held: Held, rejected: bool) -> DecidedBy | None:
    """What speaks against a text in the end."""
    if rejected and now.proposed is not None:
        return "rejected"
    if held == "untried" and proven and now.proposed is not None:
        return "unlooked"
    return "holdout" if held == "fails" else by


def _not_checked(names: Sequence[str], of: int) -> str:
    """What a trial shows where no declared check can fail it."""
    on = "any test case" if len(names) == of else ", ".join(f"`{name}`" for name in names)
    return f"No check can fail a trial on {on}: it passes whenever its run is clean."


def _counts(tally: Tally) -> str:
    return f"{tally.passes} of {tally.trials}"
