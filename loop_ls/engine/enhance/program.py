"""An enhance loop as a program of the engine: body, judge and memory for the one loop machine.

A round is a run of the workflow; the judge is the failure report; between rounds a planner proposes and the
editor, or the file, takes the change. A restart spends nothing: the first thing is to wait at the gate.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import cast

from loop_ls.contract.endings import failure_words
from loop_ls.contract.facts.enhance import RoundNumbers
from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.checks.declared import declared_apart
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Limits, LoopParts, Outcome, OutcomeDetails, Turn, drive
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.core.preparer import Problem, Validate
from loop_ls.engine.core.redaction import redact
from loop_ls.engine.enhance.edit_target import EditorTarget, EditTarget, FileTarget, Sent
from loop_ls.engine.enhance.evidence.declared import DeclaredChecks, OnlyTexts, sought_by
from loop_ls.engine.enhance.evidence.loop import EvidenceLoop
from loop_ls.engine.enhance.evidence.trials import NoChecks, RecordedEvidence, TrialCase, Trials
from loop_ls.engine.enhance.files_on_disk import FilesOnDisk
from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.invariants.violations import judged_elsewhere
from loop_ls.engine.enhance.judge import EnhanceJudge, common
from loop_ls.engine.enhance.plan.apply import Errors
from loop_ls.engine.enhance.plan.bundle import Bundle
from loop_ls.engine.enhance.plan.plan_context import PlanContext, maxima
from loop_ls.engine.enhance.plan.prompt import ROOM, SMALL_ROOM
from loop_ls.engine.enhance.plan.propose import Planner
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy
from loop_ls.engine.enhance.report.costs import LoopCosts
from loop_ls.engine.enhance.report.limits_told import told_of_limit
from loop_ls.engine.enhance.report.report import Mask, unfixable
from loop_ls.engine.enhance.rounds import EnhanceMemory, RoundBody
from loop_ls.engine.events import Event
from loop_ls.engine.money.pricing import price_of
from loop_ls.formats.checks.file_format import loop_stem
from loop_ls.formats.checks.model import Check, Checks
from loop_ls.formats.checks.read import read_cases, read_checks
from loop_ls.formats.common.target import Target
from loop_ls.formats.settings.enhance import Knobs, knobs
from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Root, Roots
from loop_ls.index.disk.uris import uri_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.json_value import as_object, from_fields, text_field

#: All facts of a run so far, in order.
Facts = Callable[[str], Awaitable[Sequence[Event]]]

#: Ends that leave the document as the loop made it, whatever `onGiveUp` says.
_NOT_RESTORED = frozenset({"converged", "apply_rejected", "file_changed"})


@dataclass(frozen=True)
class EnhanceProgram:
    """`validate` is the checker's, passed in: the engine knows no rules. `secrets` are texts that are
    never shown, and `data` is the engine's data folder."""

    workflow: WorkflowProgram
    validate: Validate
    facts: Facts
    secrets: Callable[[Plan], Sequence[str]] = lambda plan: ()
    data: Path | None = None

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        """Raises `Stopped` when a person stops the loop, or a pause lasts too long."""
        await recorder.gate()
        loop = _Loop(self, plan, recorder, models)
        await loop.files.at_start()
        outcome = await drive(loop.parts(), recorder)
        return await loop.ended(outcome)


class _Loop:
    """The parts of one loop, put together from its plan."""

    def __init__(self, program: EnhanceProgram, plan: Plan, recorder: Recorder, models: Models) -> None:
        self.program, self.plan, self.recorder, self.models = program, plan, recorder, models
        self.knobs: Knobs = knobs(plan.details["knobs"])[0]
        self.place = Place(workflow=plan.name, file=plan.path).element(plan.name)
        self.workspace = _workspace(plan)
        self.cases = trial_cases(plan)
        self.declared = declared_checks(plan)
        self.checks, named = checks_of_rounds(plan)
        self.evidence: EvidenceLoop | None = None
        self.bundle = bundle_of(plan)
        text = self.bundle.joined(plan.texts)
        self.start = start = self.open(text)
        baseline = self._baseline(start, named)
        self.course = EnhanceMemory(baseline, self._baselines(start, baseline), texts={0: text})
        self.known = self._known_in("")
        planner = as_object(plan.details["planner"])
        target = Target(text_field(planner, "provider"), text_field(planner, "model"))
        self.planner = Planner(
            target=target,
            knobs=self.knobs,
            recorder=recorder,
            models=models,
            known=self.known,
            mask=self.mask(),
            common=self.common,
            costs=self.costs,
            room=self._room(target.provider),
            price=self._price,
        )
        self.edit_target = self._edit_target()
        headless = bool(plan.details.get("headless"))
        self.files = FilesOnDisk(Path(plan.root), plan.texts, self.bundle, recorder, headless)

    def parts(self) -> LoopParts:
        judge = EnhanceJudge(
            plan=self.plan,
            knobs=self.knobs,
            course=self.course,
            recorder=self.recorder,
            facts=self.facts,
            open=self.open,
            known=self.known,
            errors=self.errors(),
            planner=self.planner,
            edit_target=self.edit_target,
            mask=self.mask(),
            files=self.files,
            checks={one.name: one for one in self.checks},
            bundle=self.bundle,
            known_in=self._known_in,
            unreadable=self.unreadable,
        )
        body = RoundBody(
            self.plan,
            self.course,
            self.recorder,
            self.models,
            self._run_workflow,
            self.costs,
            self.common,
            self.knobs.unknown_price_usd_per_call,
            self.knobs.confirm_runs,
            self.bundle,
        )
        limits = Limits(max_iterations=self.knobs.max_rounds)
        if self.cases:
            loop = self.evidence = self._with_evidence(judge)
            return LoopParts(self.plan.name, self.place, loop, self.course, limits, loop, compares_outputs=False)
        return LoopParts(self.plan.name, self.place, body, self.course, limits, judge, compares_outputs=False)

    def _with_evidence(self, judge: EnhanceJudge) -> EvidenceLoop:
        trials = Trials(
            self.plan,
            self.knobs,
            self.course,
            self.recorder,
            self.models,
            self._run_workflow,
            self.facts,
            NoChecks() if self.declared is None else self.declared,
            self.open,
            self.bundle,
        )
        return EvidenceLoop(judge, trials, self.cases, self.recorder, self.facts, self.knobs, self._is_true)

    async def _is_true(self) -> bool:
        """Whether the files of the cases and checks hold what they held at the start."""
        recorded = _evidence(self.plan)
        return recorded is None or await asyncio.to_thread(_hold, Path(self.plan.root), recorded.get("files", {}))

    async def ended(self, outcome: Outcome) -> Outcome:
        """The output that counts, and the text that the settings ask for."""
        course = self.course
        best = course.best()
        told = replace(
            outcome,
            output=course.outputs.get(best, "") if best is not None else "",
            last=outcome.output,
            because=self._because(outcome, best),
            details=self._details(outcome, best),
        )
        if outcome.reason in _NOT_RESTORED or (kept := await self._restore(best)) is None:
            return told
        return replace(told, because=f"{kept} {told.because or ''}".rstrip())

    async def _restore(self, best: int | None) -> str | None:
        """Only over what the loop wrote itself. A sentence where that is not there any more."""
        wanted = {"revert": 1, "best": best}.get(self.knobs.on_give_up)
        if wanted is None or course_text(self.course, wanted) == self.course.text:
            return None
        text = course_text(self.course, wanted)
        place = replace(self.place, key=self.place.part("restore"))
        label = "Enhance: restore round 1" if wanted == 1 else f"Enhance: restore round {wanted}"
        left = course_text(self.course, 0) if self.course.left is None else self.course.left
        sent = Sent(f"{self.plan.run_id}:restore", label, left, text, mask=self.mask(), bundle=self.bundle)
        common = self.common(max(self.course.observed, default=1), self.planner.spent)
        ack = await self.edit_target.apply(place, sent, common)
        return None if ack.trouble is None else self._kept(wanted, ack.reason or ack.trouble.replace("_", " "))

    def _kept(self, wanted: int, why: str) -> str:
        """Why the text of a round did not come back, and how to have it later."""
        run_id = self.plan.run_id
        later = f"`loop-ls enhance --timeline {run_id}` shows what each round changed."
        if wanted == 1:
            later = f"`loop-ls enhance --revert {run_id}` does it once the file is as the loop left it."
        return f"Round {wanted} was not restored: {why.rstrip('.')}. {later}"

    def _details(self, outcome: Outcome, best: int | None) -> OutcomeDetails:
        """What only an enhance loop says of its end (12)."""
        if outcome.reason == "converged":
            return {"mode": self.knobs.convergence_mode, "rounds_used": outcome.iterations}
        last = self.course.observed.get(max(self.course.observed, default=0))
        left = [] if last is None else unfixable(last)
        return {"unfixable": left, "best_round": best, "last_successful_round": self.course.last_success()}

    def _because(self, outcome: Outcome, best: int | None) -> str | None:
        told = self._how(outcome, best)
        return told if outcome.reason == "converged" else " ".join(one for one in (told, *self._off_topic()) if one)

    def _off_topic(self) -> list[str]:
        """The steps whose prompts ask for PASS or FAIL, and that said neither: perhaps they check nothing."""
        last = self.course.observed.get(max(self.course.observed, default=0))
        found = dict[str, str]()
        for one in () if last is None else last.failures:
            if one.kind == "verifier_error" and one.guessed:
                above = one.step.rpartition("/")[0]
                stem = loop_stem(self.plan.path) or self.plan.name
                own = f"{stem.rpartition('/')[2]}.checks.yaml"
                file = f"a checks file next to the workflow that `{above}` calls" if above else f"`{own}`"
                name = f"{above}/{one.verifier.criterion}" if above else one.verifier.criterion
                found[name] = file
        return [
            f"`{name}` is asked for PASS or FAIL and its answer began with neither; "
            f"if it is not a check, list the real ones under `verifiers:` of {file}."
            for name, file in found.items()
        ]

    def _how(self, outcome: Outcome, best: int | None) -> str | None:
        if self.evidence is not None:
            return self.evidence.summary()
        if outcome.reason == "file_changed":
            return f"Round {outcome.iterations} was clean, but {self.course.because}"
        if outcome.reason == "converged":
            runs = self.knobs.confirm_runs
            return f"{'One clean run' if runs == 1 else f'{runs} clean runs'} with one input and no test cases."
        limit = told_of_limit(outcome.reason, self.knobs, float(self.planner.spent))
        last = self.course.observed.get(max(self.course.observed, default=0))
        failed = [] if last is None else [f"`{one.step}` ({failure_words(one.kind)})" for one in last.failures]
        left = f" Still failing: {', '.join(failed)}." if failed else ""
        if self.course.last_success() is not None:
            return f"{limit} The output is from round {best}, the last one that succeeded.{left}".lstrip()
        partial = "" if best is None else f" The output is from round {best}, the one with the fewest failures."
        return f"{limit} No round succeeded.{partial}{left}".lstrip()

    # -- ports of the parts ------------------------------------------------------------------------

    def _baseline(self, start: WorkingCopy, named: tuple[str, ...] | None) -> Baseline:
        told = [named, None if self.declared is None else self.declared.checks.verifiers]
        told += [self.knobs.verifiers] if "verifiers" in as_object(self.plan.details["knobs"]) else []
        listed = [one for one in told if one is not None]
        found = Baseline.of(start.workspace, start.document, frozenset().union(*listed) if listed else None)
        quoted = tuple(text for text in (self.plan.input, *map(str, self.plan.parameters.values())) if text)
        quoted += tuple(
            text for case in self.cases for text in (case.input, *map(str, case.parameters.values())) if text
        )
        every = self.checks if self.declared is None else self.declared.every()
        looked_at = frozenset(one.on.name for one in every if one.on.name)
        found = replace(found, declared_in=self._declared_in())
        return replace(
            found, quoted=quoted, sought=sought_by(every), looked_at=looked_at, reviewed=self.knobs.pause_between_rounds
        )

    def _declared_in(self) -> dict[str, frozenset[str]]:
        """The verifiers that called workflows declare in the checks files beside them, by URI."""
        listed = cast("dict[str, list[str]]", self.plan.details.get("verifiers") or {})
        return {uri_of(f"{self.plan.root}/{path}"): frozenset(names) for path, names in listed.items()}

    def _baselines(self, start: WorkingCopy, own: Baseline) -> dict[str, Baseline]:
        """Of the called workflows that plans may edit: what holds for the workflow holds for each, and none learns the
        words by which its callers judge it."""
        opened = start.documents.values()
        callers = [own, *(Baseline.of(start.workspace, one, own.declared_in.get(one.uri)) for one in opened)]
        found = dict[str, Baseline]()
        for path in self.bundle.others:
            document = start.documents[path]
            judged = (text for caller in callers for text in judged_elsewhere(start.workspace, caller, document))
            known = Baseline.of(start.workspace, document, own.declared_in.get(document.uri))
            found[path] = replace(
                known,
                declared_in=own.declared_in,
                quoted=own.quoted,
                sought=own.sought,
                judged_by=tuple(dict.fromkeys(judged)),
                reviewed=own.reviewed,
            )
        return found

    def _known_in(self, path: str) -> PlanContext:
        """What a plan may build on in one of the files."""

        def exists(reference: str) -> bool:
            document = self.open(self.course.text).at(path).document
            found = self.workspace.resolve(document, reference).document
            return found is not None and found.uri != document.uri

        return PlanContext(
            pool=self.knobs.fallback_pool,
            skills=frozenset(cast("list[str]", self.plan.details.get("skills") or [])),
            first_maxima=maxima(self.start.at(path).document),
            workflow_exists=exists,
        )

    async def facts(self) -> Sequence[Event]:
        return await self.program.facts(self.plan.run_id)

    async def costs(self) -> LoopCosts:
        return LoopCosts.of(await self.facts(), self.knobs)

    def common(self, number: int, spent: Decimal) -> RoundNumbers:
        return common(self.knobs, number, spent)

    async def _run_workflow(self, plan: Plan, turn: Turn, recorder: Recorder, models: Models) -> Outcome:
        return await self.program.workflow.run(plan, recorder, models, turn.place)

    def open(self, text: str) -> WorkingCopy:
        """A text of the workflow, and of what plans may edit, among the files that it can reach."""
        workspace, files = self.workspace, dict[str, str]()
        for path, one in self.bundle.apart(text).items():
            whole = f"{self.plan.root}/{path}"
            document = Document.open(uri_of(whole), one, path=whole)
            workspace = workspace.with_document(document)
            files[path] = document.uri
        primary = files.pop(self.plan.path)
        return WorkingCopy(workspace, workspace.documents[primary], self.bundle, files)

    def errors(self) -> Errors:
        def found(copy: WorkingCopy) -> Sequence[str]:
            found = self.program.validate(copy.workspace, list(copy.documents.values()))
            return [f"{one.code}: {one.message}" for problems in found for one in problems]

        return found

    def unreadable(self, text: str) -> str:
        """Why a text cannot be run, with the place; empty where it can. Errors that the loop started with are none."""
        now, first = (self._problems(self.open(one)) for one in (text, course_text(self.course, 0)))
        for path, problems in now.items():
            known = {(one.code, one.message) for one in first[path]}
            new = [one for one in problems if (one.code, one.message) not in known]
            if new:
                return f"`{path}` cannot be run: line {new[0].line}: {new[0].message.rstrip('.')}"
        return ""

    def _problems(self, copy: WorkingCopy) -> dict[str, Sequence[Problem]]:
        documents = copy.documents
        return dict(zip(documents, self.program.validate(copy.workspace, list(documents.values())), strict=True))

    def mask(self) -> Mask:
        """Keys, and the constants of the file, which may hold what nobody else should read."""
        secrets = (*self.program.secrets(self.plan), *_constants(self.plan))
        return lambda text: redact(text, secrets)

    def _room(self, provider: str) -> int:
        """A model on this machine has little; of others nobody knows, and theirs is large."""
        settings = as_object(as_object(self.plan.settings.get("providers")).get(provider))
        return SMALL_ROOM if settings.get("kind") == "local" else ROOM

    def _price(self, sent: int, got: int) -> float | None:
        providers = as_object(self.plan.settings.get("providers"))
        target = self.planner.target
        price = price_of(target.provider, target.model, providers, os.environ, self.plan.mock)
        return None if price is None else price.usd(sent, got)

    def _edit_target(self) -> EditTarget:
        others = {path: Path(self.plan.root, path) for path in self.bundle.others}
        if self.plan.details.get("headless"):
            own = Path(self.plan.root, self.plan.path)
            return FileTarget(self.recorder, own, self.bundle, others, self.program.data)
        uri = text_field(self.plan.details, "uri") or uri_of(Path(self.plan.root, self.plan.path))
        uris = {path: uri_of(whole) for path, whole in others.items()}
        return EditorTarget(self.recorder, uri, self.knobs.ack_timeout_seconds, uris)


def bundle_of(plan: Plan) -> Bundle:
    """The files that plans may edit, as the start has recorded them."""
    return Bundle(plan.path, tuple(cast("list[str]", plan.details.get("files") or [])))


def trial_cases(plan: Plan) -> tuple[TrialCase, ...]:
    """The cases that the start has recorded."""
    recorded = _evidence(plan)
    return () if recorded is None else tuple(from_fields(TrialCase, one) for one in recorded["cases"])


def _evidence(plan: Plan) -> RecordedEvidence | None:
    return cast("RecordedEvidence | None", plan.details.get("evidence"))


def declared_checks(plan: Plan) -> DeclaredChecks | None:
    """The declared checks, as they were at the start; None: there are none."""
    recorded = _evidence(plan)
    if recorded is None or "texts" not in recorded:
        return None
    texts = recorded["texts"]
    checks, cases = read_checks(texts["checks"]) if texts["checks"] else Checks(), read_cases(texts["cases"])
    if isinstance(checks, list) or isinstance(cases, list):
        raise Failure("file_has_errors", "the recorded checks or cases cannot be read")
    document = Document.open("file:///start.yaml", plan.texts[plan.path])
    return DeclaredChecks(checks, {one.name: one for one in cases}, document, OnlyTexts())


def checks_of_rounds(plan: Plan) -> tuple[tuple[Check, ...], tuple[str, ...] | None]:
    """The declared checks that decide each round, and the steps that are declared to give a verdict: theirs is read
    where that of other verifiers is. Nothing where cases decide."""
    return ((), None) if _evidence(plan) is not None else declared_apart(plan)


def _hold(root: Path, files: Mapping[str, str]) -> bool:
    def hash_of(path: Path) -> str:
        try:
            return hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            return ""

    return all(hash_of(root / path) == known for path, known in files.items())


def course_text(course: EnhanceMemory, number: int) -> str:
    return course.texts[number]


def _workspace(plan: Plan) -> Workspace:
    documents = [Document.open(uri_of(f"{plan.root}/{path}"), text) for path, text in plan.texts.items()]
    settings, _ = settings_of(dict(plan.settings))
    roots = tuple(Root(*each) for each in cast("list[tuple[str, str]]", plan.details.get("roots") or []))
    return Workspace.of(Roots(plan.root, roots), documents, settings)


def _constants(plan: Plan) -> Sequence[str]:
    """Of all files: the planner sees called workflows as well."""
    opened = (Document.open(f"file:///{path}", text) for path, text in plan.texts.items())
    values = (pair.text for document in opened for pair in document.env.values())
    return [value for value in values if value and len(value) >= 8]
