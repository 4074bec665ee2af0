"""Document symbols: sections, steps and loops as a tree.

`symbols(document)` keeps the symbol of every element that is still the same, so that an edit in a
long file makes one new symbol and a list of places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from loop_ls.contract.amounts import count
from loop_ls.features.answers import Placed, Symbol, SymbolKind
from loop_ls.features.language_support import support_of
from loop_ls.features.lookup.pieces import with_starts
from loop_ls.features.text.humanize import excerpt
from loop_ls.formats.common.key_table import Type
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.top_level import SECTIONS, Top
from loop_ls.syntax.nodes import Mapping, Node, Scalar, resolved
from loop_ls.text.position import Span

_UNLISTED = frozenset(("$schema", "version", "description"))


def symbols(document: Document) -> tuple[Placed, ...]:
    """The outline. Nothing for a document that is none of our formats."""
    return support_of(document).symbols(document)


def workflow_symbols(document: Document) -> Iterator[Placed]:
    section: tuple[int, Top] | None = None
    children: list[Placed] = []
    for start, piece, facts in with_starts(document):
        if piece.kind != "item" and section is not None:
            yield _section(*section, children)
            section, children = None, []
        top = facts.top
        if top is not None and top.name in SECTIONS:
            section = (start, top)
        elif top is not None and (symbol := _top_symbol(top)) is not None:
            yield Placed(start, symbol)
        if section is not None and facts.elements:
            offset = start - section[0]
            children += [Placed(offset, element_symbol(element)) for element in facts.elements]
    if section is not None:
        yield _section(*section, children)


def _section(start: int, top: Top, children: list[Placed]) -> Placed:
    key = top.entry.key.span
    end = key.end
    if children:
        line, last = children[-1]
        end = max(end, last.span.shift(line).end)
    noun = "step" if top.name == "steps" else "loop"
    detail = count(len(children), noun)
    return Placed(start, Symbol(top.name, SymbolKind.SECTION, Span(key.start, end), key, detail, tuple(children)))


@lru_cache(maxsize=256)
def _top_symbol(top: Top) -> Symbol | None:
    key = top.entry.key
    span = _span_with(key, top.entry.value)
    field = top.field
    if field is None or top.name in _UNLISTED:
        return None
    if top.name == "name":
        return Symbol(str(field.value or top.name), SymbolKind.WORKFLOW, span, _within(field.span, span), "workflow")
    children = tuple(_parts(field))
    return Symbol(top.name, SymbolKind.SECTION, span, key.span, "", children)


@lru_cache(maxsize=16_384)
def element_symbol(element: Element) -> Symbol:
    """The symbol of a step or loop, relative to its piece."""
    kind = SymbolKind.LOOP if element.kind == "loop" else SymbolKind.STEP
    name = element.name or f"({'unnamed ' + element.kind})"
    span = element.span
    children = tuple(_element_parts(element))
    return Symbol(name, kind, span, _within(element.label_span, span), _detail(element), children)


def _detail(element: Element) -> str:
    reference = element.reference
    if reference is None:
        return element.mode or ""
    if element.loop is None:
        return f"→ {reference.text}"
    limit = element.loop.integer("max_iterations")
    atmost = f", ≤ {count(limit, 'iteration')}" if limit is not None and element.loop_mode != "iterate" else ""
    return f"↻ {reference.text}{atmost}"


def _element_parts(element: Element) -> Iterator[Placed]:
    for block in element.block.walk():
        for field in block.fields.values():
            match field.key.name:
                case "with":
                    yield from _pairs(field, SymbolKind.PARAMETER)
                case "accumulate" if isinstance(field.value, str) and field.value:
                    span = _span_with(field.entry.key, field.entry.value)
                    name = _within(field.span, span)
                    yield Placed(0, Symbol(field.value, SymbolKind.VARIABLE, span, name, "all outputs joined"))
                case "executions":
                    yield from _executions(field)
                case _:
                    continue


def _executions(field: Field) -> Iterator[Placed]:
    for block in field.value if isinstance(field.value, tuple) else ():
        if isinstance(block, Block):
            name = f"{block.text('provider') or '?'} {block.text('model') or '?'}"
            span = block.node.span
            yield Placed(0, Symbol(name, SymbolKind.SETTING, span, span))


def _parts(field: Field) -> Iterable[Placed]:
    """The entries of `env` and `execution`."""
    kind = SymbolKind.CONSTANT if field.key.type is Type.TEXT_MAP else SymbolKind.SETTING
    return _pairs(field, kind)


def _pairs(field: Field, kind: SymbolKind) -> Iterator[Placed]:
    node = resolved(field.node)
    if not isinstance(node, Mapping):
        return
    for entry in node.entries:
        value = resolved(entry.value)
        detail = excerpt(value.text, 40) if isinstance(value, Scalar) else ""
        span = _span_with(entry.key, entry.value)
        yield Placed(0, Symbol(entry.key.text or '""', kind, span, entry.key.span, detail))


def _span_with(key: Scalar, value: Node | None) -> Span:
    end = key.span.end if value is None else max(key.span.end, value.span.end)
    return Span(key.span.start, end)


def _within(part: Span, whole: Span) -> Span:
    """LSP wants the name inside the whole; behind an alias it may stand elsewhere."""
    return part if whole.covers(part) else Span(whole.start, whole.start)
