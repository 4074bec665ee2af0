"""Names of steps and loops in the files of checks and test cases beside a workflow: references to them, which follow a
rename."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loop_ls.formats.checks.keys import VERIFIERS
from loop_ls.formats.checks.parts import cases_in, checks_in
from loop_ls.formats.checks.target import target_of
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.registry import DECLARED_CHECKS, TEST_CASES
from loop_ls.index.checked_file import about
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.enhanced_verifiers import named_verifiers
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Mapping, Node, Scalar, Sequence, resolved
from loop_ls.text.position import Position, Span


def places_beside(workspace: Workspace, workflow: Document, name: str) -> Iterator[tuple[str, Span]]:
    """Where other files name an element of the workflow, with their URIs."""
    for document in about(workspace, workflow, DECLARED_CHECKS, TEST_CASES):
        yield from ((document.uri, span) for span in places_in(document, name))
    yield from _in_settings(workspace, workflow, name)


def places_in(document: Document, name: str) -> Iterator[Span]:
    """Where one file of checks or test cases names it."""
    for piece, node in _named(document, name):
        span = _name_in(document, piece, node, name)
        if span is not None:
            yield span


def named_beside(workspace: Workspace, document: Document, at: Position) -> tuple[Document, Element, Span] | None:
    """The workflow, the step or loop of it that checks or test cases name at this place, and where they name it."""
    workflow = workspace.subject(document)
    for element in workflow.elements if workflow is not None and workflow.is_workflow else ():
        for span in places_in(document, element.name) if element.name else ():
            if workflow is not None and span.contains(at):
                return workflow, element, span
    return None


def _in_settings(workspace: Workspace, workflow: Document, name: str) -> Iterator[tuple[str, Span]]:
    key = workspace.key(workflow)
    for document in workspace.documents.values():
        for one in named_verifiers(document.whole.parts) if not document.is_workflow else ():
            meant = one.workflow == key and text_of(one.node) == name
            span = _name_in(document, one.piece, one.node, name) if meant else None
            if span is not None:
                yield document.uri, span


def variables_beside(workspace: Workspace, loop_file: Document, name: str, new: str) -> Iterator[tuple[str, TextEdit]]:
    """The edits that call a parameter of a loop file by its new name: in the variables of its test cases, and in the
    texts of its checks."""
    for document in about(workspace, loop_file, DECLARED_CHECKS, TEST_CASES):
        for case in cases_in(document.whole.parts):
            given = resolved(case.node("vars"))
            for entry in given.entries if isinstance(given, Mapping) else ():
                span = _name_in(document, case.piece, entry.key, name) if entry.key.text == name else None
                if span is not None:
                    yield document.uri, TextEdit(span, new)
        for check in checks_in(document.whole.parts):
            if (node := check.node("value")) is not None and check.bare_type != "command":
                yield from ((document.uri, TextEdit(one, new)) for one in _filled_in(document, check.piece, node, name))


def _filled_in(document: Document, piece: Piece, node: Node, name: str) -> Iterator[Span]:
    """Where a text names a variable, as far as it stands on one line."""
    span = document.absolute(piece, node.span)
    for number in range(span.start.line, span.end.line + 1):
        line = document.text.lines[number]
        for found in re.finditer(r"\{\{\s*(" + re.escape(name) + r")\s*\}\}", line):
            place = Span(Position(number, found.start(1)), Position(number, found.end(1)))
            if span.start <= place.start and place.end <= span.end:
                yield place


def _named(document: Document, name: str) -> Iterator[tuple[Piece, Node]]:
    parts = document.whole.parts
    for check in checks_in(parts):
        node, target = check.node("on"), target_of(check.text("on"))
        if node is not None and target is not None and target.name == name:
            yield check.piece, node
    part = parts.get(VERIFIERS)
    listed = None if part is None else resolved(part.node)
    for item in listed.items if part is not None and isinstance(listed, Sequence) else ():
        if part is not None and item is not None and text_of(item) == name:
            yield part.piece, item


def _name_in(document: Document, piece: Piece, node: Node, name: str) -> Span | None:
    """Where the name stands at the end of a value, in whatever quotes; None where it is written in another way."""
    span = document.absolute(piece, node.span)
    written = document.text.slice(span)
    start = written.rfind(name)
    if not isinstance(node, Scalar) or start < 0 or "\n" in written:
        return None
    line, column = span.start
    return Span(Position(line, column + start), Position(line, column + start + len(name)))
