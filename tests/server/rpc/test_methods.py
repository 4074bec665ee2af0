"""Names and numbers of the protocol, which the server does not import, against a library that does know them."""

from __future__ import annotations

from lsprotocol import types

from loop_ls.features.answers import ItemKind, SymbolKind
from loop_ls.server.routes import call_hierarchy as calls
from loop_ls.server.routes import completion
from loop_ls.server.routes import document_symbols as symbols
from loop_ls.server.rpc import methods


def test_methods_are_called_as_the_protocol_calls_them() -> None:
    ours = {name: method for name, method in vars(methods).items() if name.isupper() and isinstance(method, str)}
    assert len(ours) > 40
    assert ours == {name: getattr(types, name) for name in ours}


def test_kinds_have_the_numbers_of_the_protocol() -> None:
    assert set(symbols.KINDS) == set(SymbolKind)
    assert set(completion.KINDS) == set(ItemKind)
    assert symbols.KINDS[SymbolKind.STEP] == types.SymbolKind.Method
    assert symbols.KINDS[SymbolKind.LOOP] == types.SymbolKind.Event
    assert symbols.KINDS[SymbolKind.WORKFLOW] == calls._KIND == types.SymbolKind.Module
    assert completion.KINDS[ItemKind.KEY] == types.CompletionItemKind.Property
    assert completion.KINDS[ItemKind.SNIPPET] == types.CompletionItemKind.Snippet
    assert completion.KINDS[ItemKind.FILE] == types.CompletionItemKind.File
    assert types.MessageType.Warning == methods.WARNING
