"""Preparing a run of an assistant file: everything that can refuse it, then its first fact.

In this order: the file has no errors that keep it from meaning something, it holds the assistant, that one
may loop, there is a message, somebody can be asked, and the user has agreed to the programs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.assistants.memory_file import is_protected, other_content
from loop_ls.engine.assistants.profile import asked_for_memory
from loop_ls.engine.assistants.program import names_of, start_of
from loop_ls.engine.capabilities.consent import Consents
from loop_ls.engine.capabilities.derive import capabilities_of
from loop_ls.engine.checks.declared import asked_by_checks
from loop_ls.engine.context.skill_texts import read_skill
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import ModelAccess, Plan, read_plan
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.preparer import Prepared, Problem, Validate
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.journal.serialization import plain_text
from loop_ls.engine.money.caps import Caps, in_dollars
from loop_ls.engine.money.pricing import price_of
from loop_ls.engine.runners.resolve import is_agent, takes_tools
from loop_ls.engine.starting.declared_checks import DeclaredAtStart, declaration, with_case
from loop_ls.engine.starting.folder import Folder
from loop_ls.engine.starting.recorded import SECTIONS, has_errors, recorded, unread
from loop_ls.engine.starting.required_inputs import require_mock, require_models, require_prices
from loop_ls.formats.assistant.model import Assistant
from loop_ls.formats.assistant.problems import TOLERATED
from loop_ls.formats.assistant.read import read_assistants
from loop_ls.formats.checks.target import Places
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.target import Target
from loop_ls.formats.registry import ASSISTANT
from loop_ls.index.disk.discovery import find_roots, load_settings, read_text
from loop_ls.index.disk.projects import home_of
from loop_ls.index.disk.skill_files import skill_path
from loop_ls.index.disk.uris import uri_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.hash import hash_of
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field


@dataclass(frozen=True, slots=True)
class Chosen:
    """`disk` is the hash of the file as it lies on the disk; None where it does not. `places`: what checks may look
    at, in any assistant of the file. `skills`: what those of the assistant say, by path."""

    assistant: Assistant
    text: str
    disk: str | None
    settings: Mapping[str, Json]
    places: Places
    skills: Mapping[str, str] = field(default_factory=dict)


class AssistantPreparer:
    """Prepares starts from all roots of one engine; `folder` is its data folder."""

    def __init__(self, folder: Path, validate: Validate, environ: Mapping[str, str] | None = None) -> None:
        self._validate, self._environ = validate, os.environ if environ is None else environ
        self._consents = Consents(folder)
        self._thread = ThreadPoolExecutor(1, "start-assistant")

    async def prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._prepare, request, models)

    def _prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        snapshot = None
        if request.check is not None:
            snapshot = Folder(request.root).snapshot(request.texts, request.path, request.settings)
            request = with_case(snapshot, request, "message")
        chosen = self._chosen(request)
        assistant = chosen.assistant
        if not assistant.loop_enabled:
            told = f"`{assistant.name}` cannot run as a loop: `loopEnabled` is not true."
            raise Refused("bad_argument", told, "Set `loopEnabled: true` in its file.")
        if request.message is None and request.input is None:
            told = "Missing message: what the assistant should do."
            raise Refused("input_required", told, "Pass a text.", {"names": ["message"]})
        declared = DeclaredAtStart()
        if snapshot is not None:
            declared = declaration(snapshot, request.path, request.check, ASSISTANT, chosen.places)
        prepared = _prepared(chosen, request, declared)
        plan = read_plan("", {**prepared.started.fact()[1]}, lambda name: prepared.texts.get(name, ""))
        self._settle(assistant, plan, request.consent, models)
        return prepared

    async def agree(
        self, started: RunStarted, texts: Mapping[str, str], consent: str | None, models: Callable[[Plan], ModelAccess]
    ) -> RunStarted:
        """What `prepare` asks of models and people, for a run whose texts are recorded. Raises `Refused`."""
        plan = read_plan("", {**started.fact()[1]}, lambda name: texts.get(name, ""))
        try:
            assistant = start_of(plan).assistant
        except Failure as failure:
            raise Refused("not_found", failure.message) from failure
        self._settle(assistant, plan, consent, models)
        return started

    def _chosen(self, request: StartRequest) -> Chosen:
        whole = f"{request.root.as_posix()}/{request.path}"
        home = home_of(request.root.as_posix(), request.path)
        settings, _ = load_settings(home, request.settings)
        read = read_text(whole)
        disk = None if read is None else plain_text(str(read))
        text = request.texts.get(request.path, disk)
        if text is None:
            raise unread(request.root.as_posix(), request.path)
        document = Document.open(uri_of(whole), text, path=whole)
        workspace = Workspace.of(find_roots(home, settings), [document], settings)
        problems = [each for each in self._validate(workspace, [document])[0] if each.code not in TOLERATED]
        if problems:
            raise has_errors(request.path, problems)
        found = read_assistants(text, json=request.path.endswith(".json"))
        if isinstance(found, list):
            refusals = [Problem(each.code, each.message, each.span.start.line + 1) for each in found]
            raise has_errors(request.path, refusals)
        assistant = _named(found, request)
        places = Places(assistant.name, {"loop": [name for one in found for name in names_of(one)]})
        files = ProjectFiles.of(request.root.as_posix(), settings.raw)
        _require_own_memory(assistant, files)
        read_skills = {skill_path(name): read_skill(files, name) for name in assistant.skills}
        skills = {path: said for path, said in read_skills.items() if said is not None}
        return Chosen(assistant, text, None if disk is None else hash_of(disk), settings.raw, places, skills)

    def _settle(
        self, assistant: Assistant, plan: Plan, consent: str | None, models: Callable[[Plan], ModelAccess]
    ) -> None:
        """Somebody can be asked, and the user has agreed to what is started and sent. Raises `Refused`."""
        provider, providers = assistant.provider, as_object(plan.settings.get("providers"))
        if plan.mock:  # nobody is asked, nothing is sent, and nothing is started
            require_mock(models(plan))
            return
        found = capabilities_of(plan, self._environ)
        if not is_agent(provider, providers) and (problem := models(plan).problem(provider)) is not None:
            raise Refused("provider_unavailable", problem.message, problem.hint, {"provider": provider})
        _require_tools(assistant, providers)
        judges = [*asked_by_checks(plan), *asked_for_memory(assistant, plan.settings)]
        require_models(judges, models(plan).problem)
        if in_dollars(plan.limits, plan.settings.get("limits")):
            asked = [(f"`{assistant.name}`", (Target(provider, assistant.model or ""),)), *judges]
            require_prices(asked, lambda target: price_of(target.provider, target.model, providers, self._environ))
        self._consents.settle(found, consent, plan.root)


def _named(found: tuple[Assistant, ...], request: StartRequest) -> Assistant:
    wanted = request.target_name
    if wanted is None and len(found) == 1:
        return found[0]
    keys = [each.id for each in found]
    if wanted is None:
        listed = ", ".join(f"`{key}`" for key in keys)
        hint = "Start one by its id (`loop-ls run ID`), or set it in the `target` of the request."
        raise Refused("bad_argument", f"{request.path} contains several assistants: {listed}.", hint)
    fitting = [each for each in found if each.id == wanted] or [each for each in found if each.name == wanted]
    if not fitting:
        near = nearest(wanted, keys)
        guess = f"; did you mean `{near}`?" if near else "."
        raise Refused("not_found", f"Unknown assistant `{wanted}` in {request.path}{guess}")
    return fitting[0]


def _require_own_memory(assistant: Assistant, files: ProjectFiles) -> None:
    """Raises `Refused` before a file of somebody else would be in the way, or a model would write what agents are
    told."""
    if assistant.memory and is_protected(files, assistant.memory):
        told = f"`memory` of `{assistant.name}`: {assistant.memory} is a protected file, which models may not write."
        raise Refused("bad_argument", told, "Choose another name.")
    if assistant.memory and other_content(files, assistant.memory):
        told = (
            f"`memory` of `{assistant.name}`: {assistant.memory} exists and has other content, so it is not replaced."
        )
        raise Refused("bad_argument", told, "Choose another name.")


def _require_tools(assistant: Assistant, providers: Mapping[str, Json]) -> None:
    """Raises `Refused` where an agent cannot be offered the tools of servers."""
    if not assistant.servers or not is_agent(assistant.provider, providers):
        return
    try:
        takes = takes_tools(assistant.provider, providers)
    except Failure as failure:
        raise Refused("provider_unavailable", failure.message, failure.hint) from failure
    if not takes:
        told = f"`{assistant.name}` uses `{assistant.provider}`, an agent that does not support tools of"
        hint = "Remove `servers` from the assistant, and configure them in the agent itself."
        raise Refused("bad_argument", f"{told} `servers`.", hint)


def _prepared(chosen: Chosen, request: StartRequest, declared: DeclaredAtStart) -> Prepared:
    assistant = chosen.assistant
    texts = {request.path: chosen.text, **chosen.skills, **declared.texts}
    started = RunStarted(
        format=ASSISTANT,
        name=assistant.name,
        target={"kind": "assistant", "name": assistant.id},
        root=request.root.as_posix(),
        uri=request.uri,
        path=request.path,
        limits=_limits(chosen, request),
        settings=recorded(chosen.settings, (*SECTIONS, "servers") if assistant.servers else SECTIONS),
        files={path: hash_of(text) for path, text in texts.items()},
        message=request.message if request.message is not None else request.input,
        session_id=request.session_id,
        origin=request.origin,
        detach=request.detach,
        mock=request.mock,
        plan={"maxIterations": request.max_iterations, "disk": chosen.disk, **declared.plan, **request.noted},
    )
    return Prepared(started, {hash_of(text): text for text in texts.values()})


def _limits(chosen: Chosen, request: StartRequest) -> JsonObject:
    settings = as_object(chosen.settings.get("limits"))
    assistant, ceiling = chosen.assistant, int_field(settings, "maxIterations")
    wanted = request.max_iterations or assistant.max_iterations
    criteria = assistant.criteria
    return {
        **Caps.of(settings, request.limits).wire(),
        "maxIterations": wanted if ceiling is None else min(wanted, ceiling),
        "criterion": {
            "type": criteria.type if criteria else "max_iterations",
            "value": criteria.value if criteria else "",
        },
        **Caps.of(settings, request.limits).wire(),
    }
