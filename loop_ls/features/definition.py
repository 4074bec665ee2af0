"""Definition: from a use to what it names.

Placeholder -> step, loop, `env` key, `accumulate` line or the `with` keys of the callers; reference ->
the callee's `name`; `needs` entry -> `name`; argument -> its first use in the callee; alias -> anchor.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.anchors import anchor_at
from loop_ls.features.answers import Link
from loop_ls.features.language_support import support_of
from loop_ls.features.lookup.node_at import NodeAt, look_at, text_span
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.scope import Variable, scope_at
from loop_ls.index.workspace import Call, Workspace
from loop_ls.syntax.nodes import Alias, Scalar
from loop_ls.text.position import Position, Span


def definition(workspace: Workspace, document: Document, at: Position) -> tuple[Link, ...]:
    """Every place that may be meant, best first; empty where nothing is named."""
    return support_of(document).definition(workspace, document, at)


def in_workflow(workspace: Workspace, document: Document, at: Position) -> tuple[Link, ...]:
    look = look_at(document, at)
    return tuple(dict.fromkeys(_links(workspace, look))) if look is not None else ()


def _links(workspace: Workspace, look: NodeAt) -> Iterator[Link]:
    if look.use is not None:
        yield from _variable(workspace, look)
    elif look.need is not None:
        element = look.document.element(look.need.name)
        if element is not None:
            yield to_element(look.place, look.document, element)
    elif look.alias is not None:
        yield from _anchor(look, look.alias)
    elif look.pair is not None and look.on_key:
        yield from _argument(workspace, look)
    elif look.on_reference and look.field is not None and isinstance(look.field.value, str):
        yield from to_workflow(workspace, look.document, look.field.value, look.place)
    elif look.on_name and look.element is not None:
        yield to_element(look.place, look.document, look.element)


# -- variables ------------------------------------------------------------------------------------


def _variable(workspace: Workspace, look: NodeAt) -> Iterator[Link]:
    assert look.use is not None and look.element is not None
    scope = scope_at(workspace, look.document, look.element, look.use.slot)
    variable = scope.look_up(look.use.name)
    if variable is None:
        return
    origin, document = look.place, look.document
    match variable.kind:
        case "result" | "accumulate" | "rag" if variable.definition is not None:
            found = variable.definition
            target = document.absolute(found.element.piece, found.element.span)
            yield Link(origin, document.uri, target, document.absolute(found.element.piece, found.span))
        case "env":
            yield from _constant(origin, document, look.use.name.removeprefix("env."))
        case "loop":
            yield from _loops(workspace, look, variable)
        case _:
            for call in variable.callers:
                yield to_argument(origin, call, variable.name)


def _constant(origin: Span, document: Document, key: str) -> Iterator[Link]:
    pair, top = document.env.get(key), document.head.get("env")
    if pair is None or top is None:
        return
    name = document.absolute(top.piece, pair.entry.key.span)
    value = pair.node.span if pair.node is not None and not isinstance(pair.node, Alias) else pair.entry.key.span
    yield Link(origin, document.uri, Span(name.start, max(name.end, document.absolute(top.piece, value).end)), name)


def _loops(workspace: Workspace, look: NodeAt, variable: Variable) -> Iterator[Link]:
    """The loop of this file that sets the variable, else those that call this workflow."""
    if variable.element is not None:
        yield to_element(look.place, look.document, variable.element)
        return
    for call in workspace.callers(look.document):
        if call.reference.kind == "loop":
            yield to_element(look.place, call.document, call.element)


# -- links ----------------------------------------------------------------------------------------


def to_element(origin: Span, document: Document, element: Element) -> Link:
    target = document.absolute(element.piece, element.span)
    return Link(origin, document.uri, target, document.absolute(element.piece, element.label_span))


def to_argument(origin: Span, call: Call, name: str) -> Link:
    """The key under `with`; the reference where the value is handed over without one (`input`, `item`)."""
    document, piece = call.document, call.element.piece
    pair = call.reference.argument(name)
    if pair is None:
        span = document.absolute(piece, call.reference.span)
        return Link(origin, document.uri, span, span)
    key = pair.entry.key.span
    end = pair.node.span.end if pair.node is not None and pair.node.span.start >= key.end else key.end
    return Link(origin, document.uri, document.absolute(piece, Span(key.start, end)), document.absolute(piece, key))


def to_workflow(workspace: Workspace, document: Document, reference: str, origin: Span) -> Iterator[Link]:
    """The `name` of the callee, wherever its file is; of several candidates all (UP-24)."""
    found = workspace.resolve(document, reference)
    if found.document is None:
        return
    hidden = workspace.by_key(found.hidden) if found.hidden else None
    for callee in (*workspace.namesakes(found.document), *((hidden,) if hidden is not None else ())):
        top = callee.head.get("name")
        if top is None:
            continue
        value = top.entry.value
        span = text_span(value) if isinstance(value, Scalar) else top.entry.key.span
        key = top.entry.key.span
        target = Span(key.start, max(key.end, span.end))
        yield Link(origin, callee.uri, callee.absolute(top.piece, target), callee.absolute(top.piece, span))


def _argument(workspace: Workspace, look: NodeAt) -> Iterator[Link]:
    """From a key under `with` to where the callee first uses it."""
    if look.element is None or look.pair is None:
        return
    callee = workspace.callee(look.document, look.element.reference)
    found = callee.first_use(look.pair.name) if callee is not None else None
    if callee is not None and found is not None:
        element, use = found
        span = callee.absolute(element.piece, use.span)
        yield Link(look.place, callee.uri, span, callee.absolute(element.piece, use.name_span))


def _anchor(look: NodeAt, alias: Alias) -> Iterator[Link]:
    """The anchored node; the anchor itself stands in front of it."""
    anchor = anchor_at(look.document, look.place.start)
    if alias.target is None or anchor is None:
        return
    name = anchor.content
    if anchor.at is not None:
        (line, column), end = anchor.at
        name = Span(Position(line, column - 1), end)
    yield Link(look.place, look.document.uri, Span(name.start, anchor.content.end), name)
