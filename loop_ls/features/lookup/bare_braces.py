"""A variable whose braces lack their quotes: to YAML `{{ a }}` is a mapping (WF007), to its author a variable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from loop_ls.formats.common.key_table import Type
from loop_ls.formats.common.typed_mapping import Block, Field, Pair
from loop_ls.formats.workflow.loop_keys import LOOP, STEP_LOOP
from loop_ls.index.document import Document
from loop_ls.index.element import Element, Slot, SlotKind, Use
from loop_ls.syntax.nodes import Mapping, Node, Scalar
from loop_ls.syntax.placeholders import NAME, islands
from loop_ls.text.position import Position, Span

_OPENING = ": {{"
_BRACES = re.compile(rf"\{{\{{\s*{NAME}\s*\}}\}}")


def use_in_bare_braces(lines: Sequence[str], element: Element, at: Position) -> Use | None:
    """The variable at a place of a piece with these lines; None where the braces are no value of their own."""
    if not 0 <= at.line < len(lines):
        return None
    line = lines[at.line]
    found = next((one for one in _BRACES.finditer(line) if one.start() <= at.column <= one.end()), None)
    if found is None:
        return None
    span = Span(Position(at.line, found.start()), Position(at.line, found.end()))
    for block, field, node, argument in _values(element.block):
        if isinstance(node, Mapping) and node.flow and node.span == span:
            scalar = Scalar(span, found[0])
            kind = cast(SlotKind, field.key.name)
            slot = Slot(
                kind, field.key, scalar, block, islands(lines, scalar), argument, block.shape in (LOOP, STEP_LOOP)
            )
            return next((Use(one.name, one, slot) for one in slot.islands if one.name is not None), None)
    return None


def bare_uses(document: Document) -> Iterator[tuple[Element, Use]]:
    """All of a document. Costs a look at what was remembered of its lines where there is none."""
    if not document.text.mentions(_OPENING):
        return
    for element in document.elements:
        if not any(isinstance(node, Mapping) and node.flow for _, _, node, _ in _values(element.block)):
            continue  # as nearly every one: its lines need no look
        lines = element.piece.lines
        for number, line in enumerate(lines):
            if _OPENING in line:
                for found in _BRACES.finditer(line):
                    use = use_in_bare_braces(lines, element, Position(number, found.start()))
                    if use is not None:
                        yield element, use


def _values(outer: Block) -> Iterator[tuple[Block, Field, Node | None, str | None]]:
    for block in outer.walk():
        for field in block.fields.values():
            if not field.key.interpolated or field.entry.merged:
                continue
            if field.key.type is Type.ARGUMENTS and isinstance(field.value, tuple):
                for pair in field.value:
                    if isinstance(pair, Pair):
                        yield block, field, pair.node, pair.name
            else:
                yield block, field, field.entry.value, None
