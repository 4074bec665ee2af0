"""`loop-ls definitions`: what a workspace has that can be run, with its inputs and limits.

A file with errors is listed with its first one, so that nobody looks in vain for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.cli.engine.connect import data_dir_of, root_of
from loop_ls.cli.files.one_file import add_json, print_json
from loop_ls.formats.assistant.read import read_assistants
from loop_ls.formats.role_loop.model import RoleLoop
from loop_ls.formats.role_loop.read import read_role_loop
from loop_ls.index.disk.discovery import discover
from loop_ls.index.disk.uris import stem_of
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.object_file import roles_of
from loop_ls.index.workspace import Workspace
from loop_ls.report.terminal_text import shown
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Severity

HELP = "list what can be run, with its inputs"

Json = dict[str, Any]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", help="workspace root (default: the project around the current folder)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    root = root_of(args.root).as_posix()
    if not Path(root).is_dir():
        return refuse(f"--root {args.root} is no folder")
    own = definitions(discover(root, named=()).workspace, root)
    found = own + built_in(root, {one["name"] for one in own if one["format"] == "role_loop"})
    if args.json:
        print_json({"ok": True, "definitions": found})
        return CLEAN
    write("".join(f"{line}\n" for one in found for line in _lines(one)))
    if not own:
        write("None of them is of this folder. Begin with one: loop-ls new loop NAME\n")
    return CLEAN


def definitions(workspace: Workspace, root: str) -> list[Json]:
    """By format, then path."""
    documents = [one for one in workspace.documents.values() if one.format in ("workflow", "role_loop", "assistant")]
    documents.sort(key=lambda one: (str(one.format) != "workflow", str(one.format), one.path))
    checked = Checker().check_all(workspace, {one.uri for one in documents})
    errors = {
        document.uri: next((f"{one.rule}: {one.message}" for one in found if one.severity is Severity.ERROR), None)
        for document, found in checked
    }
    listed: list[Json] = []
    for document in documents:
        path = document.path.removeprefix(f"{root.rstrip('/')}/")
        for one in _of(workspace, document):
            listed.append({**one, "path": path, "error": errors.get(document.uri)})
    return listed


def built_in(root: str, known: set[str]) -> list[Json]:
    """The role loops that come with the product, as they are in the engine's folder: those of a name that
    the workspace has not."""
    from loop_ls.client import data_folder
    from loop_ls.engine.roles.definitions import built_in_definitions

    found = built_in_definitions(data_folder(root, data_dir_of(None, Path(root))))
    return [
        {
            "format": "role_loop",
            "name": one.name,
            "description": one.loop.description if one.loop else "",
            "parameters": _parameters(one.loop) if one.loop else [],
            "stages": [stage.label for stage in one.loop.stages] if one.loop else [],
            "maxIterations": getattr(one.loop.termination, "max_iterations", None) if one.loop else None,
            "path": "built in",
            "error": None if one.error is None else f"{one.error.code}: {one.error.message}",
        }
        for one in found
        if one.name not in known
    ]


def _parameters(loop: RoleLoop) -> list[Json]:
    return [
        {"name": one.name, "required": one.required, "description": one.description, "default": one.default}
        for one in loop.parameters
    ]


def _of(workspace: Workspace, document: Document) -> Iterator[Json]:
    match document.format:
        case "workflow":
            yield _workflow(workspace, document)
        case "role_loop":
            yield _role_loop(workspace, document)
        case _:
            yield from _assistants(document)


def _workflow(workspace: Workspace, document: Document) -> Json:
    return {
        "format": "workflow",
        "name": workspace.key(document) or "",
        "description": document.head.text("description") or "",
        "parameters": [{"name": name, "required": True} for name in document.parameters],
        "loops": [_loop(one) for one in document.elements if one.loop is not None and one.name],
    }


def _loop(element: Element) -> Json:
    loop = element.loop
    assert loop is not None
    limit, until = loop.integer("max_iterations"), loop.text("until")
    return {"name": element.name, "mode": element.loop_mode, "maxIterations": limit, "until": until}


def _role_loop(workspace: Workspace, document: Document) -> Json:
    found = read_role_loop(document.text, roles=roles_of(workspace.settings))
    if isinstance(found, list):
        return {"format": "role_loop", "name": stem_of(document.path)}
    return {
        "format": "role_loop",
        "name": found.name,
        "description": found.description,
        "parameters": _parameters(found),
        "stages": [one.label for one in found.stages],
        "maxIterations": getattr(found.termination, "max_iterations", None),
    }


def _assistants(document: Document) -> Iterator[Json]:
    found = read_assistants(document.text, document.path.endswith(".json"))
    if isinstance(found, list):
        yield {"format": "assistant", "name": stem_of(document.path).removesuffix(".assistant")}
        return
    for one in found:
        yield {
            "format": "assistant",
            "name": one.id,
            "description": one.description,
            "loop": one.loop_enabled,
            "criteria": one.criteria.type if one.criteria is not None else None,
            "maxIterations": one.max_iterations,
        }


def _lines(one: Json) -> Iterator[str]:
    words = {"role_loop": "role loop"}.get(one["format"], one["format"])
    yield f"{shown(one['name'] or '(no name)')}  {words}  {shown(one['path'])}"
    if one.get("error"):
        yield f"    cannot be run: {shown(one['error'])}"
        return
    if one.get("description"):
        yield f"    {shown(' '.join(one['description'].split()))}"
    for loop in one.get("loops", ()):
        until = f" until: {loop['until']}" if loop["until"] else ""
        yield f"    loop {shown(loop['name'])}: at most {loop['maxIterations']} {_noun(loop)}{shown(until)}"
    if one.get("stages"):
        limit = one["maxIterations"]
        yield f"    {shown(' → '.join(one['stages']))}{f', at most {limit} iterations' if limit else ''}"
    if one["format"] == "assistant" and one.get("loop"):
        yield f"    loops at most {one['maxIterations']} times; ends by: {one['criteria'] or 'nothing else'}"
    for parameter in one.get("parameters", ()):
        default = f" = {parameter['default']}" if parameter.get("default") is not None else ""
        yield f"    --param {shown(parameter['name'])}{shown(default)}"


def _noun(loop: Json) -> str:
    return "items" if loop["mode"] == "iterate" else "iterations"
