"""The text of a workflow file as values that can be run, or the reasons why it cannot.

Not a checker: it stops at what keeps values from being made, in the words of the rule that would
say so. Repeated `steps` and `loops` blocks are joined in the order of the file (D15).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast

from loop_ls.formats.common.read_value import read_block
from loop_ls.formats.common.scalars import is_null
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.workflow.build import execution_of, loop_of, step_of
from loop_ls.formats.workflow.keys import LOOP, SCHEMA, STEP, WORKFLOW
from loop_ls.formats.workflow.model import Element, Execution, Workflow
from loop_ls.formats.workflow.refusals import Refusal, block_refusals, missing
from loop_ls.syntax.merge_conflicts import CODE as CONFLICT
from loop_ls.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, resolved
from loop_ls.syntax.tree import Piece, Tree, read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

_KINDS: dict[str, Literal["step", "loop"]] = {"steps": "step", "loops": "loop"}
_START = Span(Position(0, 0), Position(0, 0))


def read_workflow(text: str | Text) -> Workflow | list[Refusal]:
    """The workflow that `text` describes, or every reason against it, in order. Never raises."""
    tree = read_yaml(text if isinstance(text, Text) else Text.of(text))
    refusals = [*_syntax(tree)]
    if refusals:
        return refusals
    head, elements = _split(tree, refusals)
    refusals += _head_refusals(head, tree)
    listed = list(elements)
    for piece, block in listed:
        refusals += (refusal.shift(tree.start_of(piece)) for refusal in block_refusals(block))
    refusals += _names(tree, listed)
    if not listed and not refusals:
        refusals.append(Refusal("WF104", "Empty workflow: add an entry to `steps` or `loops`", _START))
    if refusals:
        return sorted(refusals, key=lambda refusal: refusal.span)
    return _workflow(head, [block for _, block in listed])


def _workflow(head: Block, elements: list[Block]) -> Workflow:
    execution = head.block("execution")
    return Workflow(
        name=head.text("name") or "",
        version=head.text("version") or "",
        description=head.text("description") or "",
        execution=Execution() if execution is None else execution_of(execution),
        env={pair.name: pair.text or "" for pair in head.pairs("env")},
        elements=tuple(_element(block) for block in elements),
    )


def _element(block: Block) -> Element:
    return loop_of(block, block.text("name") or "") if block.shape is LOOP else step_of(block)


def _syntax(tree: Tree) -> Iterator[Refusal]:
    for piece in tree.pieces:
        for fault in piece.faults:
            yield Refusal("WF001", fault.message, fault.span.shift(tree.start_of(piece)))
    for fault in tree.faults:
        if fault.code == CONFLICT:
            yield Refusal("WF010", fault.message, fault.span)
    if tree.root_kind != "mapping":
        yield Refusal("WF003", "A workflow must be a mapping of keys such as `name` and `steps`", _START)


def _split(tree: Tree, refusals: list[Refusal]) -> tuple[Block, list[tuple[Piece, Block]]]:
    """The top-level keys as one block with absolute places, and the items of `steps` and `loops`."""
    entries: list[Entry] = []
    elements: list[tuple[Piece, Block]] = []
    seen: dict[str, Piece] = {}
    for piece in tree.pieces:
        kind = _KINDS.get(piece.section or "")
        if piece.kind == "item" and kind is not None:
            _add_items(tree, piece, (piece.node,), elements, refusals)
        if piece.key is None or piece.key.text == "<<":
            continue
        first = seen.setdefault(piece.key.text, piece)
        if kind is not None:
            _add_items(tree, piece, _inline(tree, piece, refusals), elements, refusals)
        elif first is not piece:
            refusals.append(_repeated(tree, piece))
        else:
            entries.append(Entry(piece.key, piece.node))
            refusals += (r.shift(tree.start_of(piece)) for r in _entry_refusals(entries[-1]))
    return read_block(WORKFLOW, Mapping(_START, tuple(entries))), elements


def _names(tree: Tree, elements: list[tuple[Piece, Block]]) -> Iterator[Refusal]:
    """Names that are given twice, and needs that lead nowhere."""
    known = {block.text("name") for _, block in elements}
    seen: set[str] = set()
    for piece, block in elements:
        start, own = tree.start_of(piece), block.text("name")
        loop = block if block.shape is LOOP else block.block("loop")
        for holder, key in ((block, "name"), (loop, "accumulate")):
            field = None if holder is None else holder.get(key)
            if field is None or not isinstance(field.value, str) or not field.value:
                continue
            if field.value in seen:
                yield Refusal("WF202", f"Duplicate name `{field.value}`", field.span.shift(start))
            seen.add(field.value)
        for word in block.words("needs"):
            place = word.span.shift(start)
            if word.text == own:
                yield Refusal("WF302", f"`{own}` depends on itself", place)
            elif word.text not in known:
                yield Refusal("WF301", f"Unknown step or loop `{word.text}` in `needs` of `{own}`", place)


def _entry_refusals(entry: Entry) -> Iterator[Refusal]:
    yield from block_refusals(read_block(WORKFLOW, Mapping(entry.key.span, (entry,))), partial=True)


def _inline(tree: Tree, piece: Piece, refusals: list[Refusal]) -> tuple[Node | None, ...]:
    node = piece.node
    found = resolved(node)
    if isinstance(found, Sequence):
        return found.items
    if node is not None and not (isinstance(found, Scalar) and is_null(found)):
        name = cast(Scalar, piece.key).text
        place = node.span.shift(tree.start_of(piece))
        refusals.append(Refusal("WF007", f"`{name}` must be a list of mappings", place))
    return ()


def _add_items(
    tree: Tree,
    piece: Piece,
    items: tuple[Node | None, ...],
    elements: list[tuple[Piece, Block]],
    refusals: list[Refusal],
) -> None:
    shape = STEP if piece.section == "steps" else LOOP
    for item in items:
        found = resolved(item)
        if isinstance(found, Mapping):
            elements.append((piece, read_block(shape, found)))
        elif item is not None:
            place = item.span.shift(tree.start_of(piece))
            refusals.append(Refusal("WF007", f"{shape.title} must be a mapping", place))


def _repeated(tree: Tree, piece: Piece) -> Refusal:
    key = cast(Scalar, piece.key)
    return Refusal("WF005", f"Duplicate key `{key.text}`", key.span.shift(tree.start_of(piece)))


def _head_refusals(head: Block, tree: Tree) -> Iterator[Refusal]:
    if head.text("$schema") != SCHEMA:
        yield Refusal("WF002", f"Missing `$schema: {SCHEMA}`", _START)
    yield from missing(head, ("name", "version"), _START)
