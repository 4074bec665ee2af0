"""Workflows that may be called: neighbours first, by their bare names, then by their whole keys."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.quoting import as_text
from loop_ls.features.complete.request import Request
from loop_ls.features.text.humanize import excerpt, listed
from loop_ls.index.document import Document
from loop_ls.index.resolve import resolve
from loop_ls.index.workspace import Workspace
from loop_ls.text.markdown import code, escaped

#: More than anybody reads; the editor asks again while the name is being typed.
LIMIT = 500


def callees(request: Request) -> Iterator[Item]:
    """Every workflow but the file's own: calling oneself is an error (WF604)."""
    workspace, document, spot = request.workspace, request.document, request.spot
    folder = workspace.folder(document)
    own = workspace.key(document)
    found = sorted(_written(workspace, folder, key) for key in workspace.keys if key != own)
    for place, (_, text, key) in enumerate(found[:LIMIT]):
        callee = workspace.by_key(key)
        detail = excerpt(callee.head.text("description") or "", 80) if callee is not None else ""
        written = spot.lead + as_text(text, spot)
        yield Item(text, ItemKind.WORKFLOW, written, None, detail, f"{place:04}", about=("workflow", key))


def _written(workspace: Workspace, folder: str, key: str) -> tuple[int, str, str]:
    """How near a workflow is, and the shortest reference that means it from `folder`."""
    parent, _, bare = key.rpartition("/")
    match = resolve(folder, bare, workspace.keys)
    means = match is not None and match.key == key
    if means and parent == folder:
        return 0, bare, key
    return (1, bare, key) if means else (2, key, key)


def workflow_text(workspace: Workspace, document: Document) -> str:
    """A called workflow as its callers want to know it."""
    key = workspace.key(document) or document.name or ""
    parts = [f"**{code(key)}** — workflow, {escaped(document.path.rsplit('/', 1)[-1])}"]
    if description := document.head.text("description"):
        parts.append(escaped(description))
    names = [code(name) for name in document.parameters]
    if document.mentioning("input"):
        names.append("`input`")
    parts.append(f"Parameters: {listed(names)}" if names else "No parameters")
    last = document.last_step()
    if last is not None and last.name:
        parts.append(f"Its result is that of {code(last.name)}, {_does(document)}")
    return "\n\n".join(parts)


def _does(document: Document) -> str:
    last = document.last_step()
    assert last is not None
    prompt = prompt_of(document)
    if prompt:
        return f"a {last.mode} step: “{escaped(excerpt(prompt, 160))}”"
    return f"a {last.mode} step" if last.kind == "step" else "a loop"


def prompt_of(document: Document) -> str:
    """The prompt whose answer is the result of a workflow; empty where its last step has none."""
    last = document.last_step()
    return "" if last is None else last.prompt
