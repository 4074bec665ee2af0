"""Requests of the editor, one module per group. Each asks a feature and writes its answer as LSP.

Answers are plain dicts in the shape of the protocol: half of them are lists that would cost more to
build as objects than to compute. A group is imported when one of its requests comes, or when the
server has nothing better to do; only diagnostics are wanted at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from loop_ls.server import methods
from loop_ls.server.routes import diagnostics

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

#: method -> the module that answers it.
LATE = {
    methods.TEXT_DOCUMENT_COMPLETION: "completion",
    methods.COMPLETION_ITEM_RESOLVE: "completion",
    methods.TEXT_DOCUMENT_HOVER: "reading",
    methods.TEXT_DOCUMENT_DEFINITION: "reading",
    methods.TEXT_DOCUMENT_DOCUMENT_SYMBOL: "symbols",
    methods.TEXT_DOCUMENT_CODE_LENS: "lenses",
    methods.TEXT_DOCUMENT_CODE_ACTION: "actions",
    methods.CODE_ACTION_RESOLVE: "actions",
    methods.TEXT_DOCUMENT_REFERENCES: "names",
    methods.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: "names",
    methods.TEXT_DOCUMENT_PREPARE_RENAME: "names",
    methods.TEXT_DOCUMENT_RENAME: "names",
    methods.TEXT_DOCUMENT_LINKED_EDITING_RANGE: "names",
    methods.TEXT_DOCUMENT_DOCUMENT_LINK: "shape",
    methods.TEXT_DOCUMENT_FOLDING_RANGE: "shape",
    methods.TEXT_DOCUMENT_SELECTION_RANGE: "shape",
    methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: "tokens",
    methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: "tokens",
    methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: "tokens",
    methods.TEXT_DOCUMENT_INLAY_HINT: "inlays",
    methods.INLAY_HINT_RESOLVE: "inlays",
    methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: "calls",
    methods.CALL_HIERARCHY_INCOMING_CALLS: "calls",
    methods.CALL_HIERARCHY_OUTGOING_CALLS: "calls",
    methods.TEXT_DOCUMENT_FORMATTING: "format",
    methods.TEXT_DOCUMENT_ON_TYPE_FORMATTING: "format",
    methods.WORKSPACE_SYMBOL: "everywhere",
    methods.WORKSPACE_WILL_RENAME_FILES: "everywhere",
    methods.WORKSPACE_EXECUTE_COMMAND: "commands",
    methods.WINDOW_WORK_DONE_PROGRESS_CANCEL: "commands",
    methods.WORKSPACE_DID_CHANGE_CONFIGURATION: "workspace",
    methods.WORKSPACE_DID_CHANGE_WATCHED_FILES: "workspace",
    methods.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: "workspace",
    methods.TEXT_DOCUMENT_DID_SAVE: "workspace",
}


def register(server: LoopServer) -> None:
    diagnostics.register(server)


def register_late(server: LoopServer, method: str) -> None:
    """Register the group of a method, once."""
    group = LATE[method]
    if group not in server.late_groups:
        server.late_groups.add(group)
        import_module(f"loop_ls.server.routes.{group}").register(server)
