"""Called workflows of a workspace that has more files than are read: looked up where a call would find them.

A reference means a workflow in the caller's folder or in one counted from a root, never one further
down. So a few folders tell whether there is such a workflow, however large the workspace is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from loop_ls.index.disk.discovery import is_candidate, load
from loop_ls.index.disk.uris import folder_of, stem_of, uri_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace

#: Files that are looked at, in all folders together.
MOST = 5_000


class NearbyWorkspace(NamedTuple):
    """`complete`: every folder was looked at, so that a workflow that is still missing does not exist."""

    workspace: Workspace
    complete: bool


def with_called(workspace: Workspace, documents: Iterable[Document], most: int = MOST) -> NearbyWorkspace:
    """The workspace with everything that these documents call, directly or through others."""
    looked: set[str] = set()
    waiting = list(documents)
    seen = {document.uri for document in waiting}
    left = most
    while waiting:
        document = waiting.pop()
        wanted = {reference.text.rpartition("/")[2] for _, reference, _ in workspace.calls(document)}
        for folder in _folders(workspace, document):
            if folder in looked:
                continue
            looked.add(folder)
            for path in _unread(workspace, folder, wanted):
                if left == 0:
                    return NearbyWorkspace(workspace, False)
                left -= 1
                found = load(path)
                if found is not None and found.format is not None:
                    workspace = workspace.with_document(found)
        for _, _, resolution in workspace.calls(document):
            if resolution.document is not None and resolution.document.uri not in seen:
                seen.add(resolution.document.uri)
                waiting.append(resolution.document)
    return NearbyWorkspace(workspace, True)


def _folders(workspace: Workspace, document: Document) -> Iterator[str]:
    """Where the calls of a document that lead nowhere would have to lead."""
    for _, reference, resolution in workspace.calls(document):
        if resolution.key is None and reference.text:
            inner = reference.text.rpartition("/")[0]
            if not inner:
                yield folder_of(document.path)
            for root in workspace.roots.all:
                yield f"{root.folder}/{inner}" if inner else root.folder


def _unread(workspace: Workspace, folder: str, wanted: set[str]) -> list[str]:
    """The files of a folder that nobody has read, those first that are called like a workflow that is wanted."""
    paths: list[str] = []
    with suppress(OSError):
        paths = [f"{folder}/{entry.name}" for entry in Path(folder).iterdir() if entry.is_file()]
    ours = workspace.roots.workspace
    unread = (path for path in paths if uri_of(path) not in workspace.documents and is_candidate(ours, path))
    return sorted(unread, key=lambda path: (stem_of(path) not in wanted, path))
