"""Which requests and notifications of the Language Server Protocol this server answers: the table of the documentation.

The answers come from the capabilities that a client with every capability is told
(`COMMAND` writes them); a test keeps the table current.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from loop_ls.contract.operations import COMMANDS
from loop_ls.server.capabilities import ClientFacts, server_capabilities
from loop_ls.server.routes.table import ROUTES
from loop_ls.text.json_value import Json, JsonObject

COMMAND = "python -m loop_ls.server.method_table docs/reference/language-server.md"
BEGIN, END = f"<!-- methods: {COMMAND} -->", "<!-- end -->"

#: method -> where its capability stands; empty: there is none to announce, having a handler decides.
METHODS = {
    "textDocument/didOpen": "textDocumentSync.openClose",
    "textDocument/didChange": "textDocumentSync.change",
    "textDocument/didClose": "textDocumentSync.openClose",
    "textDocument/didSave": "",
    "textDocument/willSave": "textDocumentSync.willSave",
    "textDocument/willSaveWaitUntil": "textDocumentSync.willSaveWaitUntil",
    "textDocument/publishDiagnostics": "textDocumentSync.openClose",
    "textDocument/diagnostic": "diagnosticProvider",
    "workspace/diagnostic": "diagnosticProvider.workspaceDiagnostics",
    "textDocument/completion": "completionProvider",
    "completionItem/resolve": "completionProvider.resolveProvider",
    "textDocument/hover": "hoverProvider",
    "textDocument/signatureHelp": "signatureHelpProvider",
    "textDocument/definition": "definitionProvider",
    "textDocument/declaration": "declarationProvider",
    "textDocument/typeDefinition": "typeDefinitionProvider",
    "textDocument/implementation": "implementationProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/documentHighlight": "documentHighlightProvider",
    "textDocument/prepareRename": "renameProvider.prepareProvider",
    "textDocument/rename": "renameProvider",
    "textDocument/linkedEditingRange": "linkedEditingRangeProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "workspace/symbol": "workspaceSymbolProvider",
    "workspaceSymbol/resolve": "workspaceSymbolProvider.resolveProvider",
    "textDocument/documentLink": "documentLinkProvider",
    "documentLink/resolve": "documentLinkProvider.resolveProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "callHierarchy/incomingCalls": "callHierarchyProvider",
    "callHierarchy/outgoingCalls": "callHierarchyProvider",
    "textDocument/prepareTypeHierarchy": "typeHierarchyProvider",
    "textDocument/foldingRange": "foldingRangeProvider",
    "textDocument/selectionRange": "selectionRangeProvider",
    "textDocument/semanticTokens/full": "semanticTokensProvider.full",
    "textDocument/semanticTokens/full/delta": "semanticTokensProvider.full.delta",
    "textDocument/semanticTokens/range": "semanticTokensProvider.range",
    "textDocument/inlayHint": "inlayHintProvider",
    "inlayHint/resolve": "inlayHintProvider.resolveProvider",
    "textDocument/inlineValue": "inlineValueProvider",
    "textDocument/inlineCompletion": "inlineCompletionProvider",
    "textDocument/codeLens": "codeLensProvider",
    "codeLens/resolve": "codeLensProvider.resolveProvider",
    "textDocument/codeAction": "codeActionProvider",
    "codeAction/resolve": "codeActionProvider.resolveProvider",
    "textDocument/formatting": "documentFormattingProvider",
    "textDocument/rangeFormatting": "documentRangeFormattingProvider",
    "textDocument/onTypeFormatting": "documentOnTypeFormattingProvider",
    "textDocument/documentColor": "colorProvider",
    "textDocument/moniker": "monikerProvider",
    "notebookDocument/didOpen": "notebookDocumentSync",
    "workspace/executeCommand": "executeCommandProvider",
    "workspace/textDocumentContent": "workspace.textDocumentContent",
    "workspace/willRenameFiles": "workspace.fileOperations.willRename",
    "workspace/didRenameFiles": "workspace.fileOperations.didRename",
    "workspace/didChangeConfiguration": "",
    "workspace/didChangeWatchedFiles": "",
    "workspace/didChangeWorkspaceFolders": "workspace.workspaceFolders.changeNotifications",
    "window/workDoneProgress/cancel": "",
}


def answered() -> dict[str, bool]:
    capabilities = server_capabilities(_able(), tuple(COMMANDS))
    handled = {route.method for route in ROUTES}
    return {
        method: method in handled if not place else _is_there(capabilities, place) for method, place in METHODS.items()
    }


def table() -> str:
    rows = (f"| `{method}` | {'yes' if there else 'no'} |" for method, there in answered().items())
    return "\n".join(["| method | answered |", "|---|---|", *rows])


def in_page(text: str) -> str:
    """The text with the table between its marks. Raises ValueError where there are none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"lines {BEGIN} and {END} not found")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _able() -> ClientFacts:
    """A client that can do everything."""
    yes = {one.name: True for one in dataclasses.fields(ClientFacts) if one.type in (bool, "bool")}
    return ClientFacts(**yes)  # type: ignore[arg-type]


def _is_there(capabilities: JsonObject, place: str) -> bool:
    found: Json = capabilities
    for part in place.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found is not None and found is not False


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(in_page(page.read_text("utf-8")), "utf-8", newline="\n")
