"""What has to change when workflow and role files get another path: names and references, and which files move along.

A workflow that is called like its file is still called like it afterwards; references keep meaning what
they meant, as short as they were. Nothing is changed that could be left alone. What leaves the workspace
cannot be called any more, whatever stands in a reference: nothing is changed because of it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from loop_ls.features.answers import Edits
from loop_ls.features.rename import roles
from loop_ls.features.rename.occurrences import bare
from loop_ls.formats.checks.file_format import loop_stem
from loop_ls.formats.registry import DECLARED_CHECKS, TEST_CASES
from loop_ls.formats.workflow.placeholder_syntax import is_name
from loop_ls.index.checked_file import about
from loop_ls.index.disk.discovery import is_candidate
from loop_ls.index.disk.uris import stem_of
from loop_ls.index.document import Document
from loop_ls.index.resolve import key_of, resolve
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import TextEdit


def moved(workspace: Workspace, renames: Mapping[str, str]) -> Edits:
    """Edits of the files as they are now, for paths of files or folders that are about to change."""
    paths = {document.uri: _new_path(document.path, renames) for document in workspace.documents.values()}
    if all(paths[document.uri] == document.path for document in workspace.documents.values()):
        return {}
    ours = [
        document
        for document in workspace.documents.values()
        if document.is_workflow and document.name and _stays(workspace, document, paths[document.uri])
    ]
    folders = {document.uri: workspace.roots.folder_of(paths[document.uri]) for document in ours}
    names = {document.uri: document.name or "" for document in ours}
    kept = {key_of(folders[uri], name) for uri, name in names.items()}
    for document in ours:
        if (name := _following(document, paths[document.uri])) and key_of(folders[document.uri], name) not in kept:
            names[document.uri] = name
    keys = {document.uri: key_of(folders[document.uri], names[document.uri]) for document in ours}
    found: dict[str, list[TextEdit]] = {}
    for document in ours:
        own = [*_name(document, names[document.uri]), *_references(workspace, document, folders[document.uri], keys)]
        if own:
            found[document.uri] = own
    for document, edit in roles.following(workspace, paths):
        found.setdefault(document.uri, []).append(edit)
    return {uri: tuple(sorted(set(edits), key=lambda edit: edit.span)) for uri, edits in found.items()}


def moving_along(workspace: Workspace, renames: Mapping[str, str]) -> Mapping[str, str]:
    """The new paths of checks and test cases that stand beside a loop file which gets another path: beside its old one
    they would be about nothing."""
    found: dict[str, str] = {}
    known = {document.path for document in workspace.documents.values()}
    for document in workspace.documents.values():
        new = _new_path(document.path, renames)
        old_stem, new_stem = loop_stem(document.path), loop_stem(new)
        if new == document.path or old_stem is None or new_stem is None or not _stays(workspace, document, new):
            continue
        for beside in about(workspace, document, DECLARED_CHECKS, TEST_CASES):
            path = new_stem + beside.path.removeprefix(old_stem)
            if _new_path(beside.path, renames) == beside.path and path not in known and path != beside.path:
                found[beside.path] = path
    return found


def _stays(workspace: Workspace, document: Document, path: str) -> bool:
    return path == document.path or is_candidate(workspace.roots.workspace, path)


def _new_path(path: str, renames: Mapping[str, str]) -> str:
    for old, new in renames.items():
        if path == old:
            return new
        if path.startswith(old.rstrip("/") + "/"):
            return new.rstrip("/") + path[len(old.rstrip("/")) :]
    return path


def _following(document: Document, path: str) -> str:
    """The new name of a workflow that is called like its file; empty where it keeps its name."""
    old, new = stem_of(document.path), stem_of(path)
    return new if old != new and document.name == old and is_name(new) and "." not in new else ""


def _name(document: Document, name: str) -> Iterator[TextEdit]:
    top = document.head.get("name")
    if name != document.name and top is not None and top.entry.value is not None:
        yield TextEdit(bare(document, document.absolute(top.piece, top.entry.value.span)), name)


def _references(workspace: Workspace, document: Document, folder: str, keys: Mapping[str, str]) -> Iterator[TextEdit]:
    known = set(keys.values())
    for element, reference, resolution in workspace.calls(document):
        if resolution.document is None or (key := keys.get(resolution.document.uri)) is None:
            continue
        text = _shortest(folder, key, reference.text, known)
        if text is not None and text != reference.text:
            yield TextEdit(bare(document, document.absolute(element.piece, reference.span)), text)


def _shortest(folder: str, key: str, old: str, keys: Container[str]) -> str | None:
    """The old reference where it still means the workflow, else a bare name or the whole key."""
    candidates = [old, key] if "/" in old else [old, key.rpartition("/")[2], key]
    for text in candidates:
        match = resolve(folder, text, keys)
        if match is not None and match.key == key:
            return text
    return None
