"""What is named at a place, and everywhere that name is written: the base of references and rename.

A `Named` is a step or loop, a collected output, a constant, a workflow, or a parameter of one. Places are
bare: without quotes, without the parts of a dotted name that mean something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from loop_ls.features.lookup.bare_braces import bare_uses
from loop_ls.features.lookup.node_at import NodeAt, look_at
from loop_ls.formats.workflow.placeholder_syntax import producers
from loop_ls.index.document import Document
from loop_ls.index.element import Element, Use
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span


class Kind(Enum):
    ELEMENT = "step or loop"
    COLLECTED = "collected output"
    CONSTANT = "constant"
    WORKFLOW = "workflow"
    PARAMETER = "parameter"
    LOOP_VARIABLE = "loop variable"


class Role(Enum):
    DEFINITION = "definition"
    READ = "read"
    WRITE = "write"  # an argument that fills a parameter
    CALL = "call"  # a reference to a workflow


@dataclass(frozen=True, slots=True)
class Named:
    """`document` is the file that the name belongs to; of a parameter the called one."""

    kind: Kind
    name: str
    document: Document


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place, absolute in `document`."""

    document: Document
    span: Span
    role: Role


def named_at(workspace: Workspace, document: Document, at: Position) -> tuple[Named, Span] | None:
    """What is named at a place, and where its name is written there."""
    look = look_at(document, at)
    if look is None:
        return None
    if look.use is not None:
        return _of_use(workspace, look, look.use)
    if look.need is not None:
        return _element(document, look.need.name, look.place)
    if look.pair is not None and look.on_key:
        return _of_pair(workspace, look)
    text = look.field.value if look.field is not None else None
    if not isinstance(text, str) or not text:
        return None
    place = bare(document, look.place)
    if look.on_reference:
        callee = workspace.callee(document, text)
        return (Named(Kind.WORKFLOW, callee.name or "", callee), last_part(place, text)) if callee is not None else None
    if look.on_name and look.element is not None:
        return _element(document, text, place)
    if look.on_name:
        return Named(Kind.WORKFLOW, text, document), place
    return (Named(Kind.COLLECTED, text, document), place) if look.on_accumulate else None


def occurrences(workspace: Workspace, named: Named) -> Iterator[Occurrence]:
    """Every place where it is written, the definition first; each place once."""
    seen: set[tuple[str, Span]] = set()
    for found in _all(workspace, named):
        key = (found.document.uri, found.span)
        if key not in seen:
            seen.add(key)
            yield found


def _all(workspace: Workspace, named: Named) -> Iterator[Occurrence]:
    match named.kind:
        case Kind.ELEMENT | Kind.COLLECTED:
            yield from _definitions(named.document, named.name)
            yield from _needs(named.document, named.name)
            yield from _uses(named.document, named.name)
        case Kind.CONSTANT:
            yield from _constant(named.document, named.name)
        case Kind.WORKFLOW:
            yield from _workflow(workspace, named.document)
        case Kind.PARAMETER:
            yield from _uses(named.document, named.name)
            yield from _arguments(workspace, named)
        case Kind.LOOP_VARIABLE:
            yield from _exact_uses(named.document, named.name)


# -- what is named --------------------------------------------------------------------------------


def _of_use(workspace: Workspace, look: NodeAt, use: Use) -> tuple[Named, Span] | None:
    document, name = look.document, use.name
    for owner in producers(name):
        if (found := _element(document, owner, part_of(look, use, owner))) is not None:
            return found
    head, dot, rest = name.partition(".")
    if head == "env" and rest in document.env:
        return Named(Kind.CONSTANT, rest, document), part_of(look, use, rest)
    if head == "loop" and dot:
        return Named(Kind.LOOP_VARIABLE, name, document), look.place
    return None if dot else (Named(Kind.PARAMETER, name, document), look.place)


def _element(document: Document, name: str, place: Span) -> tuple[Named, Span] | None:
    found = document.definition(name)
    if found is None:
        return None
    kind = Kind.COLLECTED if found.kind == "accumulate" else Kind.ELEMENT
    return Named(kind, name, document), bare(document, place)


def _of_pair(workspace: Workspace, look: NodeAt) -> tuple[Named, Span] | None:
    assert look.pair is not None
    place = bare(look.document, look.place)
    if look.element is None:
        return Named(Kind.CONSTANT, look.pair.name, look.document), place
    callee = workspace.callee(look.document, look.element.reference)
    if callee is None or callee.definition(look.pair.name) is not None:
        return None
    return Named(Kind.PARAMETER, look.pair.name, callee), place


# -- where it is written --------------------------------------------------------------------------


def _definitions(document: Document, name: str) -> Iterator[Occurrence]:
    for found in document.names.get(name, ()):
        span = bare(document, document.absolute(found.element.piece, found.span))
        yield Occurrence(document, span, Role.DEFINITION)


def _needs(document: Document, name: str) -> Iterator[Occurrence]:
    for element in document.mentioning(name):
        for need in element.needs:
            if need.name == name:
                yield Occurrence(document, bare(document, document.absolute(element.piece, need.span)), Role.READ)


def _uses(document: Document, name: str) -> Iterator[Occurrence]:
    """Placeholders that mean the name, by itself or as part of a dotted one."""
    for element, use in _used(document, name):
        if meant_by(document, use.name) == name:
            yield Occurrence(document, _part(document, element, use, name), Role.READ)


def _used(document: Document, name: str) -> Iterator[tuple[Element, Use]]:
    """Variables that may mean the name, also those whose braces lack their quotes."""
    for element in document.mentioning(name):
        for use in element.uses:
            yield element, use
    yield from bare_uses(document)


def meant_by(document: Document, variable: str) -> str | None:
    """The element, collected output or parameter that a variable belongs to."""
    if variable == "input":
        return "input"
    known = next((owner for owner in producers(variable) if document.definition(owner) is not None), None)
    return known if known is not None or "." in variable else variable


def _exact_uses(document: Document, name: str) -> Iterator[Occurrence]:
    for element, use in _used(document, name):
        if use.name == name:
            yield Occurrence(document, document.absolute(element.piece, use.name_span), Role.READ)


def _constant(document: Document, key: str) -> Iterator[Occurrence]:
    pair, top = document.env.get(key), document.head.get("env")
    if pair is not None and top is not None:
        span = bare(document, document.absolute(top.piece, pair.entry.key.span))
        yield Occurrence(document, span, Role.DEFINITION)
    for element, use in _used(document, f"env.{key}"):
        if use.name == f"env.{key}":
            yield Occurrence(document, _part(document, element, use, key), Role.READ)


def _workflow(workspace: Workspace, document: Document) -> Iterator[Occurrence]:
    top = document.head.get("name")
    if top is not None and top.entry.value is not None:
        span = bare(document, document.absolute(top.piece, top.entry.value.span))
        yield Occurrence(document, span, Role.DEFINITION)
    for call in workspace.callers(document):
        place = bare(call.document, call.document.absolute(call.element.piece, call.reference.span))
        yield Occurrence(call.document, last_part(place, call.reference.text), Role.CALL)


def _arguments(workspace: Workspace, named: Named) -> Iterator[Occurrence]:
    for call in workspace.callers(named.document):
        pair = call.reference.argument(named.name)
        if pair is not None and not pair.entry.merged:
            span = call.document.absolute(call.element.piece, pair.entry.key.span)
            yield Occurrence(call.document, bare(call.document, span), Role.WRITE)


# -- spans ----------------------------------------------------------------------------------------


def _part(document: Document, element: Element, use: Use, part: str) -> Span:
    return _cut(document.absolute(element.piece, use.name_span), use.name, part)


def part_of(look: NodeAt, use: Use, part: str) -> Span:
    """The place of a part of a dotted name."""
    return _cut(use.name_span.shift(look.start), use.name, part)


def _cut(span: Span, name: str, part: str) -> Span:
    """The place of `part` in `name`: all of it, behind `step.` or `env.`, or in front of `.results`."""
    if name == part or part not in name:
        return span
    first = 0 if name.startswith(part + ".") else name.index("." + part) + 1
    line, column = span.start
    return Span(Position(line, column + first), Position(line, column + first + len(part)))


def bare(document: Document, span: Span) -> Span:
    """A one-line text without its quotes."""
    (line, column), (end_line, end) = span
    if line == end_line and end - column >= 2:
        text = document.text.lines[line][column:end]
        if text[0] in "'\"" and text[-1] == text[0]:
            return Span(Position(line, column + 1), Position(line, end - 1))
    return span


def last_part(span: Span, reference: str) -> Span:
    """The name at the end of a reference, without its folders."""
    folders = reference.rfind("/") + 1
    return Span(Position(span.start.line, span.start.column + folders), span.end)
