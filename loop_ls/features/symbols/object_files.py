"""Outlines of role loops, assistants and settings, and their names for the search over the workspace."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.contract.amounts import count
from loop_ls.features.answers import FoundSymbol, Placed, Symbol, SymbolKind
from loop_ls.features.docs.assistant import loop_in_words
from loop_ls.features.docs.role_loop import end_in_words, label_of
from loop_ls.features.rename.occurrences import bare
from loop_ls.features.text.humanize import excerpt
from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.object_parts import Item, Part
from loop_ls.formats.common.typed_mapping import Named, Pair
from loop_ls.index.document import Document
from loop_ls.syntax.nodes import Mapping, resolved
from loop_ls.text.position import Span


def role_loop_symbols(document: Document) -> tuple[Placed, ...]:
    return _placed(_role_loop(document))


def assistant_symbols(document: Document) -> tuple[Placed, ...]:
    return _placed(_assistants(document))


def settings_symbols(document: Document) -> tuple[Placed, ...]:
    return _placed(_settings(document))


def _placed(found: Iterator[Symbol]) -> tuple[Placed, ...]:
    return tuple(Placed(0, symbol) for symbol in found)


def _entry(document: Document, part: Part) -> Span:
    """A key with its value."""
    key = document.absolute(part.piece, part.entry.key.span)
    end = key.end if part.node is None else document.absolute(part.piece, part.node.span).end
    return Span(key.start, max(key.end, end))


def _symbol(
    name: str, kind: SymbolKind, span: Span, name_span: Span, detail: str = "", children: tuple[Symbol, ...] = ()
) -> Symbol:
    inside = span.covers(name_span)
    shown = name_span if inside else Span(span.start, span.start)
    return Symbol(name, kind, span, shown, detail, tuple(Placed(0, child) for child in children))


# -- role loops -----------------------------------------------------------------------------------


def _role_loop(document: Document) -> Iterator[Symbol]:
    loop = document.whole.role_loop
    parts = loop.parts
    name = parts.get("name")
    if name is not None:
        end = None if loop.termination is None else loop.termination.value
        span = _entry(document, name)
        node = span if name.node is None else document.absolute(name.piece, name.node.span)
        detail = f"{count(len(loop.stages), 'stage')}, {end_in_words(end)}"
        yield _symbol(loop.name or "name", SymbolKind.LOOP, span, bare(document, node), detail)
    for key in ("parameters", "roles"):
        part = parts.get(key)
        if part is not None:
            children = tuple(_items(document, key))
            span = _covering(_entry(document, part), children)
            label = document.absolute(part.piece, part.entry.key.span)
            yield _symbol(key, SymbolKind.SECTION, span, label, str(len(children)), children)
    part = parts.get("termination_condition")
    if part is not None:
        label = document.absolute(part.piece, part.entry.key.span)
        type_ = loop.termination.type if loop.termination is not None else None
        yield _symbol("termination_condition", SymbolKind.SETTING, _entry(document, part), label, type_ or "")


def _items(document: Document, section: str) -> Iterator[Symbol]:
    loop = document.whole.role_loop
    for item in loop.parts.listed(section):
        if item.block is None:
            continue
        span = document.absolute(item.piece, item.block.node.span)
        if section == "roles":
            part = item.get("name") or item.get("role")
            role, label = loop.role_of(item) or "", label_of(loop, item)
            yield _symbol(
                label, SymbolKind.STEP, span, _value(document, item, part, span), role if role != label else ""
            )
        else:
            part = item.get("name")
            default = loop.declared.get(text_of(part.node) or "") if part is not None else None
            detail = f"default {excerpt(default.text, 30)}" if default is not None and default.text else ""
            name = text_of(part.node) if part is not None else None
            label_span = _value(document, item, part, span)
            yield _symbol(name or "(unnamed)", SymbolKind.PARAMETER, span, label_span, detail)


def _value(document: Document, item: Item, part: Part | None, otherwise: Span) -> Span:
    node = None if part is None else part.node
    return otherwise if node is None else bare(document, document.absolute(item.piece, node.span))


def _covering(span: Span, children: tuple[Symbol, ...]) -> Span:
    end = max((child.span.end for child in children), default=span.end)
    return Span(span.start, max(span.end, end))


# -- assistants -----------------------------------------------------------------------------------


def _assistants(document: Document) -> Iterator[Symbol]:
    for one in document.whole.assistants:
        span = assistant_span(document, one)
        if span is None:
            continue
        part = one.get("name")
        node = None if part is None or part.node is None else document.absolute(part.piece, part.node.span)
        children = tuple(_keys(document, one))
        label = Span(span.start, span.start) if node is None else bare(document, node)
        detail = loop_in_words(one, one.max_iterations) if one.enabled else "no loop"
        yield _symbol(one.name or "(unnamed)", SymbolKind.LOOP, span, label, detail, children)


def assistant_span(document: Document, one: AssistantParts) -> Span | None:
    """All of an assistant; None for a file with nothing in it."""
    if one.block is not None and one.piece is not None:
        return document.absolute(one.piece, one.block.node.span)
    spans = [_entry(document, part) for part in one.written()]
    return Span(min(span.start for span in spans), max(span.end for span in spans)) if spans else None


def _keys(document: Document, one: AssistantParts) -> Iterator[Symbol]:
    for part in one.written():
        key = part.field.key.name
        if key in ("name", "assistants"):
            continue
        label = document.absolute(part.piece, part.entry.key.span)
        detail = one.criteria_type or "" if key == "loopCriteria" else excerpt(text_of(part.node) or "", 40)
        yield _symbol(key, SymbolKind.SETTING, _entry(document, part), label, detail)


# -- settings -------------------------------------------------------------------------------------


def _settings(document: Document) -> Iterator[Symbol]:
    for name, part in document.whole.parts.keys.items():
        children = tuple(_inside(document, part))
        label = document.absolute(part.piece, part.entry.key.span)
        detail = excerpt(text_of(part.node) or "", 40)
        yield _symbol(name, SymbolKind.SECTION, _entry(document, part), label, detail, children)


def _inside(document: Document, part: Part) -> Iterator[Symbol]:
    value = part.field.value
    named = [one.entry for one in value if isinstance(one, Named | Pair)] if isinstance(value, tuple) else []
    node = resolved(part.node)
    entries = named or (node.entries if isinstance(node, Mapping) else ())
    for entry in entries:
        key = document.absolute(part.piece, entry.key.span)
        end = key.end if entry.value is None else document.absolute(part.piece, entry.value.span).end
        detail = excerpt(text_of(entry.value) or "", 40)
        yield _symbol(entry.key.text or '""', SymbolKind.SETTING, Span(key.start, max(key.end, end)), key, detail)


# -- over the workspace ---------------------------------------------------------------------------


def found_in_role_loop(document: Document) -> Iterator[FoundSymbol]:
    """The definition with its parameters and stages, by name."""
    loop = document.whole.role_loop
    part = loop.parts.get("name")
    if part is not None and part.node is not None and loop.name:
        span = bare(document, document.absolute(part.piece, part.node.span))
        yield FoundSymbol(loop.name, SymbolKind.LOOP, document.uri, span)
    for section in ("parameters", "roles"):
        for symbol in _items(document, section):
            yield FoundSymbol(symbol.name, symbol.kind, document.uri, symbol.name_span, loop.name or "")


def found_in_assistants(document: Document) -> Iterator[FoundSymbol]:
    """The assistants of a file, by name."""
    for symbol in _assistants(document):
        yield FoundSymbol(symbol.name, symbol.kind, document.uri, symbol.name_span)
