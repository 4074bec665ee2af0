"""Commands about one file: the file or name that was given, in its workspace."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass

from loop_ls.cli.commands.check import write
from loop_ls.cli.runs.run_request import Wrong, found_file
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.index.disk.discovery import discover, load
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace


@dataclass(frozen=True, slots=True)
class OneFile:
    workspace: Workspace
    document: Document


def add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="FILE|NAME", help="A workflow file, or the name of a workflow")
    parser.add_argument("--root", metavar="DIR", help="Workspace root (default: the project around the file)")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="Print one JSON object instead of text")


def open_workflow(word: str, root: str | None, others: frozenset[str] = frozenset()) -> OneFile:
    """`others` are formats that the command understands besides. Raises `Wrong`."""
    place, path = found_file(word, root)
    workspace = discover(str(place)).workspace
    document = next((one for one in workspace.documents.values() if one.path == path.as_posix()), None)
    if document is None and (document := load(path.as_posix())) is not None:
        workspace = workspace.with_document(document)
    if document is None or (not document.is_workflow and document.format not in others):
        raise Wrong(f"{word} is not a workflow file")
    if document.fault is not None:
        raise Wrong(f"{word} cannot be read: {document.fault.message}")
    return OneFile(workspace.project(document.path), document)


def element_named(document: Document, name: str, loops_only: bool = False) -> Element:
    """A step or loop of the file. Raises `Wrong`."""
    fitting = [one for one in document.elements if one.name and (one.loop is not None or not loops_only)]
    for element in fitting:
        if element.name == name:
            return element
    noun = "loop" if loops_only else "step or loop"
    near = nearest(name, [one.name for one in fitting])
    raise Wrong(f"no {noun} `{name}` in {document.path}" + (f"; did you mean `{near}`?" if near else ""))


def print_json(value: Mapping[str, object]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    write(text.encode("utf-8", "replace").decode("utf-8") + "\n")
