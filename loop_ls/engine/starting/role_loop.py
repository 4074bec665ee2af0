"""Preparing a run of a role loop: everything that can refuse it, then its first fact.

In this order: the definition exists and has no errors, a goal and all parameters are there, the roles can
be asked, the user has agreed to what they may do. Only then records are made.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.capabilities.consent import Consents
from loop_ls.engine.capabilities.derive import capabilities_of
from loop_ls.engine.checks.declared import asked_by_checks
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import ModelAccess, Plan, read_plan
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.money.caps import Caps, in_dollars
from loop_ls.engine.money.pricing import price_of
from loop_ls.engine.roles.definitions import Definition, definition_of, definitions, seed, unknown_name
from loop_ls.engine.roles.program import snapshot as snapshot_of
from loop_ls.engine.roles.records.ids import fresh, workspace_session
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.sprints import project_of
from loop_ls.engine.roles.records.stores import Unavailable
from loop_ls.engine.roles.records.tables import Row, Table
from loop_ls.engine.roles.targets import asked_of
from loop_ls.engine.runners.resolve import is_agent
from loop_ls.engine.starting.declared_checks import DeclaredAtStart, declaration, with_case
from loop_ls.engine.starting.folder import Folder, Snapshot
from loop_ls.engine.starting.recorded import COMMON, recorded, unread
from loop_ls.engine.starting.required_inputs import (
    require_inputs,
    require_mock,
    require_models,
    require_prices,
    unread_parameters,
)
from loop_ls.formats.checks.target import Places
from loop_ls.formats.registry import ROLE_LOOP
from loop_ls.formats.role_loop.model import EvaluationBound, GoalBound, Manual, RoleLoop, TimeBound, ToolBound
from loop_ls.formats.role_loop.placeholders import fill
from loop_ls.formats.role_loop.read import read_role_loop
from loop_ls.formats.role_loop.roles import known_roles
from loop_ls.formats.role_loop.stage_names import stage_names
from loop_ls.text.hash import hash_of
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field

#: Sections of the settings that a role loop depends on.
SECTIONS = (*COMMON, "roles", "servers")


class RoleLoopPreparer:
    """Prepares starts from all roots of one engine; `folder` is its data folder, which gets the built-in
    definitions at once."""

    def __init__(
        self,
        folder: Path,
        environ: Mapping[str, str] | None = None,
        records: Records | None = None,
    ) -> None:
        self._data, self._environ = folder, os.environ if environ is None else environ
        self._records = records or Records(folder, time.time)
        self._consents = Consents(folder)
        self._thread = ThreadPoolExecutor(1, "start")
        seed(folder)

    async def prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._prepare, request, models)
        except Unavailable as error:
            raise _without_records(error) from None

    def _prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        snapshot = Folder(request.root).snapshot(request.texts, request.path, request.settings)
        settings = snapshot.settings.raw
        found = self._found(snapshot, request)
        request = with_case(snapshot, replace(request, path=found.path), "goal")
        loop = _filled(found, request, settings)
        declared = declaration(snapshot, found.path, request.check, ROLE_LOOP, _places(loop))
        session = self._session(request)
        started = _first_fact(snapshot, found, loop, request, session, declared)
        texts = {hash_of(text): text for text in (found.text, *declared.texts.values())}
        plan = read_plan("", {**started.fact()[1]}, lambda name: texts.get(name, ""))
        if request.mock:
            require_mock(models(plan))
        else:
            self._settle(loop, plan, request.consent, models(plan), Caps.of(settings.get("limits"), request.limits))
        if request.agree_only:
            return Prepared(started, texts)
        project = self._records.do_now(lambda table: _project(table, found.name, request, session, started.goal or ""))
        started = started.model_copy(update={"plan": {**started.plan, "projectId": project["id"]}})
        ignored = [name for name in request.parameters if name not in loop.resolved]
        more: JsonObject = {"sessionId": session, "projectId": project["id"]}
        if ignored:
            told = unread_parameters(ignored, [*loop.resolved], found.path)
            more |= {"ignored": ignored, "warnings": told}
        return Prepared(started, texts, more)

    def _found(self, snapshot: Snapshot, request: StartRequest) -> Definition:
        """By its file, else by its name. Raises `Refused`."""
        roles = known_roles(snapshot.settings.raw.get("roles"))
        if request.path:
            text = snapshot.text(request.path)
            if text is not None:
                return _right(definition_of(text, request.path, request.uri, False, roles))
            if not request.target_name:
                raise unread(snapshot.root, request.path)
            # What is run again may have been a built-in one, whose file is not in the workspace.
        listed = {one.name: one for one in definitions(snapshot.root, self._data, request.texts, roles)}
        name = request.target_name or ""
        if name not in listed:
            told = unknown_name(name, listed)
            raise Refused("not_found", told, "See `loop-ls definitions`.", {"definitions": sorted(listed)})
        return _right(listed[name])

    def _session(self, request: StartRequest) -> str:
        """Where artifacts and todos of this loop belong. An editor has one session for each workspace."""
        if request.session_id is None:
            return workspace_session(request.root.as_posix()) if request.origin == "editor" else fresh()
        if request.origin == "api":
            known = self._records.do_now(lambda table: table.get("sessions", request.session_id or ""))
            if known is None:
                raise Refused("not_found", f"Unknown session `{request.session_id}`.")
        return request.session_id

    async def agree(
        self, started: RunStarted, texts: Mapping[str, str], consent: str | None, models: Callable[[Plan], ModelAccess]
    ) -> RunStarted:
        """What `prepare` asks of models and people, for a run whose texts are recorded; its project is one of
        this place. Raises `Refused`."""
        plan = read_plan("", {**started.fact()[1]}, lambda name: texts.get(name, ""))
        loop = snapshot_of(plan)
        if plan.mock:
            require_mock(models(plan))
        else:
            self._settle(loop, plan, consent, models(plan), Caps.of(plan.limits))
        session, goal = plan.session_id or fresh(), plan.goal or ""
        known = str(plan.details.get("projectId") or "")

        def work(table: Table) -> Row:
            return table.get("projects", known) or project_of(table, loop.name, goal, session)

        try:
            project = await self._records.do(work)
        except Unavailable as error:
            raise _without_records(error) from None
        limit = _within(plan.max_iterations, plan.settings)  # they may be others than when it was started
        of_plan = {**started.plan, "projectId": project["id"], "maxIterations": limit}
        changed = {"session_id": session, "plan": of_plan, "limits": {**started.limits, **_limits(loop, limit)}}
        return started.model_copy(update=changed)

    def _settle(self, loop: RoleLoop, plan: Plan, consent: str | None, access: ModelAccess, caps: Caps) -> None:
        """Raises `Refused`: somebody cannot be asked, or nobody has agreed to what would happen."""
        providers = as_object(plan.settings.get("providers"))
        asked = list(asked_of(loop, plan.settings))
        asked += asked_by_checks(plan)
        models = [(who, chain) for who, chain in asked if not any(is_agent(one.provider, providers) for one in chain)]
        require_models(models, access.problem)
        if caps.usd is not None or in_dollars(plan.settings.get("limits")):
            require_prices(asked, lambda target: price_of(target.provider, target.model, providers, self._environ))
        self._consents.settle(capabilities_of(plan, self._environ), consent, plan.root)


def _without_records(error: Unavailable) -> Refused:
    told = f"The records of role loops cannot be used: {error}."
    return Refused("engine_not_ready", told, "Nothing was started; try again later.")


def _right(found: Definition) -> Definition:
    """Raises `Refused` where the definition has errors."""
    if found.error is None:
        return found
    line = found.error.span.start.line + 1
    told = f"{found.path} has errors: line {line}, {found.error.code}: {found.error.message}"
    findings = [{"code": found.error.code, "message": found.error.message, "line": line}]
    details = {"path": found.path, "findings": findings}
    raise Refused("file_has_errors", told, "Fix the file, then run it again.", details)


def _filled(found: Definition, request: StartRequest, settings: Mapping[str, Json]) -> RoleLoop:
    """The definition with the texts of this start. Raises `Refused`."""
    if request.project_id and request.project_slug:
        raise Refused("bad_argument", "Use either `project_id` or `project_slug`, not both.")
    assert found.loop is not None
    goal = [] if request.goal and request.goal.strip() else ["goal"]
    missing = [one for one in found.loop.parameters if one.required and one.name not in request.parameters]
    known = [{"name": one.name, "description": one.description} for one in missing if one.description]
    require_inputs([*goal, *(one.name for one in missing)], known)
    loop = read_role_loop(found.text, request.parameters, known_roles(as_object(settings.get("roles"))))
    if isinstance(loop, RoleLoop):
        return loop
    told = f"{found.name} cannot run with these parameters: {loop[0].code}: {loop[0].message}"
    raise Refused("bad_argument", told, "Change their values.")


def _first_fact(
    snapshot: Snapshot,
    found: Definition,
    loop: RoleLoop,
    request: StartRequest,
    session: str,
    declared: DeclaredAtStart,
) -> RunStarted:
    settings = snapshot.settings.raw
    limit = _within(request.max_iterations or loop.max_iterations, settings)
    return RunStarted(
        format=ROLE_LOOP,
        name=loop.name,
        target={"kind": "definition", "name": loop.name},
        root=snapshot.root,
        uri=found.uri,
        path=found.path,
        limits={**_limits(loop, limit), **Caps.of(settings.get("limits"), request.limits).wire()},
        settings=recorded(settings, SECTIONS),
        files={path: hash_of(text) for path, text in {found.path: found.text, **declared.texts}.items()},
        goal=fill(request.goal or "", loop.resolved).text,
        parameters=dict(request.parameters),
        session_id=session,
        origin=request.origin,
        detach=request.detach,
        mock=request.mock,
        plan={
            "maxIterations": limit,
            "stages": [{"role": stage.role, "label": stage.label} for stage in loop.stages],
            "resolved": dict(loop.resolved),
            **declared.plan,
            **request.noted,
        },
    )


def _places(loop: RoleLoop) -> Places:
    return Places(loop.name, {"stage": stage_names([one.label for one in loop.stages]), "loop": [loop.name]})


def _within(wanted: int | None, settings: Mapping[str, Json]) -> int | None:
    """A number of iterations, never above the project's."""
    ceiling = int_field(as_object(settings.get("limits")), "maxIterations")
    named = [each for each in (wanted, ceiling) if each is not None]
    return min(named) if named else None


def _limits(loop: RoleLoop, limit: int | None) -> JsonObject:
    found: JsonObject = {} if limit is None else {"maxIterations": limit}
    match loop.termination:
        case EvaluationBound(criteria=told) | GoalBound(goal_prompt=told):
            pass
        case TimeBound(seconds=seconds, deadline=deadline):
            told = deadline.isoformat() if deadline is not None else f"{seconds} s"
        case Manual():
            told = ""
        case ToolBound(tool=tool, operator=operator, threshold=threshold):
            told = f"{tool} {operator} {threshold}"
        case _:
            told = str(limit)
    return {**found, "criterion": {"type": loop.ends_by, "value": told}}


def _project(table: Table, definition: str, request: StartRequest, session: str, goal: str) -> JsonObject:
    return project_of(table, definition, goal, session, request.project_id, request.project_slug)
