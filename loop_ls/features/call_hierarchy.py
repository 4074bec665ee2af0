"""Call hierarchy over files: which workflows call this one, and which it calls, by its steps and loops."""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.features.lookup.node_at import look_at
from loop_ls.features.rename.occurrences import bare
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span


@dataclass(frozen=True, slots=True)
class Workflow:
    """One node of the hierarchy; `uri` is enough to ask about it again."""

    name: str
    uri: str
    span: Span
    name_span: Span
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CallsOf:
    """A workflow on the other end, and the places of the calls in the calling file."""

    workflow: Workflow
    places: tuple[Span, ...]


def prepare(workspace: Workspace, document: Document, at: Position) -> Workflow | None:
    """The called workflow on a reference, else the workflow that the file itself is."""
    look = look_at(document, at)
    if look is not None and look.on_reference and look.field is not None and isinstance(look.field.value, str):
        callee = workspace.callee(document, look.field.value)
        return workflow_of(workspace, callee) if callee is not None else None
    return workflow_of(workspace, document) if document.is_workflow else None


def incoming(workspace: Workspace, uri: str) -> tuple[CallsOf, ...]:
    """The callers, in the order of their files."""
    document = workspace.documents.get(uri)
    found: dict[str, tuple[Document, list[Span]]] = {}
    for call in workspace.callers(document) if document is not None else ():
        places = found.setdefault(call.document.uri, (call.document, []))[1]
        places.append(_place(call.document, call.element))
    return tuple(CallsOf(workflow_of(workspace, caller), tuple(places)) for caller, places in found.values())


def outgoing(workspace: Workspace, uri: str) -> tuple[CallsOf, ...]:
    """The called workflows, in the order of the calls."""
    document = workspace.documents.get(uri)
    found: dict[str, tuple[Document, list[Span]]] = {}
    for element, _, resolution in workspace.calls(document) if document is not None else ():
        if document is not None and resolution.document is not None:
            callee = resolution.document
            found.setdefault(callee.uri, (callee, []))[1].append(_place(document, element))
    return tuple(CallsOf(workflow_of(workspace, callee), tuple(places)) for callee, places in found.values())


def workflow_of(workspace: Workspace, document: Document) -> Workflow:
    key = workspace.key(document) or document.path.rsplit("/", 1)[-1]
    top = document.head.get("name") or document.head.get("$schema")
    start = Span(Position(0, 0), Position(0, 0))
    name = start
    if top is not None:
        value = top.entry.value.span if top.entry.value is not None else top.entry.key.span
        name = bare(document, document.absolute(top.piece, value))
    detail = document.head.text("description") or ""
    return Workflow(key, document.uri, Span(min(start.start, name.start), document.text.end), name, detail)


def _place(document: Document, element: Element) -> Span:
    span = element.reference.span if element.reference is not None else element.label_span
    return bare(document, document.absolute(element.piece, span))
