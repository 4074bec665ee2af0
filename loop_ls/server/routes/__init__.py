"""Requests of the editor, one module per group. Each asks a feature and writes its answer as LSP.

Answers are plain dicts in the shape of the protocol: half of them are lists that would cost more to
build as objects than to compute. A group is imported when one of its requests comes, or when the
server has nothing better to do; only diagnostics are wanted at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from loop_ls.server.routes import pull_diagnostics as diagnostics
from loop_ls.server.rpc import methods

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

#: method -> the module that answers it.
LATE = {
    methods.TEXT_DOCUMENT_COMPLETION: "completion",
    methods.COMPLETION_ITEM_RESOLVE: "completion",
    methods.TEXT_DOCUMENT_HOVER: "hover_definition",
    methods.TEXT_DOCUMENT_DEFINITION: "hover_definition",
    methods.TEXT_DOCUMENT_DOCUMENT_SYMBOL: "document_symbols",
    methods.TEXT_DOCUMENT_CODE_LENS: "code_lenses",
    methods.TEXT_DOCUMENT_CODE_ACTION: "code_actions",
    methods.CODE_ACTION_RESOLVE: "code_actions",
    methods.TEXT_DOCUMENT_REFERENCES: "references_rename",
    methods.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: "references_rename",
    methods.TEXT_DOCUMENT_PREPARE_RENAME: "references_rename",
    methods.TEXT_DOCUMENT_RENAME: "references_rename",
    methods.TEXT_DOCUMENT_LINKED_EDITING_RANGE: "references_rename",
    methods.TEXT_DOCUMENT_DOCUMENT_LINK: "folding_links_selection",
    methods.TEXT_DOCUMENT_FOLDING_RANGE: "folding_links_selection",
    methods.TEXT_DOCUMENT_SELECTION_RANGE: "folding_links_selection",
    methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: "semantic_tokens",
    methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: "semantic_tokens",
    methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: "semantic_tokens",
    methods.TEXT_DOCUMENT_INLAY_HINT: "inlay_hints",
    methods.INLAY_HINT_RESOLVE: "inlay_hints",
    methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: "call_hierarchy",
    methods.CALL_HIERARCHY_INCOMING_CALLS: "call_hierarchy",
    methods.CALL_HIERARCHY_OUTGOING_CALLS: "call_hierarchy",
    methods.TEXT_DOCUMENT_FORMATTING: "formatting",
    methods.TEXT_DOCUMENT_ON_TYPE_FORMATTING: "formatting",
    methods.WORKSPACE_SYMBOL: "workspace_symbols",
    methods.WORKSPACE_WILL_RENAME_FILES: "workspace_symbols",
    methods.WORKSPACE_EXECUTE_COMMAND: "execute_command",
    methods.WINDOW_WORK_DONE_PROGRESS_CANCEL: "execute_command",
    methods.WORKSPACE_DID_CHANGE_CONFIGURATION: "workspace_changes",
    methods.WORKSPACE_DID_CHANGE_WATCHED_FILES: "workspace_changes",
    methods.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: "workspace_changes",
    methods.TEXT_DOCUMENT_DID_SAVE: "workspace_changes",
}


def register(server: LoopServer) -> None:
    diagnostics.register(server)


def register_late(server: LoopServer, method: str) -> None:
    """Register the group of a method, once."""
    group = LATE[method]
    if group not in server.late_groups:
        server.late_groups.add(group)
        import_module(f"loop_ls.server.routes.{group}").register(server)
