"""What the client can do, as plain facts, and what the server tells about itself.

Read from the message as it came, because structuring all client capabilities takes longer than the
rest of start-up. A capability that is missing or odd counts as not there.
"""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.record import equal_record

ENCODINGS = ("utf-8", "utf-16", "utf-32")

#: Characters that open completion: after a key, inside `{{`, in lists, after a quote, at a loop variable.
COMPLETION_TRIGGERS = ("{", " ", ":", '"', "'", ".", "[", ",", "\n", "-", "*")

#: The legend of semantic tokens, as `features.semantic_tokens.tokens` has it; that is not imported at start (a test
#: compares).
TOKEN_TYPES = ("variable", "parameter", "property", "function", "keyword", "operator")
TOKEN_MODIFIERS = ("declaration", "readonly", "deprecated")

#: Renaming these may change what a reference means.
RENAMED = (
    {"glob": "**/*.{yaml,yml,json}", "matches": "file"},
    {"glob": "**/{roles,.claude/agents}/*.md", "matches": "file"},
    {"glob": "**/*", "matches": "folder"},
)


@equal_record
class ClientFacts:
    """Only what this server asks about."""

    name: str = ""
    encoding: str = "utf-16"
    pull_diagnostics: bool = False
    diagnostic_refresh: bool = False
    lens_refresh: bool = False
    inlay_refresh: bool = False
    token_refresh: bool = False
    inlay_resolve: bool = False
    prepares_rename: bool = False
    confirms_edits: bool = False
    renames_files: bool = False
    creates_files: bool = False
    moves_files: bool = False
    fold_limit: int | None = None
    related_information: bool = False
    diagnostic_tags: bool = False
    code_description: bool = False
    snippets: bool = False
    markdown: bool = False
    completion_markdown: bool = False
    insert_replace: bool = False
    resolve_documentation: bool = False
    hierarchical_symbols: bool = False
    definition_links: bool = False
    action_literals: bool = False
    action_resolve: bool = False
    document_changes: bool = False
    watched_files: bool = False
    relative_patterns: bool = False
    configuration: bool = False
    configuration_registration: bool = False
    progress: bool = False
    message_request: bool = False
    shows_documents: bool = False
    draws_lenses: bool = False
    applies_edits: bool = False
    suggest_command: str = ""


def client_facts(params: JsonObject) -> ClientFacts:
    """Facts from the parameters of `initialize`."""
    capabilities = params.get("capabilities")

    def at(path: str) -> Json:
        found: Json = capabilities
        for part in path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def said(path: str) -> bool:
        return at(path) is True

    info = params.get("clientInfo")
    resolves = at("textDocument.completion.completionItem.resolveSupport.properties")
    action_resolves = at("textDocument.codeAction.resolveSupport.properties")
    hover_formats = at("textDocument.hover.contentFormat")
    item_formats = at("textDocument.completion.completionItem.documentationFormat")
    return ClientFacts(
        name=str(info.get("name", "")) if isinstance(info, dict) else "",
        encoding=_encoding(at("general.positionEncodings")),
        pull_diagnostics=isinstance(at("textDocument.diagnostic"), dict),
        diagnostic_refresh=said("workspace.diagnostics.refreshSupport"),
        lens_refresh=said("workspace.codeLens.refreshSupport"),
        inlay_refresh=said("workspace.inlayHint.refreshSupport"),
        token_refresh=said("workspace.semanticTokens.refreshSupport"),
        inlay_resolve="tooltip" in _texts(at("textDocument.inlayHint.resolveSupport.properties")),
        prepares_rename=said("textDocument.rename.prepareSupport"),
        confirms_edits=isinstance(at("workspace.workspaceEdit.changeAnnotationSupport"), dict),
        renames_files=said("workspace.fileOperations.willRename"),
        creates_files="create" in _texts(at("workspace.workspaceEdit.resourceOperations")),
        moves_files="rename" in _texts(at("workspace.workspaceEdit.resourceOperations")),
        fold_limit=_count(at("textDocument.foldingRange.rangeLimit")),
        related_information=said("textDocument.publishDiagnostics.relatedInformation"),
        diagnostic_tags=bool(at("textDocument.publishDiagnostics.tagSupport")),
        code_description=said("textDocument.publishDiagnostics.codeDescriptionSupport"),
        snippets=said("textDocument.completion.completionItem.snippetSupport"),
        markdown=isinstance(hover_formats, list) and "markdown" in hover_formats,
        completion_markdown=isinstance(item_formats, list) and "markdown" in item_formats,
        insert_replace=said("textDocument.completion.completionItem.insertReplaceSupport"),
        resolve_documentation=isinstance(resolves, list) and "documentation" in resolves,
        hierarchical_symbols=said("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"),
        definition_links=said("textDocument.definition.linkSupport"),
        action_literals=isinstance(at("textDocument.codeAction.codeActionLiteralSupport"), dict),
        action_resolve=isinstance(action_resolves, list)
        and "edit" in action_resolves
        and said("textDocument.codeAction.dataSupport"),
        document_changes=said("workspace.workspaceEdit.documentChanges"),
        watched_files=said("workspace.didChangeWatchedFiles.dynamicRegistration"),
        relative_patterns=said("workspace.didChangeWatchedFiles.relativePatternSupport"),
        configuration=said("workspace.configuration"),
        configuration_registration=said("workspace.didChangeConfiguration.dynamicRegistration"),
        progress=said("window.workDoneProgress"),
        message_request=isinstance(at("window.showMessage.messageActionItem"), dict),
        shows_documents=said("window.showDocument.support"),
        # lsp-mode draws them and only says that it refreshes them
        draws_lenses=isinstance(at("textDocument.codeLens"), dict) or said("workspace.codeLens.refreshSupport"),
        applies_edits=said("workspace.applyEdit"),
        suggest_command=_suggest_command(info, params.get("initializationOptions")),
    )


def _suggest_command(info: object, options: object) -> str:
    """The editor's command that opens completion again. Only VS Code and its kin have one."""
    if isinstance(options, dict) and isinstance(named := options.get("suggestCommand"), str):
        return named
    name = str(info.get("name", "")) if isinstance(info, dict) else ""
    return "editor.action.triggerSuggest" if is_vscode(name) else ""


def is_vscode(name: str) -> bool:
    """Whether an editor that calls itself so is VS Code, or made of it."""
    return "Visual Studio Code" in name or "code-server" in name


def _texts(found: object) -> list[Json]:
    return found if isinstance(found, list) else []


def _count(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None


def _encoding(offered: object) -> str:
    """The first of the client's that we know; the protocol's default is utf-16."""
    if isinstance(offered, list):
        for name in offered:
            if name in ENCODINGS:
                return str(name)
    return "utf-16"


def server_capabilities(client: ClientFacts, commands: Sequence[str]) -> JsonObject:
    """What we answer to `initialize`. Only what exists is announced."""
    workspace: JsonObject = {"workspaceFolders": {"supported": True, "changeNotifications": True}}
    capabilities: JsonObject = {
        "positionEncoding": client.encoding,
        "textDocumentSync": {"openClose": True, "change": 2, "save": True},
        "completionProvider": {"triggerCharacters": list(COMPLETION_TRIGGERS), "resolveProvider": True},
        "hoverProvider": True,
        "definitionProvider": True,
        "documentSymbolProvider": True,
        "codeLensProvider": {"resolveProvider": False},
        "referencesProvider": True,
        "documentHighlightProvider": True,
        "renameProvider": {"prepareProvider": True} if client.prepares_rename else True,
        "linkedEditingRangeProvider": True,
        "workspaceSymbolProvider": True,
        "documentLinkProvider": {"resolveProvider": False},
        "foldingRangeProvider": True,
        "selectionRangeProvider": True,
        "callHierarchyProvider": True,
        "inlayHintProvider": {"resolveProvider": client.inlay_resolve},
        "semanticTokensProvider": {
            "legend": {"tokenTypes": list(TOKEN_TYPES), "tokenModifiers": list(TOKEN_MODIFIERS)},
            "full": {"delta": True},
            "range": True,
        },
        "documentFormattingProvider": True,
        "documentOnTypeFormattingProvider": {"firstTriggerCharacter": "\n"},
        "codeActionProvider": {
            "codeActionKinds": [
                "quickfix",
                "refactor.extract",
                "refactor.rewrite",
                "source.fixAll.loopLs",
                "source.enhance.preview",
                "source.run",
            ],
            "resolveProvider": client.action_resolve,
        }
        if client.action_literals
        else True,
        "executeCommandProvider": {"commands": list(commands)},
        "workspace": workspace,
        "experimental": {"loopLs": {"version": 1, "events": True, "virtualDocuments": False}},
    }
    if client.renames_files:
        filters: list[JsonObject] = [{"scheme": "file", "pattern": pattern} for pattern in RENAMED]
        workspace["fileOperations"] = {"willRename": {"filters": filters}}
    if client.pull_diagnostics:
        capabilities["diagnosticProvider"] = {
            "identifier": "loop-ls",
            "interFileDependencies": True,
            "workspaceDiagnostics": True,
        }
    return capabilities
