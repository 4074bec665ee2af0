"""`loop-ls convert`: a loop in another format, as far as that one can say the same, and what gets lost."""

from __future__ import annotations

import argparse
from pathlib import Path

from loop_ls.cli.commands.check import CLEAN, refuse, say, write
from loop_ls.cli.runs.run_request import Wrong, found_file
from loop_ls.features.convert.from_others import from_assistant, from_role_loop
from loop_ls.features.convert.from_workflow import from_workflow
from loop_ls.features.convert.gist import Converted, Gist, NoConversion
from loop_ls.features.convert.writing import to_assistant, to_role_loop, to_workflow
from loop_ls.formats import registry
from loop_ls.formats.assistant.read import read_assistants
from loop_ls.formats.role_loop.read import read_role_loop
from loop_ls.index.disk.discovery import discover, load
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.index.workspace import Workspace
from loop_ls.report.baseline import write_whole
from loop_ls.report.terminal_text import shown

HELP = "convert a loop to another format"

CONVERTIBLE = (registry.WORKFLOW, registry.ROLE_LOOP, registry.ASSISTANT)
FORMATS = tuple(name.replace("_", "-") for name in CONVERTIBLE)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="FILE|NAME", help="A loop of any format")
    parser.add_argument("--to", required=True, choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument("--loop", metavar="NAME", help="Loop or assistant to convert, if the file has several")
    parser.add_argument("--into", default=".", metavar="DIR", help="Folder for the new files (default: this one)")
    parser.add_argument("--root", metavar="DIR", help="Workspace root (default: the project around the file)")


def run(args: argparse.Namespace) -> int:
    try:
        gist = read(args.what, args.root, args.loop, args.to)
        converted = written(gist, args.to)
    except (Wrong, NoConversion) as error:
        return refuse(str(error))
    into = Path(args.into)
    there = [path for path in converted.files if (into / path).exists()]
    if there:
        return refuse(f"{into / there[0]} already exists; nothing was written")
    try:
        for path, text in converted.files.items():
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(into / path, text.encode("utf-8", "replace"), into)
    except OSError as error:
        return refuse(f"{into} cannot be written: {error.strerror or error}")
    write("".join(f"{shown(str(into / path))}\n" for path in converted.files))
    for sentence in converted.lost:
        say(f"lost: {shown(sentence)}")
    return CLEAN


def read(word: str, root: str | None, name: str | None, to: str) -> Gist:
    """Raises `Wrong` and `NoConversion`."""
    place, path = found_file(word, root)
    workspace = discover(str(place)).workspace
    document = next((one for one in workspace.documents.values() if one.path == path.as_posix()), None)
    if document is None:
        document = load(path.as_posix())
    format_ = document.format if document is not None else None
    if document is None or format_ not in CONVERTIBLE:
        raise Wrong(f"{word} is not a workflow, role loop or assistant")
    if document.fault is not None:
        raise Wrong(f"{word} cannot be read: {document.fault.message}")
    if format_.replace("_", "-") == to:
        raise Wrong(f"{word} is already a {to}")
    return _gist(workspace, document, name)


def _gist(workspace: Workspace, document: Document, name: str | None) -> Gist:
    match document.format:
        case registry.WORKFLOW:
            return from_workflow(workspace.with_document(document), document, name)
        case registry.ROLE_LOOP:
            loop = read_role_loop(document.text, roles=roles_of(workspace.settings))
            if isinstance(loop, list):
                raise Wrong(f"{document.path} has an error; fix it first: {loop[0].message}")
            return from_role_loop(loop)
        case _:
            return _assistant(document, name)


def _assistant(document: Document, name: str | None) -> Gist:
    found = read_assistants(document.text, document.path.endswith(".json"))
    if isinstance(found, list):
        raise Wrong(f"{document.path} has an error; fix it first: {found[0].message}")
    chosen = [one for one in found if name in (None, one.id, one.name)]
    if len(chosen) != 1:
        raise Wrong(f"choose one of {', '.join(f'`{one.id}`' for one in found)} with --loop")
    return from_assistant(chosen[0])


def written(gist: Gist, to: str) -> Converted:
    match to:
        case "workflow":
            return to_workflow(gist)
        case "role-loop":
            return to_role_loop(gist)
        case _:
            return to_assistant(gist)
