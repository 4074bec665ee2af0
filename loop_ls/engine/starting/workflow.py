"""Preparing a run of a `workflow/v2.0` file: everything that can refuse it, then its first fact.

In this order: the file and what it can reach have no errors, the target exists, nothing that it uses
is missing, somebody can be asked, and the user has agreed to where texts go.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.capabilities.asked import chains, environment_names
from loop_ls.engine.capabilities.consent import Consents
from loop_ls.engine.capabilities.derive import capabilities_of, needs_of, of_targets, reached_by
from loop_ls.engine.capabilities.needs import Needs, needs
from loop_ls.engine.capabilities.values import NOTHING, Capabilities
from loop_ls.engine.checks.declared import asked_by_checks
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.context.workspace_files import outputs_folder
from loop_ls.engine.core.errors import Code, Refused
from loop_ls.engine.core.plan import ModelAccess, Plan, plan_of
from loop_ls.engine.core.ports import Failure, ModelFailure
from loop_ls.engine.core.preparer import Prepared, Validate
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.judges.choice import JudgeSettings, choose_judge
from loop_ls.engine.money.caps import Caps, in_dollars
from loop_ls.engine.money.pricing import price_of
from loop_ls.engine.providers.config import chosen_model
from loop_ls.engine.providers.scripted.answers import answers_path
from loop_ls.engine.runs.judge_trial import Judging
from loop_ls.engine.runs.preflight import needed_elements, reachable, refusal
from loop_ls.engine.starting.declared_checks import declaration, places_of_workflow, with_case
from loop_ls.engine.starting.folder import Folder, Snapshot, Texts
from loop_ls.engine.starting.part_of_workflow import Part, is_part, part_of
from loop_ls.engine.starting.recorded import SECTIONS, has_errors, recorded, unread, why_unread
from loop_ls.engine.starting.required_inputs import (
    missing_inputs,
    require_inputs,
    require_mock,
    require_models,
    require_prices,
    unread_parameters,
)
from loop_ls.formats.registry import WORKFLOW
from loop_ls.formats.workflow.model import Loop, Target, Workflow
from loop_ls.formats.workflow.one_model import OneModel
from loop_ls.text.hash import hash_of
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field, text_field

#: A repeated key. The only ones that may run are repeated `steps` and `loops` (D15); reading the
#: file as values refuses all others.
REPEATED = "WF005"


#: Who asks, and whom: one chain of models for each.
Asked = Sequence[tuple[str, tuple[Target, ...]]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to run: `reached` are the keys of all workflows, the started one first."""

    library: Library
    key: str
    elements: frozenset[str] | None
    reached: tuple[str, ...]
    instead: OneModel | None = None
    part: Part | None = None

    @property
    def workflow(self) -> Workflow:
        return self.library.workflow(self.key)


class WorkflowPreparer:
    """Prepares starts from all roots of one engine; `folder` is its data folder."""

    def __init__(self, folder: Path, validate: Validate, environ: Mapping[str, str] | None = None) -> None:
        self._validate, self._environ = validate, os.environ if environ is None else environ
        self._consents = Consents(folder)
        self._folders: dict[Path, Folder] = {}
        self._thread = ThreadPoolExecutor(1, "start")

    async def prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        prepared = await self.prepared(request, models)
        await self.settle(prepared, request.consent)
        return prepared

    async def prepared(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        """The same before anybody was asked to agree. Raises `Refused`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._prepare, request, models)

    def _prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        if request.path not in request.texts and not (request.root / request.path).is_file():
            raise unread(request.root.as_posix(), request.path)  # known without looking through the folder
        folder = self._folders.setdefault(request.root, Folder(request.root))
        snapshot = folder.snapshot(request.texts, request.path, request.settings)
        typed, request = request.parameters, with_case(snapshot, request)
        chosen = self._chosen(snapshot, request)
        self._inputs(snapshot, chosen, request)
        needed = Needs() if request.mock else self._needs(chosen, snapshot.settings.raw)
        prepared = _prepared(snapshot, chosen, request, needed)
        self._models(snapshot, chosen, request, models, prepared, needed)
        if request.check is None and (told := self._unread(snapshot, request.path, typed)):
            prepared = replace(prepared, more={**prepared.more, "warnings": told})
        return prepared

    def _unread(self, snapshot: Snapshot, path: str, names: Iterable[str]) -> list[str]:
        """Not asked of runs with checks: their values may read a parameter, too."""
        document = snapshot.document(path)
        return [] if document is None else unread_parameters(names, document.parameters, path)

    def _needs(self, chosen: Chosen, settings: Mapping[str, Json]) -> Needs:
        """In a mock run nothing is started and nothing is searched."""
        return needs(chosen.library, chosen.reached, chosen.elements, settings)

    def _chosen(self, snapshot: Snapshot, request: StartRequest) -> Chosen:
        key = _key(snapshot, request)
        self._check(snapshot, [request.path], request.path)
        # The file that was asked for wins over a namesake.
        keys = {**{each: files[0] for each, files in snapshot.keys.items()}, key: request.path}
        instead = _instead(request, as_object(snapshot.settings.raw.get("providers")), self._environ)
        library = Library(Texts(snapshot), keys, instead)
        part = _part(library, key, request)
        with_ = _elements(library, key, request) if part is None else part.elements
        try:
            reached = reachable(library, key, with_)
            self._check(snapshot, [keys[each] for each in reached[1:]], request.path)
            failure = refusal(library, key, snapshot.settings.raw, with_)
            outputs_folder(Path(snapshot.root), snapshot.settings.raw.get("outputsDir"))
        except Failure as found:
            failure = found
        if failure is not None:
            raise _refused(failure)
        return Chosen(library, key, with_, reached, instead, part)

    def _check(self, snapshot: Snapshot, paths: Sequence[str], started: str) -> None:
        """Raises `Refused(file_has_errors)`; the first error is told, all are listed."""
        found = {path: document for path in paths if (document := snapshot.document(path)) is not None}
        workspace = snapshot.workspace(started)
        told = self._validate(workspace, [workspace.documents[each.uri] for each in found.values()])
        for path, problems in zip(found, told, strict=True):
            counting = [problem for problem in problems if problem.code != REPEATED]
            if counting:
                raise has_errors(path, counting)

    def _inputs(self, snapshot: Snapshot, chosen: Chosen, request: StartRequest) -> None:
        document = snapshot.document(request.path)
        if document is not None:
            require_inputs(missing_inputs(document, chosen.elements, request.input, request.parameters))

    def _models(
        self,
        snapshot: Snapshot,
        chosen: Chosen,
        request: StartRequest,
        models: Callable[[Plan], ModelAccess],
        prepared: Prepared,
        needed: Needs,
    ) -> None:
        """Somebody can be asked. Raises `Refused`."""
        plan = plan_of(prepared.started, prepared.texts)
        if request.mock:
            require_mock(models(plan))
            return  # nobody is asked and nothing is sent
        settings = snapshot.settings.raw
        asked = [*chains(chosen.library, chosen.reached, chosen.elements, settings), *needed.asked]
        asked += asked_by_checks(plan)
        require_models(asked, models(plan).problem)
        self._priced(asked, plan)

    def _priced(self, asked: Asked, plan: Plan) -> None:
        """Raises `Refused`: a cap of dollars could not hold."""
        providers = as_object(plan.settings.get("providers"))
        if in_dollars(plan.settings.get("limits"), plan.limits):
            require_prices(asked, lambda target: price_of(target.provider, target.model, providers, self._environ))

    async def settle(self, prepared: Prepared, consent: str | None) -> None:
        """The user has agreed to all that the prepared run may do. Raises `Refused`."""
        plan = plan_of(prepared.started, prepared.texts)
        await asyncio.get_running_loop().run_in_executor(self._thread, self._settle, plan, consent)

    def _settle(self, plan: Plan, consent: str | None, of_stranger: bool = False) -> None:
        if plan.mock and not of_stranger:
            return
        found = capabilities_of(plan, self._environ)
        self._consents.settle(found.of_stranger() if of_stranger else found, consent, plan.root)

    async def look(self, request: StartRequest) -> Snapshot:
        """The root of a start as it is now."""
        folder = self._folders.setdefault(request.root, Folder(request.root))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, folder.snapshot, request.texts, request.path, request.settings)

    def ask_planner(self, planner: Target, plan: Plan, models: Callable[[Plan], ModelAccess]) -> None:
        """A further model that an enhance loop needs. Raises `Refused`."""
        asked = [("the planner", (planner,))]
        require_models(asked, models(plan).problem)
        self._priced(asked, plan)

    async def judging(self, request: StartRequest, loop: str, models: Callable[[Plan], ModelAccess]) -> Judging:
        """The judge of a loop in a file, as a run would ask it. Raises `Refused`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._judging, request, loop, models)

    def _judging(self, request: StartRequest, name: str, models: Callable[[Plan], ModelAccess]) -> Judging:
        folder = self._folders.setdefault(request.root, Folder(request.root))
        snapshot = folder.snapshot(request.texts, request.path, request.settings)
        chosen = self._chosen(snapshot, request)
        loop = _loop_named(chosen.workflow, name)
        settings, library = snapshot.settings.raw, chosen.library
        callee = library.workflow(library.called(chosen.key, loop.workflow)).execution
        choice = choose_judge(loop, chosen.workflow.execution, callee, JudgeSettings.of(settings))
        prepared = _prepared(snapshot, chosen, request, Needs())
        plan = plan_of(prepared.started, prepared.texts)
        access, capabilities = models(plan), NOTHING
        if choice.local is None and not request.mock:
            require_models([(f"`until` of `{name}`", choice.targets)], access.problem)
            variables = environment_names(chosen.library, chosen.reached)
            capabilities = Capabilities.of(of_targets(choice.targets, plan, self._environ, variables)).in_place
            self._consents.settle(capabilities, request.consent, snapshot.root)
        return Judging(loop, choice, plan, access, capabilities)

    async def agree(
        self,
        started: RunStarted,
        texts: Mapping[str, str],
        consent: str | None,
        models: Callable[[Plan], ModelAccess],
        planner: Target | None = None,
    ) -> RunStarted:
        """What `prepare` asks of models and people, for a run whose texts are recorded. Raises `Refused`."""
        plan = plan_of(started, texts)
        library = Library.of(plan)
        elements = None if plan.elements is None else frozenset(plan.elements)
        if plan.mock:
            require_mock(models(plan))
            self._settle(plan, consent, bool(started.imported))
            return started
        asked = [*chains(library, reached_by(plan, library), elements, plan.settings), *needs_of(plan).asked]
        asked += asked_by_checks(plan)
        asked += [("the planner", (planner,))] if planner else []
        require_models(asked, models(plan).problem)
        await asyncio.get_running_loop().run_in_executor(self._thread, self._priced, asked, plan)
        self._settle(plan, consent, bool(started.imported))
        return started


def _loop_named(workflow: Workflow, name: str) -> Loop:
    for element in workflow.elements:
        found = element if isinstance(element, Loop) else element.mode
        if element.name == name and isinstance(found, Loop):
            return replace(found, name=name)
    raise Refused("not_found", f"`{workflow.name}` has no loop `{name}`.")


def _key(snapshot: Snapshot, request: StartRequest) -> str:
    document = snapshot.document(request.path)
    if document is None:
        raise unread(snapshot.root, request.path)
    if not document.is_workflow:
        raise Refused("bad_argument", f"{request.path} is not a workflow: `$schema: workflow/v2.0` is missing.")
    return snapshot.key(request.path) or Path(request.path).stem


def _instead(request: StartRequest, providers: Mapping[str, Json], environ: Mapping[str, str]) -> OneModel | None:
    """Whom this run asks in place of those that the files name. Raises `Refused` for a provider that nobody knows."""
    try:
        return chosen_model(request.provider, request.model, providers, environ)
    except ModelFailure as failure:
        raise Refused("bad_argument", failure.message, failure.hint, {"provider": request.provider or ""}) from failure


def _part(library: Library, key: str, request: StartRequest) -> Part | None:
    if not is_part(request):
        return None
    try:
        return part_of(library.workflow(key), request)
    except Failure as failure:
        raise _refused(failure) from failure


def _elements(library: Library, key: str, request: StartRequest) -> frozenset[str] | None:
    if request.target_name is None:
        return None
    try:
        workflow = library.workflow(key)
        needed = frozenset(needed_elements(workflow, request.target_name))
    except Failure as failure:
        raise _refused(failure) from failure
    found = next(each for each in workflow.elements if each.name == request.target_name)
    if isinstance(found, Loop) != (request.target_kind == "loop"):
        kind = "loop" if isinstance(found, Loop) else "step"
        raise Refused("bad_argument", f"`{request.target_name}` is a {kind}, not a {request.target_kind}.")
    return needed


def _prepared(snapshot: Snapshot, chosen: Chosen, request: StartRequest, needed: Needs) -> Prepared:
    paths = {key: chosen.library.path(key) for key in chosen.reached}
    scripts, unread = _scripts(snapshot, request)
    declared = declaration(snapshot, request.path, request.check, WORKFLOW, places_of_workflow(chosen.workflow))
    texts = {path: snapshot.text(path) or "" for path in paths.values()} | scripts | declared.texts
    files = {path: hash_of(text) for path, text in texts.items()}
    started = RunStarted(
        format=WORKFLOW,
        name=chosen.key,
        target={"kind": request.target_kind, **({"name": request.target_name} if request.target_name else {})},
        root=snapshot.root,
        uri=request.uri,
        path=request.path,
        limits=_limits(chosen, request, as_object(snapshot.settings.raw.get("limits"))),
        settings=_recorded(snapshot.settings.raw, needed),
        files=files,
        input=request.input,
        parameters=dict(request.parameters),
        session_id=request.session_id,
        origin=request.origin,
        detach=request.detach,
        mock=request.mock,
        plan={
            "keys": paths,
            "elements": None
            if chosen.elements is None
            else [each.name for each in chosen.workflow.elements if each.name in chosen.elements],
            "maxIterations": request.max_iterations,
            "logging": chosen.workflow.execution.logging,
            **({} if chosen.instead is None else {"instead": chosen.instead.wire()}),
            **({} if request.item is None else {"item": request.item}),
            **({} if chosen.part is None else {"part": chosen.part.wire}),
            **declared.plan,
            **({"unread": unread} if unread else {}),
            **request.noted,
        },
    )
    return Prepared(started, {files[path]: text for path, text in texts.items()})


def _recorded(settings: Mapping[str, Json], needed: Needs) -> JsonObject:
    """Of the servers only those that the run needs."""
    servers = as_object(settings.get("servers"))
    found = recorded(settings, (*SECTIONS, "rag", "outputsDir"))
    used = {server.name: servers[server.name] for server in needed.servers}
    return found | ({"servers": used} if used else {})


def _scripts(snapshot: Snapshot, request: StartRequest) -> tuple[dict[str, str], dict[str, str]]:
    """The files of answers that scripted providers may read: a run hears what they said when it began. Then why
    others cannot be read, which is told to whoever needs them."""
    providers = as_object(snapshot.settings.raw.get("providers")).values()
    named = [script for each in providers if (script := text_field(as_object(each), "script"))]
    root = Path(snapshot.root).resolve()
    paths = (path for path in (answers_path(request.path), *named) if (root / path).resolve().is_relative_to(root))
    found = {path: snapshot.text(path) for path in paths}
    there = {path: text for path, text in found.items() if text is not None}
    unread = {
        path: why_unread(snapshot.root, path) for path in found if path not in there and os.path.lexists(root / path)
    }
    return there, unread


def _limits(chosen: Chosen, request: StartRequest, settings: Mapping[str, Json]) -> JsonObject:
    """What the run may spend, and the limits of the loop that was asked for."""
    caps = Caps.of(settings, request.limits).wire()
    return {**_loop_limits(chosen, request, int_field(settings, "maxIterations")), **caps}


def _loop_limits(chosen: Chosen, request: StartRequest, ceiling: int | None) -> JsonObject:
    """A whole workflow has none of its own."""
    loop = next((each for each in chosen.workflow.loops if each.name == request.target_name), None)
    if loop is None:
        return {} if request.max_iterations is None else {"maxIterations": request.max_iterations}
    wanted = request.max_iterations or loop.max_iterations
    found: JsonObject = {"maxIterations": wanted if ceiling is None else min(wanted, ceiling)}
    if loop.until:
        found["criterion"] = {"type": "condition", "value": loop.until}
    return found


def _refused(failure: Failure) -> Refused:
    code = failure.code if failure.code in get_args(Code) else "file_has_errors"
    return Refused(cast(Code, code), failure.message, failure.hint)
