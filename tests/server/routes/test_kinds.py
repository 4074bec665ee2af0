"""What the product's own kinds are called in the protocol."""

from __future__ import annotations

from lsprotocol import types as lsp

from loop_ls.features.answers import ItemKind, SymbolKind
from loop_ls.server.documents import outline
from loop_ls.server.routes import completion


def test_every_kind_has_one_of_the_protocol() -> None:
    assert set(outline.KINDS) == set(SymbolKind)
    assert set(completion.KINDS) == set(ItemKind)


def test_steps_are_methods_and_loops_events() -> None:
    assert outline.KINDS[SymbolKind.STEP] == lsp.SymbolKind.Method
    assert outline.KINDS[SymbolKind.LOOP] == lsp.SymbolKind.Event
    assert completion.KINDS[ItemKind.KEY] == lsp.CompletionItemKind.Property
