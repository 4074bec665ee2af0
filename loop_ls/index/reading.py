"""From the mapping of one item to its element. Reads one piece and knows nothing of any other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, cast

from loop_ls.formats.common.key_table import Type
from loop_ls.formats.common.read_value import read_block
from loop_ls.formats.common.typed_mapping import Block, Field, Pair, PlacedText
from loop_ls.formats.workflow.condition import parse_condition
from loop_ls.formats.workflow.keys import LOOP, MODES, STEP, STEP_LOOP
from loop_ls.formats.workflow.placeholder_syntax import mentions
from loop_ls.index.element import Element, Need, Reference, Slot, SlotKind, StrayBraces, Use
from loop_ls.index.graph.names import Node as GraphNode
from loop_ls.syntax.nodes import Mapping, Node, Scalar, resolved
from loop_ls.syntax.nodes import Sequence as List
from loop_ls.syntax.placeholders import Island, islands

if TYPE_CHECKING:
    from loop_ls.syntax.tree import Piece

_LOOPS = (LOOP, STEP_LOOP)
_new = tuple.__new__
_AFTERWARDS = ("loop.iteration", "loop.output")


def read_element(kind: Literal["step", "loop"], piece: Piece, node: Mapping, lines: Sequence[str]) -> Element:
    """The element that `node` describes. `lines` are those of the piece, first one first."""
    block = read_block(LOOP if kind == "loop" else STEP, node)
    loop = block if kind == "loop" else block.block("loop")
    slots, strays = _texts(block, lines)
    uses = tuple(_uses(slots))
    needs = tuple([_new(Need, word) for word in block.words("needs")]) if kind == "step" else ()
    name = block.get("name")
    text = block.text("name") or ""
    accumulate = _word(loop, "accumulate")
    return Element(
        kind=kind,
        name=text,
        name_span=name.span if name is not None and text else None,
        piece=piece,
        block=block,
        modes=("loop",) if kind == "loop" else tuple(key for key in block.fields if key in MODES),
        loop=loop,
        needs=needs,
        slots=slots,
        uses=uses,
        strays=strays,
        accumulate=accumulate,
        reference=_reference(block, loop),
        node=_node(kind, text, block, loop, needs, uses, accumulate),
        mentioned=_mentioned(needs, uses),
    )


def strays_of(field: Field, lines: Sequence[str]) -> Iterator[StrayBraces]:
    """Everything in double braces in a field that is not interpolated."""
    if field.key.interpolated or field.key.type is Type.ANY:
        return
    for scalar in _leaves(field.node):
        if "{{" in scalar.text:
            for island in islands(lines, scalar):
                yield StrayBraces(field.key, scalar, island)


def _texts(block: Block, lines: Sequence[str]) -> tuple[tuple[Slot, ...], tuple[StrayBraces, ...]]:
    slots: list[Slot] = []
    strays: list[StrayBraces] = []
    for inner in block.walk():
        for field in inner.fields.values():
            key = field.key
            if key.interpolated:
                _add_slots(slots, inner, field, lines)
            elif field.value.__class__ is str:
                if "{{" in field.value:
                    strays += strays_of(field, lines)
            elif key.type is Type.TEXTS and any("{{" in word.text for word in inner.words(key.name)):
                strays += strays_of(field, lines)
    return tuple(slots), tuple(strays)


def _add_slots(slots: list[Slot], block: Block, field: Field, lines: Sequence[str]) -> None:
    key = field.key
    kind, of_loop = cast(SlotKind, key.name), block.shape in _LOOPS
    if key.type is Type.ARGUMENTS:
        for pair in cast(tuple[Pair, ...], field.value or ()):
            for scalar in _leaves(pair.node):
                slots.append(Slot(kind, key, scalar, block, _islands(lines, scalar), pair.name, of_loop))
    elif not field.empty:
        for scalar in _leaves(field.node):
            condition = parse_condition(scalar.text) if kind == "if" else None
            slots.append(Slot(kind, key, scalar, block, _islands(lines, scalar), None, of_loop, condition))


def _islands(lines: Sequence[str], scalar: Scalar) -> tuple[Island, ...]:
    return islands(lines, scalar) if "{{" in scalar.text else ()


def _leaves(node: Node | None) -> Sequence[Scalar]:
    """The texts in a value, however deep, each once even if aliases name it often."""
    if node.__class__ is Scalar:
        return (node,)
    found: dict[int, Scalar] = {}
    seen: set[int] = set()
    waiting: list[Node | None] = [node]
    while waiting:
        one = resolved(waiting.pop())
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        match one:
            case Scalar():
                found[id(one)] = one
            case Mapping():
                waiting += [entry.value for entry in reversed(one.entries)]
            case List():
                waiting += reversed(one.items)
    return tuple(found.values())


def _uses(slots: Sequence[Slot]) -> Iterator[Use]:
    for slot in slots:
        for island in slot.islands:
            condition = slot.condition
            if island.name is not None:
                yield _new(Use, (island.name, island, slot))
            elif condition is not None and condition.expression and condition.name:
                yield Use(condition.name, island, slot)


def _word(block: Block | None, key: str) -> PlacedText | None:
    field = None if block is None else block.get(key)
    if field is None or not isinstance(field.value, str) or not field.value:
        return None
    return PlacedText(field.value, field.span)


def _reference(block: Block, loop: Block | None) -> Reference | None:
    """The first of `template` and `loop` counts where a step has both (WF204)."""
    template = block.block("template")
    if template is not None and (loop is None or list(block.fields).index("template") < _place(block, "loop")):
        return _call("template", template, "name")
    return None if loop is None else _call("loop", loop, "workflow")


def _place(block: Block, key: str) -> int:
    return list(block.fields).index(key) if key in block.fields else len(block.fields)


def _call(kind: Literal["template", "loop"], block: Block, key: str) -> Reference:
    field = block.get(key)
    arguments = block.get("with")
    given = cast(tuple[Pair, ...], arguments.value or ()) if arguments is not None else None
    text = field.value if field is not None and isinstance(field.value, str) else ""
    span = field.span if field is not None else block.node.span
    iterates = kind == "loop" and block.text("mode") == "iterate"
    return Reference(kind, text, span, block, field, given, iterates)


def _node(
    kind: Literal["step", "loop"],
    name: str,
    block: Block,
    loop: Block | None,
    needs: tuple[Need, ...],
    uses: tuple[Use, ...],
    accumulate: PlacedText | None,
) -> GraphNode:
    reads: dict[str, None] = {}
    reads_loop = False
    for use in uses:
        if use.name != "input":
            reads[use.name] = None
        if use.name in _AFTERWARDS and not use.slot.of_loop:
            reads_loop = True
    provides = (name,) if name else ()
    if accumulate is not None and accumulate.text != name:
        provides = (*provides, accumulate.text)
    return GraphNode(
        name=name,
        kind=kind,
        needs=tuple(need.name for need in needs),
        reads=tuple(reads),
        provides=provides,
        loops=loop is not None,
        reads_loop=reads_loop,
        execution_order=block.integer("execution_order"),
    )


def _mentioned(needs: tuple[Need, ...], uses: tuple[Use, ...]) -> frozenset[str]:
    found = {need.name for need in needs}
    for use in uses:
        found.update(mentions(use.name))
    return frozenset(found)
