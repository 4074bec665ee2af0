"""Workspace symbols: workflows, steps, loops and constants of all files whose name fits a query."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import FoundSymbol, SymbolKind
from loop_ls.features.complete.prefix_filter import may_become
from loop_ls.features.language_support import support_of
from loop_ls.features.rename.occurrences import bare
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace

LIMIT = 500


def workspace_symbols(workspace: Workspace, query: str, limit: int = LIMIT) -> tuple[FoundSymbol, ...]:
    """Best first: the same name, names that begin like it, names that hold it, names with its letters."""
    found: list[tuple[int, FoundSymbol]] = []
    for document in workspace.documents.values():
        named = support_of(document).found_symbols(document, query)
        found += [(_rank(query, one.name), one) for one in named]
        if not query and len(found) >= limit:
            break
    found.sort(key=lambda ranked: (ranked[0], ranked[1].name, ranked[1].uri, ranked[1].span))
    return tuple(one for _, one in found[:limit])


def found_in_workflow(document: Document, query: str) -> Iterator[FoundSymbol]:
    name = document.name or ""
    top = document.head.get("name")
    if name and top is not None and top.entry.value is not None and may_become(query, name):
        span = bare(document, document.absolute(top.piece, top.entry.value.span))
        yield FoundSymbol(name, SymbolKind.WORKFLOW, document.uri, span)
    for defined, definitions in document.names.items():
        if not may_become(query, defined):
            continue
        for one in definitions:
            kind = {"step": SymbolKind.STEP, "loop": SymbolKind.LOOP, "accumulate": SymbolKind.VARIABLE}[one.kind]
            span = bare(document, document.absolute(one.element.piece, one.span))
            yield FoundSymbol(defined, kind, document.uri, span, name)
    env = document.head.get("env")
    for key, pair in document.env.items():
        if env is not None and may_become(query, key):
            span = bare(document, document.absolute(env.piece, pair.entry.key.span))
            yield FoundSymbol(key, SymbolKind.CONSTANT, document.uri, span, name)


def _rank(query: str, name: str) -> int:
    typed, letters = query.casefold(), name.casefold()
    if typed == letters:
        return 0
    if letters.startswith(typed):
        return 1
    return 2 if typed in letters else 3
