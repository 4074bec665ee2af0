"""The judge of an enhance loop: looks at the round, decides, and has the workflow changed for the next one.

Everything that costs or may differ goes through the recorder; a replay after a restart takes the same way.
Order of decisions: `report.decide`. What the planner may do: `plan.apply`. Where the text lives: `edit_target`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Literal, TypedDict, cast

from loop_ls.contract.amounts import count
from loop_ls.contract.endings import failure_words
from loop_ls.contract.facts.enhance import (
    BackingOff,
    Change,
    Choice,
    FailedStepLine,
    FailureReport,
    LoopFixationWarning,
    LoopPaused,
    OpRejected,
    ReportFailure,
    ReportReady,
    RoundFinished,
    RoundNumbers,
)
from loop_ls.contract.facts.kinds import Judged, Warned
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Turn, Verdict
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Recorder, Stopped
from loop_ls.engine.enhance.edit_target import Ack, EditTarget, Held, Sent
from loop_ls.engine.enhance.files_on_disk import FilesOnDisk, told_of
from loop_ls.engine.enhance.ops.operations import Operation
from loop_ls.engine.enhance.plan.apply import Errors, OtherFile, Planning
from loop_ls.engine.enhance.plan.bundle import ALONE, Bundle
from loop_ls.engine.enhance.plan.plan_context import PlanContext
from loop_ls.engine.enhance.plan.propose import Planner, Proposed
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy
from loop_ls.engine.enhance.report.costs import LoopCosts
from loop_ls.engine.enhance.report.decide import Decision, Situation, back_off, decide, next_previous
from loop_ls.engine.enhance.report.failed_checks import failed_checks
from loop_ls.engine.enhance.report.failures import (
    FailedStep,
    Observed,
    has_converged,
    independent,
    is_outside,
    observed_type,
)
from loop_ls.engine.enhance.report.fingerprint import fingerprint
from loop_ls.engine.enhance.report.observe import feedback_in, observe
from loop_ls.engine.enhance.report.report import Mask, Ran, failure_report
from loop_ls.engine.enhance.rounds import EnhanceMemory, run_places
from loop_ls.engine.events import Event
from loop_ls.engine.events.event import utc
from loop_ls.formats.checks.model import Check
from loop_ls.formats.settings.enhance import Knobs
from loop_ls.text.json_value import Json, JsonObject, from_fields

Word = Literal["continue", "skip", "stop"]
#: What a person can do about a text that cannot be run.
_TYPED = "Fix it and continue, or continue without it: the next round then runs the last readable version."


class RecordedRound(TypedDict):
    """What a round was, in the record: an `Observed`, a `FailureReport`, US dollars."""

    observed: JsonObject
    report: JsonObject
    spent: str


class DecidedRound(RecordedRound):
    """And the `Decision` that it led to."""

    decision: JsonObject


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a proposal. `text` is what the document holds now. `dropped`: nothing of it fits that any more;
    `refused`: a person ended the loop over it. `tries` is the number of its last edit."""

    how: Literal["written", "skipped", "dropped", "refused"]
    text: str
    proposed: Proposed
    tries: int

    @property
    def applied(self) -> tuple[Operation, ...]:
        return self.proposed.planned.accepted if self.how == "written" else ()


@dataclass
class EnhanceJudge:
    """`facts` are those of the run so far; `open` makes the copy of a text in its workspace; `checks` are the
    declared ones that decide each round, by name. `bundle` are the files that plans may edit, `known_in` what a plan
    may build on in one of them. `unreadable` says why a text cannot be run, and where, empty for one that can."""

    plan: Plan
    knobs: Knobs
    course: EnhanceMemory
    recorder: Recorder
    facts: Callable[[], Awaitable[Sequence[Event]]]
    open: Callable[[str], WorkingCopy]
    known: PlanContext
    errors: Errors
    planner: Planner
    edit_target: EditTarget
    mask: Mask
    files: FilesOnDisk
    checks: Mapping[str, Check] = field(default_factory=dict)
    bundle: Bundle = ALONE
    known_in: Callable[[str], PlanContext] = lambda path: PlanContext()
    unreadable: Callable[[str], str] = lambda text: ""

    async def judge(self, turn: Turn, output: str) -> Verdict:
        seen = await self._seen(turn, output)
        observed = observed_type().validate_python(seen["observed"])
        decision = from_fields(Decision, seen["decision"])
        course = self.course
        course.see(turn.number, observed)
        self.planner.spent = Decimal(seen["spent"])
        if decision.fixation:
            await self._warn(turn, observed)
        await self._offer_lenient(turn, observed)
        course.previous = next_previous(observed, course.previous)
        match decision.next:
            case "converged":
                course.because = await self.changed_meanwhile(turn, course.texts[turn.number])
                return Verdict("no", exit="file_changed") if course.because else Verdict("yes", exit="converged")
            case "gave_up":
                return Verdict("no", exit=decision.reason)
            case "back_off":
                return await self._back_off(turn, observed)
            case "plan":
                course.back_offs = 0
                exit_ = await self._improve(turn, FailureReport.model_validate(seen["report"]))
                return Verdict("no", exit=exit_)

    async def changed_meanwhile(self, turn: Turn, tried: str) -> str:
        """Why what was tried says nothing of the files as they are now; empty: they hold it."""
        moved = await self.files.moved(turn.place, tried, [*self.course.texts.values(), self.course.text])
        return told_of(moved) if moved else ""

    # -- reporting -------------------------------------------------------------------------------

    async def _seen(self, turn: Turn, output: str) -> DecidedRound:
        """What the round was, what it led to and what is spent: once, whatever the facts say later."""

        async def work() -> DecidedRound:
            facts = await self.facts()
            costs = LoopCosts.of(facts, self.knobs)
            observed = self._observed(turn, output, facts)
            decision = decide(
                Situation(
                    observed,
                    self.knobs.convergence_mode,
                    self.course.previous,
                    self.knobs.on_fixation,
                    not costs.exhausted and costs.planner_fits(self.planner.estimate(observed)),
                    self.knobs.max_rounds,
                )
            )
            return {
                "observed": observed_type().dump_python(observed),
                "decision": asdict(decision),
                "report": self.report(turn, observed, costs, facts).model_dump(by_alias=True),
                "spent": str(costs.spent),
            }

        return await self.recorder.call(turn.place.part("report"), work, lambda seen: self.report_facts(turn, seen))

    def _observed(self, turn: Turn, output: str, facts: Sequence[Event]) -> Observed:
        """The first run that is not clean, else the last one: all of them have to be."""
        observed = Observed(turn.number)
        for place in run_places(turn, self.knobs.confirm_runs):
            observed = self._observed_at(place, turn, output, facts)
            if not has_converged(observed, self.knobs.convergence_mode):
                break
        return observed

    def _observed_at(self, place: Place, turn: Turn, output: str, facts: Sequence[Event]) -> Observed:
        recall = self.recorder.recall
        copy = self.open(self.course.texts[turn.number])
        document = copy.document
        truncated = bool(recall(place.part("truncated")))
        observed = observe(
            turn.number,
            place.key,
            facts,
            document,
            output,
            feedback_in(facts, turn.number),
            truncated,
            self.course.baseline,
            self.course.ran_at_first,
            copy.workspace,
            self.course.items_at_first,
            self.course.failed_items_at_first,
        )
        if not is_outside(observed.failures):
            failed = failed_checks(turn.number, place.key, facts, document, self.checks)
            observed = replace(observed, failures=(*observed.failures, *failed))
        error = cast("dict[str, Json] | None", recall(place.part("error")))
        if error is not None and not observed.failures:
            whole = FailedStep(turn.number, self.plan.name, "step_error", "execution", error=error)
            observed = replace(observed, failures=(whole,), successful=False)
        return observed

    def report(self, turn: Turn, observed: Observed, costs: LoopCosts, facts: Sequence[Event]) -> FailureReport:
        began = [one.at for one in facts if one.kind == "round_started" and one.body.get("round") == turn.number]
        ended = facts[-1].at if facts else 0.0
        copy = self.open(self.course.texts[turn.number])
        ran = Ran(
            loop_id=self.plan.run_id,
            run_id=f"{self.plan.run_id}/{turn.number}",
            uri=copy.document.uri,
            name=self.plan.name,
            workflow_version=copy.document.head.text("version") or "",
            text=str(copy.document.text),
            version=None,
            started_at=utc(began[0] if began else ended),
            ended_at=utc(ended),
        )
        return failure_report(
            ran,
            observed,
            self.knobs.convergence_mode,
            costs.cost(),
            self.course.previous,
            self.knobs.excerpt_chars,
            self.mask,
        )

    def report_facts(self, turn: Turn, seen: RecordedRound) -> list[Fact]:
        report, common = FailureReport.model_validate(seen["report"]), self.common(turn.number, Decimal(seen["spent"]))
        verdict: Literal["yes", "no"] = "yes" if report.converged else "no"
        answer = _failed(report.failures)
        judged = Judged(criterion="failure_report", verdict=verdict, iteration=turn.number, answer=answer, local=True)
        finished = RoundFinished(**common, totals=report.totals, round_usd=report.cost.round_usd)
        ready = ReportReady(
            **common,
            failures=[
                FailedStepLine(
                    id=one.id, step=one.step, kind=one.kind, weight=one.weight, range=one.range, message=_line(one)
                )
                for one in report.failures
            ],
            fingerprint=report.fingerprint,
            converged=report.converged,
            successful=seen["observed"]["successful"] is True,
            report=report,
        )
        told: list[Fact] = [one.fact(turn.place) for one in (finished, ready, judged)]
        return told

    async def _warn(self, turn: Turn, observed: Observed) -> None:
        warning = LoopFixationWarning(
            **self.common(turn.number, self.planner.spent),
            fingerprint=fingerprint(observed.failures) or "",
            previous_round=turn.number - 1,
            repeated_failures=[one.id for one in observed.failures],
            action=self.knobs.on_fixation,
        )
        await self.recorder.record(turn.place.part("fixation"), [warning.fact(turn.place)])

    async def _offer_lenient(self, turn: Turn, observed: Observed) -> None:
        """A step that its `if` rightly skips keeps a strict loop from ever converging: said after round 1."""
        if turn.number > 1 or self.knobs.convergence_mode == "lenient" or not has_converged(observed, "lenient"):
            return
        left = independent(observed.failures)
        if left:
            steps = ", ".join(f"`{one.step}` ({failure_words(one.kind)})" for one in left)
            message = f"strict mode does not accept {steps}; with `convergenceMode: lenient` this round is good enough"
            await self.recorder.record(turn.place.part("lenient"), [Warned(code="lenient", message=message).fact()])

    async def _back_off(self, turn: Turn, observed: Observed) -> Verdict:
        after = [(one.error or {}).get("retry_after") for one in observed.failures]
        asked = max((float(one) for one in after if isinstance(one, int | float)), default=None)
        seconds = back_off(self.knobs.transient_backoff_seconds, self.course.back_offs, asked)
        self.course.back_offs += 1
        because = "; ".join(sorted({one.kind for one in observed.failures}))
        waits = BackingOff(**self.common(turn.number, self.planner.spent), seconds=seconds, because=because)
        await self.recorder.record(turn.place.part("backing_off"), [waits.fact(turn.place)])
        await self.recorder.sleep(turn.place.part("back_off"), seconds)
        return Verdict("no")

    # -- planning and applying -------------------------------------------------------------------

    async def _improve(self, turn: Turn, report: FailureReport) -> str | None:
        """Have the workflow changed. None: the next round can begin; else why the loop gives up."""
        held = await self.edit_target.held(turn.place, self.course.text)
        word, text = await self._until_readable(turn, "before", held, self.course.text)
        match word:
            case "stop":
                return "apply_rejected"
            case "skip":
                self.course.texts[turn.number + 1] = text
                return None
        tries = 0
        while True:
            proposed = await self.planner.propose(turn, report, self.open(text), self.planning, self.course, tries)
            if isinstance(proposed, str):
                return proposed
            written = await self.write(turn, proposed, tries + 1)
            text, tries = written.text, written.tries
            match written.how:
                case "refused":
                    return "apply_rejected"
                case "dropped":
                    continue
                case "written" | "skipped":
                    self._went_on(turn, written, report)
                    return None

    async def write(self, turn: Turn, proposed: Proposed, tries: int) -> Written:
        """Have what was proposed written, after a person's yes where one is asked for. `tries` numbers the edits of
        a round. Raises `Stopped`."""
        text = proposed.start.text
        if self.knobs.pause_between_rounds:
            choice = await self._paused(turn, tries)
            word, text = await self._told(turn, f"pause{tries}", choice, text, text)
            if word != "continue":
                return Written("refused" if word == "stop" else "skipped", text, proposed, tries)
            if text != proposed.start.text:
                proposed = await self._rebased(turn, proposed, text, f"{tries}")
                if not proposed.planned.accepted:  # nothing of it fits what the person made of the text
                    return Written("dropped", text, proposed, tries)
        ack, proposed = await self._sent(turn, proposed, tries)
        while ack.trouble is not None:
            if ack.trouble == "document_invalid":
                held = Held(text, ack.reason)
                word, text = await self._until_readable(turn, f"conflict{tries}", held, text)
            else:
                choice = await self._conflict(turn, ack, proposed, tries)
                word, text = await self._told(turn, f"conflict{tries}", choice, ack.text or text, text)
            match word:
                case "stop":
                    return Written("refused", text, proposed, tries)
                case "skip":
                    return Written("skipped", text, proposed, tries)
            tries += 1
            rebased = await self._rebased(turn, proposed, text, f"{tries}")
            if not rebased.planned.accepted:
                return Written("dropped", text, proposed, tries)
            ack, proposed = await self._sent(turn, rebased, tries)
        self.course.left = text = ack.text or proposed.planned.copy.text
        return Written("written", text, proposed, tries)

    def _went_on(self, turn: Turn, written: Written, report: FailureReport) -> None:
        self.course.texts[turn.number + 1] = written.text
        self.know(written)
        proposed = written.proposed
        entry = proposed.history(turn.number, fingerprint(self.course.observed[turn.number].failures), report)
        self.course.history.append({**entry, "applied": [op.wire() for op in written.applied]})

    def know(self, written: Written) -> None:
        """What was added is known from now on."""
        copy, course = self.open(written.text), self.course
        for op in written.applied:
            document = copy.at(op.file).document
            if op.file:
                course.files[op.file] = course.files[op.file].with_op(op, document)
            else:
                course.baseline = course.baseline.with_op(op, document)

    async def _told(self, turn: Turn, question: str, choice: Choice, known: str, last: str) -> tuple[Word, str]:
        """How it goes on, and what the documents hold after somebody has answered. `last` is the text that runs where
        what they hold cannot be run."""
        word = choice["choice"]
        if word == "stop":
            return word, known
        held = await self._held(turn, question, choice, known)
        again, text = await self._until_readable(turn, question, held, last)
        return (word if again == "continue" else again), text

    async def _held(self, turn: Turn, question: str, choice: Choice, known: str) -> Held:
        """What the documents hold after an answer: who holds them open says so, a file is read."""
        text = choice.get("text")
        if not text and choice["choice"] == "continue":
            return Held(known)  # whoever writes the edit looks for himself
        told = self.bundle.over(known, text) if text else known
        place = replace(turn.place, key=f"{turn.place.key}:{question}")
        return await self.edit_target.held(place, told)

    async def _until_readable(self, turn: Turn, question: str, held: Held, last: str) -> tuple[Word, str]:
        """Ask until the text can be run. A person may be in the middle of a word: that is left alone, no round is paid
        for it, and where the loop goes on without it the `last` text that could be read runs."""
        times = 0
        while why := held.trouble or self.unreadable(held.text):
            times += 1
            part = f"{question}:unreadable{times}"
            choice = await self._pause_of(turn, f"{part}:asked", "document_invalid", f"{why}. {_TYPED}")
            if choice["choice"] != "continue":
                return choice["choice"], last
            place = replace(turn.place, key=f"{turn.place.key}:{part}")
            text = choice.get("text")
            held = await self.edit_target.held(place, self.bundle.over(last, text) if text else last)
        return "continue", held.text

    async def _rebased(self, turn: Turn, proposed: Proposed, text: str, number: str) -> Proposed:
        """The same operations on the text as it is now; those that no longer fit are refused like any others."""
        copy = self.open(text)
        planned = self.planning(copy).plan(copy, [op.wire() for op in proposed.planned.accepted])
        common = self.common(turn.number, self.planner.spent)
        refused = [
            OpRejected(**common, op=one.op, target=one.place, reason_code=one.code, message=one.message)
            for one in planned.refused
        ]
        if refused:
            await self.recorder.record(turn.place.part(f"dropped{number}"), [one.fact(turn.place) for one in refused])
        return replace(proposed, planned=planned, start=copy)

    async def _sent(self, turn: Turn, proposed: Proposed, tries: int) -> tuple[Ack, Proposed]:
        """Send the edit; where the document moved on meanwhile, once more on the text as it is now."""
        ack = await self._send(turn, proposed, tries)
        if ack.trouble == "stale" and ack.text is not None:
            rebased = await self._rebased(turn, proposed, ack.text, f"{tries}.again")
            if rebased.planned.accepted:
                return await self._send(turn, rebased, tries, ".again"), rebased
        return ack, proposed

    async def _send(self, turn: Turn, proposed: Proposed, tries: int, again: str = "") -> Ack:
        accepted = proposed.planned.accepted
        changes = f"{len(accepted)} change{'s' if len(accepted) > 1 else ''}"
        sent = Sent(
            plan_id=f"{self.plan.run_id}:{turn.number}:{tries}{again}",
            label=f"Enhance round {turn.number + 1}: {changes}",
            base=proposed.start.text,
            text=proposed.planned.copy.text,
            changes=[Change(op=op.op, target=op.place, reason=op.reason) for op in accepted],
            mask=self.mask,
            bundle=self.bundle,
        )
        place = replace(turn.place, key=f"{turn.place.key}:plan{tries}{again}")
        ack = await self.edit_target.apply(place, sent, self.common(turn.number, self.planner.spent))
        if ack.text is None:
            return ack
        text = self.bundle.over(sent.base, ack.text)
        if ack.trouble is not None and (why := self.unreadable(text)):
            return replace(ack, text=text, trouble="document_invalid", reason=why)
        return replace(ack, text=text)

    async def _paused(self, turn: Turn, tries: int) -> Choice:
        key = turn.place.part("pause:asked" if tries == 1 else f"pause{tries}:asked")
        plan_id = f"{self.plan.run_id}:{turn.number}:{tries}"
        common = self.common(turn.number, self.planner.spent)
        paused = LoopPaused(**common, question=key, reason="between_rounds", plan_id=plan_id)
        return await self._choice(turn, paused, self.knobs.pause_timeout_seconds or None)

    async def _conflict(self, turn: Turn, ack: Ack, proposed: Proposed, tries: int) -> Choice:
        return await self._pause_of(turn, f"conflict{tries}:asked", ack.trouble, ack.reason)

    async def _pause_of(self, turn: Turn, part: str, trouble: str | None, reason: str) -> Choice:
        common, key = self.common(turn.number, self.planner.spent), turn.place.part(part)
        paused = LoopPaused(**common, question=key, reason="conflict", conflict=trouble, failure_reason=reason)
        return await self._choice(turn, paused, None)

    async def _choice(self, turn: Turn, paused: LoopPaused, limit: float | None) -> Choice:
        """Raises `Stopped`."""
        late: Choice = {"choice": "stop", "late": True}
        told = await self.recorder.outside(paused.question, [paused.fact(turn.place)], limit, late)
        choice = told if "choice" in told else late
        if choice.get("late") or (choice["choice"] == "stop" and paused.reason == "between_rounds"):
            raise Stopped
        return choice

    # -- shared ----------------------------------------------------------------------------------

    def common(self, number: int, spent: Decimal) -> RoundNumbers:
        return common(self.knobs, number, spent)

    def planning(self, copy: WorkingCopy) -> Planning:
        return Planning(
            self.known,
            self.course.baseline,
            self.errors,
            self.course.hashes(),
            self.knobs.max_ops_per_round,
            self.knobs.max_edited_steps_per_round,
            {path: OtherFile(self.known_in(path), known) for path, known in self.course.files.items()},
        )


def common(knobs: Knobs, number: int, spent: Decimal) -> RoundNumbers:
    """The numbers that every fact of a round has."""
    return {
        "round": number,
        "max_rounds": knobs.max_rounds,
        "spent_usd": float(spent),
        "cap_usd": knobs.budget_cap_usd,
    }


def _failed(failures: Sequence[ReportFailure]) -> str:
    """What failed in a round, as people say it in one line."""
    told = [f"{one.step}: {failure_words(one.kind)}" for one in failures[:4]]
    more = len(failures) - len(told)
    return "; ".join([*told, *([f"{more} more"] if more else [])]) or "nothing failed"


def _line(failure: ReportFailure) -> str:
    """One line that says what failed."""
    error, verifier, used = failure.error or {}, failure.verifier, failure.iterations
    told = error.get("message") or failure.skip_reason or verifier.reason or verifier.criterion
    if failure.kind == "until_not_met" and used is not None and " " not in verifier.reason.strip():  # a bare verdict
        told = f"`until` is not met after {count(used['used'], 'iteration')}: {verifier.criterion}"
    return (str(told).split("\n", 1)[0] if told else failure_words(failure.kind))[:300]
