"""What the checks and test cases beside a loop file may speak of, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.checks.target import INPUT, Places
from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import places_of
from loop_ls.index.disk.uris import stem_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace


def about(workspace: Workspace, subject: Document, *formats: Format) -> Iterator[Document]:
    """The files of these formats, checks or test cases, that are about a loop file."""
    for one in workspace.documents.values():
        found = workspace.subject(one) if one.format in formats else None
        if found is not None and found.uri == subject.uri:
            yield one


def places_beside(workspace: Workspace, document: Document) -> Places | None:
    """Of the loop file that checks or test cases are about; None: there is none, or nothing is known of its format."""
    subject = workspace.subject(document)
    return None if subject is None else places_in(subject)


def places_in(subject: Document) -> Places | None:
    if not subject.is_workflow:
        found = places_of(subject.format)
        return None if found is None else found(subject.whole.parts)
    named = [one for one in subject.elements if one.name]
    variables = (*([INPUT] if subject.mentioning(INPUT) else []), *subject.parameters)
    loops = [one.name or "" for one in named if one.loop is not None]
    called = subject.name or stem_of(subject.path)
    return Places(called, {"step": [one.name or "" for one in named], "loop": loops}, variables, variables)
