"""The table of routes: everything that this server answers, who answers it, and how that runs.

A handler is a plain function `(context, params) -> result`. Its module is imported when one of its messages comes, or
when the server has nothing better to do; a test resolves all of them.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.text.record import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from loop_ls.server.context import Context
    from loop_ls.text.json_value import JsonObject


class Kind(Enum):
    """How a handler runs."""

    READ = "read"  #: answers at once from what is open now
    WAIT = "wait"  #: waits for the index, the client or an engine; other messages go on, and it can be cancelled
    WRITE = "write"  #: changes what is open; nothing else runs meanwhile


@record
class Route:
    """`handler` is `module.function` of this folder."""

    method: str
    kind: Kind
    handler: str

    def load(self) -> None:
        """Import what answers, before it is asked."""
        _ = self.function

    @cached_property
    def function(self) -> Callable[[Context, JsonObject], object]:
        module, _, name = self.handler.partition(".")
        found: Callable[[Context, JsonObject], object] = getattr(import_module(f"loop_ls.server.routes.{module}"), name)
        return found


def _read(method: str, handler: str) -> Route:
    return Route(method, Kind.READ, handler)


def _wait(method: str, handler: str) -> Route:
    return Route(method, Kind.WAIT, handler)


def _write(method: str, handler: str) -> Route:
    return Route(method, Kind.WRITE, handler)


ROUTES = (
    _write(lsp.TEXT_DOCUMENT_DID_OPEN, "document_sync.opened"),
    _write(lsp.TEXT_DOCUMENT_DID_CHANGE, "document_sync.changed"),
    _write(lsp.TEXT_DOCUMENT_DID_CLOSE, "document_sync.closed"),
    _write(lsp.TEXT_DOCUMENT_DID_SAVE, "document_sync.saved"),
    _write(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, "workspace_changes.watched"),
    _write(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, "workspace_changes.folders"),
    _wait(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, "workspace_changes.configuration"),
    _read(lsp.TEXT_DOCUMENT_DIAGNOSTIC, "pull_diagnostics.on_pull"),
    _wait(lsp.WORKSPACE_DIAGNOSTIC, "pull_diagnostics.on_workspace"),
    _read(lsp.TEXT_DOCUMENT_COMPLETION, "completion.complete"),
    _read(lsp.COMPLETION_ITEM_RESOLVE, "completion.resolve"),
    _read(lsp.TEXT_DOCUMENT_HOVER, "hover_definition.on_hover"),
    _wait(lsp.TEXT_DOCUMENT_DEFINITION, "hover_definition.on_definition"),
    _read(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, "document_symbols.on_symbols"),
    _read(lsp.TEXT_DOCUMENT_CODE_LENS, "code_lenses.on_lenses"),
    _read(lsp.TEXT_DOCUMENT_CODE_ACTION, "code_actions.on_actions"),
    _read(lsp.CODE_ACTION_RESOLVE, "code_actions.resolve"),
    _wait(lsp.TEXT_DOCUMENT_REFERENCES, "references_rename.on_references"),
    _read(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, "references_rename.on_highlight"),
    _read(lsp.TEXT_DOCUMENT_PREPARE_RENAME, "references_rename.on_prepare"),
    _wait(lsp.TEXT_DOCUMENT_RENAME, "references_rename.on_rename"),
    _read(lsp.TEXT_DOCUMENT_LINKED_EDITING_RANGE, "references_rename.on_linked"),
    _read(lsp.TEXT_DOCUMENT_DOCUMENT_LINK, "folding_links_selection.on_links"),
    _read(lsp.TEXT_DOCUMENT_FOLDING_RANGE, "folding_links_selection.on_folds"),
    _read(lsp.TEXT_DOCUMENT_SELECTION_RANGE, "folding_links_selection.on_selection"),
    _read(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, "semantic_tokens.on_full"),
    _read(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, "semantic_tokens.on_delta"),
    _read(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, "semantic_tokens.on_range"),
    _read(lsp.TEXT_DOCUMENT_INLAY_HINT, "inlay_hints.on_inlays"),
    _read(lsp.INLAY_HINT_RESOLVE, "inlay_hints.on_resolve"),
    _wait(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, "call_hierarchy.on_prepare"),
    _read(lsp.CALL_HIERARCHY_INCOMING_CALLS, "call_hierarchy.on_incoming"),
    _read(lsp.CALL_HIERARCHY_OUTGOING_CALLS, "call_hierarchy.on_outgoing"),
    _read(lsp.TEXT_DOCUMENT_FORMATTING, "formatting.on_formatting"),
    _read(lsp.TEXT_DOCUMENT_ON_TYPE_FORMATTING, "formatting.on_typed"),
    _wait(lsp.WORKSPACE_SYMBOL, "workspace_symbols.on_symbols"),
    _wait(lsp.WORKSPACE_WILL_RENAME_FILES, "workspace_symbols.on_rename_files"),
    _wait(lsp.WORKSPACE_EXECUTE_COMMAND, "execute_command.execute"),
    _wait(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL, "execute_command.cancel"),
)
