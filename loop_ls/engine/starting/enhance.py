"""Preparing an enhance loop: a workflow that may be run, a planner that may be asked, a place for its edits.

Whether a start of a workflow is one is said by the start itself, or by the workflow's own switch in the
settings. Everything that a plain run asks is asked first.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import ENHANCE, ModelAccess, Plan, read_plan
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.enhance.edit_target import is_itself
from loop_ls.engine.enhance.evidence.trials import RecordedEvidence
from loop_ls.engine.runners.resolve import is_agent, program_of
from loop_ls.engine.runs.judge_trial import Judging
from loop_ls.engine.starting.evidence import (
    declared_verifiers,
    evidence_of,
    require_known_verifiers,
    told_before,
)
from loop_ls.engine.starting.folder import Snapshot
from loop_ls.engine.starting.part_of_workflow import is_part
from loop_ls.engine.starting.settings_guard import of_enhance, require_sound_settings
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.formats.checks.file_format import checks_paths
from loop_ls.formats.common.target import Target
from loop_ls.formats.settings.enhance import INHERIT, Knobs, is_enabled, knobs
from loop_ls.index.disk.skill_files import skill_files
from loop_ls.index.document import Document
from loop_ls.index.effective import execution_models
from loop_ls.text.json_value import Json, as_object, float_field

#: Agents of the command line that go their own way when they are asked for one structured answer, by the name of
#: their program.
UNSUITABLE = {"codex": "codex", "cursor": "cursor", "cursor-agent": "cursor"}


@dataclass(frozen=True, slots=True)
class Planner:
    """Who plans, and whether somebody chose that by name."""

    target: Target
    chosen: bool


class EnhancePreparer:
    """Prepares starts of workflows: as enhance loops where one is wanted, else as plain runs."""

    def __init__(self, workflow: WorkflowPreparer) -> None:
        self._workflow = workflow

    async def judging(self, request: StartRequest, loop: str, models: Callable[[Plan], ModelAccess]) -> Judging:
        """As for a plain run. Raises `Refused`."""
        return await self._workflow.judging(request, loop, models)

    async def agree(
        self, started: RunStarted, texts: Mapping[str, str], consent: str | None, models: Callable[[Plan], ModelAccess]
    ) -> RunStarted:
        """As for a plain run; the planner of an enhance loop is asked as well. Raises `Refused`."""
        named = started.plan.get("planner") if started.format == ENHANCE else None
        planner = Target(str(named.get("provider")), str(named.get("model"))) if isinstance(named, Mapping) else None
        return await self._workflow.agree(started, texts, consent, models, planner)

    async def prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        snapshot = await self._workflow.look(request)
        section = snapshot.settings.raw.get("enhance")
        key = snapshot.key(request.path) or Path(request.path).stem
        wanted, warned = _wanted(request, section, key)
        if not wanted:
            prepared = await self._workflow.prepared(request, models)
            if warned:
                more = {**prepared.more, "warnings": [*_warnings(prepared), *warned]}
                prepared = Prepared(prepared.started, prepared.texts, more)
            await self._workflow.settle(prepared, request.consent)
            return prepared
        if request.check is not None:
            told = "Enhance loops use their verifiers, and the test cases next to the file."
            raise Refused("bad_argument", told, "Remove `--check`, or run the workflow once with `--plain`.")
        evidence = await asyncio.to_thread(evidence_of, snapshot, request.path)
        prepared = await self._workflow.prepared(_checked(_with_case(request, evidence), snapshot, evidence), models)
        if request.target_kind != "workflow" or is_part(request):
            raise Refused("bad_argument", "Enhance loops work on a whole workflow, not on a part of it.")
        await asyncio.to_thread(require_sound_settings, request.root, request.path, request.settings, of_enhance(key))
        settings, wrong = knobs(section, key)
        if request.max_iterations is not None:  # of a loop of rounds, whose workflow keeps its own limits
            settings = replace(settings, max_rounds=min(settings.max_rounds, request.max_iterations))
        if (most := float_field(prepared.started.limits, "budgetUsd")) is not None:  # what a start says is what holds
            settings = replace(settings, budget_cap_usd=min(settings.budget_cap_usd, most))
        if wrong:  # of a list, whose entries only the knobs look at
            raise Refused("bad_argument", f"`enhance`: {wrong[0].message}.", "Fix it, then start the loop again.")
        files = await asyncio.to_thread(editable_files, settings, request.root, prepared.started)
        require_known_verifiers(snapshot, request.path, settings, key)
        reached = [
            path for path in map(str, as_object(prepared.started.plan.get("keys")).values()) if path != request.path
        ]
        verifiers = await asyncio.to_thread(declared_verifiers, snapshot, reached)
        document = snapshot.document(request.path)
        planner = planner_of(settings, snapshot, document)
        self._ask_planner(prepared, snapshot, planner, request, models)
        loop = _as_loop(prepared, snapshot, request, settings, planner, section, evidence, files, verifiers)
        await self._workflow.settle(loop, request.consent)
        return loop

    def _ask_planner(
        self,
        prepared: Prepared,
        snapshot: Snapshot,
        planner: Planner,
        request: StartRequest,
        models: Callable[[Plan], ModelAccess],
    ) -> None:
        """Raises `Refused`: the planner cannot plan, or cannot be asked."""
        cli = _unsuitable(snapshot, planner.target.provider)
        if cli is not None and not planner.chosen:
            told = f"The inherited planner `{planner.target.provider}` runs {cli}, which does not plan well."
            hint = "Choose a planner: `enhance.plannerProvider` and `enhance.plannerModel`."
            raise Refused("bad_argument", told, hint, {"reason": "planner_provider_unsuitable"})
        if request.mock:
            return
        plan = read_plan("", prepared.started.fact()[1], lambda name: prepared.texts.get(name, ""))
        self._workflow.ask_planner(planner.target, plan, models)


def _wanted(request: StartRequest, section: Json, key: str) -> tuple[bool, list[str]]:
    """Whether a start is one of an enhance loop, and what is said where its switch does not count."""
    wanted = request.enhance.get("start")
    if wanted is not None:
        return bool(wanted), []
    if request.target_kind != "workflow" or is_part(request) or not is_enabled(section, key):
        return False, []
    if _takes_edits(request, knobs(section, key)[0]):
        return True, []
    return False, [f"`enhance` is on for `{key}`, but there is no editor to apply its edits: this is a plain run."]


def _with_case(request: StartRequest, evidence: RecordedEvidence | None) -> StartRequest:
    """Where the cases give the input, the first of them stands for what the start does not say."""
    if evidence is None or request.input is not None or request.parameters:
        return request
    first = evidence["cases"][0]
    return replace(request, input=first["input"], parameters=first["parameters"])


def _checked(request: StartRequest, snapshot: Snapshot, evidence: RecordedEvidence | None) -> StartRequest:
    """Checks beside the workflow decide each round; where there are cases, their trials judge by them."""
    if evidence is not None:
        return replace(request, check=None)
    if request.check is None and snapshot.first(checks_paths(request.path)):
        return replace(request, check={"verifiers": True})
    return request


def _takes_edits(request: StartRequest, settings: Knobs) -> bool:
    """Whether an editor takes the edits, or the engine may write the file."""
    given = request.enhance
    return given.get("editor") is True or given.get("headless") is True or settings.apply_when_headless


def planner_of(settings: Knobs, snapshot: Snapshot, document: Document | None) -> Planner:
    """The planner of the settings, else the interactive assistant, else whom the workflow itself asks first
    . Raises `Refused` where that is nobody."""
    assist = snapshot.settings.assist
    chain = () if document is None else execution_models(document).chain
    inherited = assist or (chain[0] if chain else None)
    chosen = settings.planner_provider != INHERIT
    provider = settings.planner_provider if chosen else inherited.provider if inherited else None
    model = settings.planner_model if settings.planner_model != INHERIT else None
    if model is None and inherited is not None and inherited.provider == provider:
        model = inherited.model
    if chosen and model is None:
        told = f"`enhance.plannerProvider` is `{provider}`, but no model is set for it."
        raise Refused("provider_unavailable", told, "Set `enhance.plannerModel`, too.")
    if provider is None or model is None:
        told = "No planner configured: neither the settings nor `execution` set a provider and a model."
        raise Refused("provider_unavailable", told, "Set `enhance.plannerProvider` and `enhance.plannerModel`.")
    return Planner(Target(provider, model), chosen)


def _unsuitable(snapshot: Snapshot, provider: str) -> str | None:
    """Which unsuitable agent a provider runs, however its program is written; None: none of them."""
    providers = as_object(snapshot.settings.raw.get("providers"))
    if not is_agent(provider, providers):
        return None
    own = as_object(providers.get(provider))
    try:
        words = (*program_of(provider, providers), str(own.get("speaks") or ""))
    except Failure:
        return None  # whoever asks it says what is missing
    programs = (re.split(r"[\\/]", part)[-1].casefold() for word in words for part in word.split())
    stems = (re.sub(r"\.(?:exe|cmd|bat|ps1|js|mjs)$", "", program) for program in programs)
    return next((UNSUITABLE[stem] for stem in stems if stem in UNSUITABLE), None)


def _as_loop(
    prepared: Prepared,
    snapshot: Snapshot,
    request: StartRequest,
    settings: Knobs,
    planner: Planner,
    section: Json,
    evidence: RecordedEvidence | None,
    files: Sequence[str],
    verifiers: Mapping[str, Sequence[str]],
) -> Prepared:
    """The same start as the first fact of an enhance loop. Raises `Refused` where nobody could take its edits."""
    editor = request.enhance.get("editor") is True
    if not _takes_edits(request, settings):
        told = "The file is not open in an editor that could apply the edits of an enhance loop."
        hint = "Open it in an editor that applies edits, or use `loop-ls enhance`, which writes the file itself."
        raise Refused("bad_argument", told, hint, {"reason": "no_apply_edit"})
    started = prepared.started
    own = as_object(as_object(as_object(section).get("workflows")).get(started.name))
    knobs_ = {**{key: value for key, value in as_object(section).items() if key != "workflows"}, **own}
    plan = {
        **started.plan,
        "maxIterations": None,
        "knobs": {**knobs_, "maxRounds": settings.max_rounds, "budgetCapUsd": settings.budget_cap_usd},
        "planner": {"provider": planner.target.provider, "model": planner.target.model},
        "headless": not editor,
        **({"holder": holder} if editor and (holder := request.enhance.get("holder")) else {}),
        "uri": request.enhance.get("uri") or request.uri,
        "skills": sorted(skill_files(request.root)),
        "roots": [[root.folder, root.pattern] for root in snapshot.roots.roots],
        **({} if evidence is None else {"evidence": evidence}),
        **({"files": [*files]} if files else {}),
        **({"verifiers": {path: [*names] for path, names in verifiers.items()}} if verifiers else {}),
    }
    limits = {
        **started.limits,
        "maxIterations": settings.max_rounds,
        "criterion": {"type": "failure_report", "value": settings.convergence_mode},
    }
    warnings = _warnings(prepared)
    warnings += [] if evidence is None else told_before(evidence, settings, request.mock)
    if files:
        warnings.append(f"Plans may also edit {', '.join(f'`{path}`' for path in files)} (`enhance.files`).")
    if (cli := _unsuitable(snapshot, planner.target.provider)) is not None:
        warnings.append(f"`{planner.target.provider}` runs {cli}, which does not plan well.")
    more = {**prepared.more, **({"warnings": warnings} if warnings else {})}
    changed = started.model_copy(update={"format": ENHANCE, "plan": plan, "limits": limits})
    return Prepared(changed, prepared.texts, more)


def editable_files(settings: Knobs, root: Path, started: RunStarted) -> list[str]:
    """The called workflows that plans may edit, relative to the root: of those that the settings list, the ones that
    this workflow can reach. Raises `Refused` for one that is not there, or leads elsewhere."""
    reached = {str(path) for path in as_object(started.plan.get("keys")).values()}
    found = list[str]()
    for path in settings.files:
        whole = root / path
        if not is_itself(whole, path):
            told = f"`{path}` of `enhance.files` is a link, or is outside the workspace."
            raise Refused("bad_argument", told, "Name the file itself, with its path relative to the workspace.")
        if not whole.is_file():
            raise Refused(
                "not_found",
                f"File `{path}` in `enhance.files` was not found.",
                "Correct `enhance.files` in the settings.",
            )
        if path in reached and path != started.path and path not in found:
            found.append(path)
    return found


def _warnings(prepared: Prepared) -> list[str]:
    """What the start warns of already."""
    return [*cast("list[str]", prepared.more.get("warnings") or [])]
