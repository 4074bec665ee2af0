"""The one function that says what a run may do, from its plan: nothing but what is recorded at its start.

The same function answers before the start, for whoever has to agree, and while the run works, for every
effect. So what was not shown cannot happen, also after the files have changed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

from loop_ls.engine.assistants.profile import asked_for_memory
from loop_ls.engine.assistants.program import start_of
from loop_ls.engine.capabilities.agents import agents
from loop_ls.engine.capabilities.asked import chains, environment_names
from loop_ls.engine.capabilities.endpoints import endpoints
from loop_ls.engine.capabilities.needs import Needs, needs, of_servers
from loop_ls.engine.capabilities.values import (
    Beside,
    Capabilities,
    Capability,
    FileFilter,
    OwnWorktree,
    Program,
    Variable,
    WritesFile,
    place_of,
)
from loop_ls.engine.checks.declared import asked_by_checks, commands, declared_checks
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import BESIDE, ENHANCE, Plan, filters_in, notified_program
from loop_ls.engine.judges.test_command import words_of
from loop_ls.engine.roles.access import servers_with, stands_for, tool_use
from loop_ls.engine.roles.program import snapshot
from loop_ls.engine.roles.targets import asked_of, player_of
from loop_ls.engine.runners.resolve import is_agent
from loop_ls.engine.runs.preflight import reachable
from loop_ls.formats.assistant.keys import TEST_PASS
from loop_ls.formats.assistant.model import Assistant
from loop_ls.formats.common.isolate import ISOLATE, WORKTREE
from loop_ls.formats.common.target import Target
from loop_ls.formats.registry import ASSISTANT, ROLE_LOOP, WORKFLOW
from loop_ls.formats.role_loop.model import ToolBound
from loop_ls.formats.role_loop.roles import known_roles
from loop_ls.formats.workflow.model import Embeddings, Step
from loop_ls.index.disk.skill_files import skill_paths
from loop_ls.text.json_value import JsonObject, as_object, text_field


def capabilities_of(plan: Plan, environ: Mapping[str, str]) -> Capabilities:
    """Everything that the run of this plan may do. A mock run and a replay do nothing. Raises `Failure` where
    the plan cannot be read, `Refused` where its settings make no sense."""
    derive = OF_FORMAT.get(plan.format)
    found = () if derive is None else derive(plan, environ)
    capabilities = Capabilities.of((*found, *_notified(plan)))
    named = wants_worktree(plan) or capabilities.isolated
    capabilities = capabilities.in_place
    if not capabilities.works:
        return capabilities
    return Capabilities.of((*capabilities.all, *(_worktree(plan) if named else _beside(plan))))


def wants_worktree(plan: Plan) -> bool:
    """Whether settings, assistant or a role say `isolate: worktree`. Raises `Failure`, and `Refused` for another word:
    who wrote it does not want the run in their files."""
    if plan.plays or plan.format == ENHANCE:
        return False
    said = [plan.settings.get(ISOLATE)]
    if plan.format == ASSISTANT:
        said.append(start_of(plan).assistant.isolate)
    if plan.format == ROLE_LOOP:
        roles = as_object(plan.settings.get("roles"))
        said += [as_object(roles.get(stage.role)).get(ISOLATE) for stage in snapshot(plan).stages]
    providers = as_object(plan.settings.get("providers"))
    for one in (*said, *(as_object(provider).get(ISOLATE) for provider in providers.values())):
        if one not in (None, WORKTREE):
            raise Refused("bad_argument", f"Unknown `isolate` `{one}`.", f"The only value is `{WORKTREE}`.")
    return WORKTREE in said


def of_targets(
    targets: Iterable[Target],
    plan: Plan,
    environ: Mapping[str, str],
    variables: Iterable[str] = (),
    apart: bool = False,
) -> list[Capability]:
    """What asking these takes, the programs among them included; `apart` as for `agents`. Raises `Refused`."""
    names, providers = {target.provider for target in targets}, as_object(plan.settings.get("providers"))
    models = [name for name in names if not is_agent(name, providers)]
    programs: list[Capability] = [*agents(names, providers, plan.root, variables, apart)]
    if any(is_agent(name, providers) and as_object(providers.get(name)).get(ISOLATE) == WORKTREE for name in names):
        programs.append(OwnWorktree(plan.home))
    return [*programs, *endpoints(models, providers, environ, variables)]


def needs_of(plan: Plan) -> Needs:
    """The servers and stores of a workflow's run. Raises `Failure` and `Refused`."""
    library = Library.of(plan)
    return needs(library, reached_by(plan, library), _elements(plan), plan.settings)


def reached_by(plan: Plan, library: Library) -> tuple[str, ...]:
    """The workflows that a run can reach. Raises `Failure`."""
    return reachable(library, library.key_of(plan.path), _elements(plan))


def test_words(assistant: Assistant) -> tuple[str, ...]:
    """The words of the command that judges an assistant; () where none does."""
    criteria = assistant.criteria
    if criteria is None or criteria.type != TEST_PASS:
        return ()
    return words_of(criteria.value) if criteria.argv is None else criteria.argv


def _notified(plan: Plan) -> list[Capability]:
    words = notified_program(plan)
    return [Program(words, plan.root)] if words else []


def _worktree(plan: Plan) -> Iterator[Capability]:
    yield OwnWorktree(plan.home)
    for command in filters_in(plan.details):
        yield FileFilter(command, plan.home)


def _beside(plan: Plan) -> Iterator[Capability]:
    for other in cast("list[JsonObject]", plan.details.get(BESIDE) or []):
        yield Beside(text_field(other, "name"), text_field(other, "runId"))


def _of_workflow(plan: Plan, environ: Mapping[str, str]) -> list[Capability]:
    library = Library.of(plan)
    reached, elements = reached_by(plan, library), _elements(plan)
    names = environment_names(library, reached)
    variables: list[Capability] = [Variable(name) for name in names]
    files = [WritesFile(folder) for folder in _written_folders(plan, library, reached)]
    if plan.format == ENHANCE and plan.details.get("headless"):
        files += [WritesFile(str(Path(plan.root, path))) for path in (plan.path, *_edited_files(plan))]
    if plan.plays:  # nothing but texts: they are put together and written all the same
        return [*variables, *files]
    needed = needs(library, reached, elements, plan.settings)
    chain = [*chains(library, reached, elements, plan.settings), *needed.asked]
    chain += asked_by_checks(plan)
    targets = [target for _, each in chain for target in each]
    if named := as_object(plan.details.get("planner")):
        targets.append(Target(str(named.get("provider")), str(named.get("model"))))
    asked = of_targets(targets, plan, environ, names)
    return [*variables, *files, *asked, *_started_by_checks(plan), *needed.programs(plan.root), *needed.places(environ)]


def _started_by_checks(plan: Plan) -> list[Program]:
    return [Program(words, plan.root) for words in commands(declared_checks(plan))]


def _edited_files(plan: Plan) -> list[str]:
    """Called workflows that plans of an enhance loop may edit."""
    found = plan.details.get("files")
    return [str(path) for path in found] if isinstance(found, list) else []


def _written_folders(plan: Plan, library: Library, reached: Iterable[str]) -> list[str]:
    """Where steps that make vectors may leave them."""
    elements = (element for key in reached for element in library.workflow(key).elements)
    if not any(isinstance(one, Step) and isinstance(one.mode, Embeddings) and one.mode.output_file for one in elements):
        return []
    files = ProjectFiles.of(plan.root, plan.settings)
    return [str(folder.resolve()) for folder in (files.root, files.outputs)]


def _of_role_loop(plan: Plan, environ: Mapping[str, str]) -> list[Capability]:
    if plan.plays:
        return []
    loop = snapshot(plan)
    settings, root = plan.settings, plan.root
    roles = known_roles(as_object(settings.get("roles")))
    access = {stage.role: roles[stage.role].access for stage in loop.stages}
    own = (stands_for(roles[name], root, player_of(name, settings, root)) for name in access)
    found: list[Capability] = [one for one in own if one is not None]
    known = as_object(settings.get("servers"))
    servers = set(known) if "full" in access.values() else set()
    if isinstance(loop.termination, ToolBound):
        bound = loop.termination
        found.append(tool_use(bound.tool, bound.arguments, root))
        servers |= set(servers_with(bound.tool, known))
    needed = of_servers(known, sorted(servers))
    targets = [target for _, chain in (*asked_of(loop, settings), *asked_by_checks(plan)) for target in chain]
    apart = "full" not in access.values()
    asked = of_targets(targets, plan, environ, apart=apart)
    return [*found, *asked, *_started_by_checks(plan), *needed.programs(root), *needed.places(environ)]


def _of_assistant(plan: Plan, environ: Mapping[str, str]) -> Iterator[Capability]:
    if plan.plays:
        return
    assistant = start_of(plan).assistant
    chains = [*asked_by_checks(plan), *asked_for_memory(assistant, plan.settings)]
    asked = [target for _, chain in chains for target in chain]
    yield from of_targets([Target(assistant.provider, assistant.model or ""), *asked], plan, environ)
    if assistant.memory:
        yield WritesFile(str(Path(plan.root, assistant.memory)))
    needed = of_servers(as_object(plan.settings.get("servers")), assistant.servers)
    yield from needed.programs(plan.root)
    yield from needed.places(environ)
    yield from _started_by_checks(plan)
    if test_words(assistant):
        yield _test_of(assistant, plan)


def _test_of(assistant: Assistant, plan: Plan) -> Program:
    criteria = assistant.criteria
    folder = plan.root if criteria is None or not criteria.cwd else f"{plan.root}/{criteria.cwd}"
    return Program(test_words(assistant), folder, place=place_of(folder, plan.root))


def checking_programs(plan: Plan) -> list[Program]:
    """The programs that decide how good the work of a run is. Raises `Failure`."""
    found = _started_by_checks(plan)
    if plan.format == ASSISTANT and test_words(assistant := start_of(plan).assistant):
        found.append(_test_of(assistant, plan))
    if plan.format == ROLE_LOOP and isinstance(bound := snapshot(plan).termination, ToolBound):
        found += _measuring(bound, plan)
    return found


def skills_of_stages(plan: Plan) -> list[str]:
    """The skills that stages are told to work by, as paths below the workspace where they may lie: they read them when
    they begin. Raises `Failure`."""
    if plan.format != ROLE_LOOP:
        return []
    return [path for stage in snapshot(plan).stages for name in stage.skills for path in skill_paths(name)]


def _measuring(bound: ToolBound, plan: Plan) -> Iterator[Program]:
    """The command whose number ends a loop. What another tool reads is the work itself."""
    if bound.tool == "shell":
        with suppress(ValueError):  # a quote that nobody closes
            yield Program(tuple(shlex.split(text_field(bound.arguments, "command"))), plan.root)


def _elements(plan: Plan) -> frozenset[str] | None:
    return None if plan.elements is None else frozenset(plan.elements)


#: What derives the capabilities of a run, by its format. A loop system of another format adds its own.
OF_FORMAT: dict[str, Callable[[Plan, Mapping[str, str]], Iterable[Capability]]] = {
    WORKFLOW: _of_workflow,
    ENHANCE: _of_workflow,
    ROLE_LOOP: _of_role_loop,
    ASSISTANT: _of_assistant,
}
