"""Definitions: what a workspace has that can be run, with inputs and limits, as rows of JSON.

A file with errors is listed with its first one, so that nobody looks in vain for it. The command line prints these
rows, and the engine's catalogue starts from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NotRequired, TypedDict

from loop_ls.features.runs.runnables import runnables
from loop_ls.formats import registry
from loop_ls.formats.assistant.read import read_assistants
from loop_ls.formats.registry import can_run
from loop_ls.formats.role_loop.model import RoleLoop
from loop_ls.formats.role_loop.read import read_role_loop
from loop_ls.index.disk.uris import stem_of
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.object_file import roles_of
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Severity
from loop_ls.text.json_value import Json


class DefinedLoop(TypedDict):
    name: str
    mode: str | None
    maxIterations: int | None
    until: str | None


class DefinedParameter(TypedDict):
    name: str
    required: bool
    description: NotRequired[str]
    default: NotRequired[Json]


class Definition(TypedDict):
    """What can be run: `loops` of a workflow, `stages` of a role loop with their `roles` and the `termination` that
    ends it, whether an assistant has a loop (`loop`) and what ends it. `path` is relative to the root; `error` is the
    first one of its file."""

    format: str | None
    name: str
    description: NotRequired[str]
    parameters: NotRequired[list[DefinedParameter]]
    loops: NotRequired[list[DefinedLoop]]
    stages: NotRequired[list[str]]
    roles: NotRequired[list[str]]
    termination: NotRequired[str]
    loop: NotRequired[bool]
    criteria: NotRequired[str | None]
    maxIterations: NotRequired[int | None]
    path: NotRequired[str]
    error: NotRequired[str | None]


def definitions(workspace: Workspace, root: str) -> list[Definition]:
    """By format, then path."""
    documents = [one for one in workspace.documents.values() if can_run(one.format)]
    documents.sort(key=lambda one: (not one.is_workflow, str(one.format), one.path))
    checked = Checker().check_all(workspace, {one.uri for one in documents})
    errors = {
        document.uri: next((f"{one.rule}: {one.message}" for one in found if one.severity is Severity.ERROR), None)
        for document, found in checked
    }
    listed: list[Definition] = []
    for document in documents:
        path = document.path.removeprefix(f"{root.rstrip('/')}/")
        for one in _of(workspace, document):
            listed.append({**one, "path": path, "error": errors.get(document.uri)})
    return listed


def built_in(data: Path, known: set[str]) -> list[Definition]:
    """The role loops that come with the product, as they are in the engine's data folder: those of a name that
    the workspace has not."""
    from loop_ls.engine.roles.definitions import built_in_definitions

    found = built_in_definitions(data)
    return [
        {
            **_of_role_loop(one.name, one.loop),
            "path": "built in",
            "error": None if one.error is None else f"{one.error.code}: {one.error.message}",
        }
        for one in found
        if one.name not in known
    ]


def _parameters(loop: RoleLoop) -> list[DefinedParameter]:
    return [
        {"name": one.name, "required": one.required, "description": one.description, "default": one.default}
        for one in loop.parameters
    ]


def _of(workspace: Workspace, document: Document) -> Iterator[Definition]:
    match document.format:
        case registry.WORKFLOW:
            yield _workflow(workspace, document)
        case registry.ROLE_LOOP:
            yield _role_loop(workspace, document)
        case registry.ASSISTANT:
            yield from _assistants(document)
        case format_:
            for one in runnables(document):
                yield {"format": format_, "name": one.name}


def _workflow(workspace: Workspace, document: Document) -> Definition:
    return {
        "format": registry.WORKFLOW,
        "name": workspace.key(document) or "",
        "description": document.head.text("description") or "",
        "parameters": [{"name": name, "required": True} for name in document.parameters],
        "loops": [_loop(one) for one in document.elements if one.loop is not None and one.name],
    }


def _loop(element: Element) -> DefinedLoop:
    loop = element.loop
    assert loop is not None
    limit, until = loop.integer("max_iterations"), loop.text("until")
    return {"name": element.name or "", "mode": element.loop_mode, "maxIterations": limit, "until": until}


def _role_loop(workspace: Workspace, document: Document) -> Definition:
    found = read_role_loop(document.text, roles=roles_of(workspace.settings))
    if isinstance(found, list):
        return _of_role_loop(stem_of(document.path), None)
    return _of_role_loop(found.name, found)


def _of_role_loop(name: str, loop: RoleLoop | None) -> Definition:
    """`loop` None: it cannot be read."""
    if loop is None:
        return {"format": registry.ROLE_LOOP, "name": name}
    return {
        "format": registry.ROLE_LOOP,
        "name": name,
        "description": loop.description,
        "parameters": _parameters(loop),
        "stages": [one.label for one in loop.stages],
        "roles": [one.role for one in loop.stages],
        "termination": loop.ends_by,
        "maxIterations": loop.max_iterations,
    }


def _assistants(document: Document) -> Iterator[Definition]:
    found = read_assistants(document.text, document.path.endswith(".json"))
    if isinstance(found, list):
        yield {"format": registry.ASSISTANT, "name": stem_of(document.path).removesuffix(".assistant")}
        return
    for one in found:
        yield {
            "format": registry.ASSISTANT,
            "name": one.id,
            "description": one.description,
            "loop": one.loop_enabled,
            "criteria": one.criteria.type if one.criteria is not None else None,
            "maxIterations": one.max_iterations,
        }
