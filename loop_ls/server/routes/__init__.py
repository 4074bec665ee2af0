"""Requests of the editor, one module per group. Each asks a feature and writes its answer as LSP.

Answers are plain dicts in the shape of the protocol: half of them are lists that would cost more to
build as objects than to compute. A group is imported when one of its requests comes, or when the
server has nothing better to do; only diagnostics are wanted at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lsprotocol import types

from loop_ls.server.routes import diagnostics

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

#: method -> the module that answers it.
LATE = {
    types.TEXT_DOCUMENT_COMPLETION: "completion",
    types.COMPLETION_ITEM_RESOLVE: "completion",
    types.TEXT_DOCUMENT_HOVER: "reading",
    types.TEXT_DOCUMENT_DEFINITION: "reading",
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: "symbols",
    types.TEXT_DOCUMENT_CODE_LENS: "lenses",
    types.TEXT_DOCUMENT_CODE_ACTION: "actions",
    types.CODE_ACTION_RESOLVE: "actions",
    types.TEXT_DOCUMENT_REFERENCES: "names",
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: "names",
    types.TEXT_DOCUMENT_PREPARE_RENAME: "names",
    types.TEXT_DOCUMENT_RENAME: "names",
    types.TEXT_DOCUMENT_LINKED_EDITING_RANGE: "names",
    types.TEXT_DOCUMENT_DOCUMENT_LINK: "shape",
    types.TEXT_DOCUMENT_FOLDING_RANGE: "shape",
    types.TEXT_DOCUMENT_SELECTION_RANGE: "shape",
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: "tokens",
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: "tokens",
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: "tokens",
    types.TEXT_DOCUMENT_INLAY_HINT: "inlays",
    types.INLAY_HINT_RESOLVE: "inlays",
    types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: "calls",
    types.CALL_HIERARCHY_INCOMING_CALLS: "calls",
    types.CALL_HIERARCHY_OUTGOING_CALLS: "calls",
    types.TEXT_DOCUMENT_FORMATTING: "format",
    types.TEXT_DOCUMENT_ON_TYPE_FORMATTING: "format",
    types.WORKSPACE_SYMBOL: "everywhere",
    types.WORKSPACE_WILL_RENAME_FILES: "everywhere",
    types.WORKSPACE_EXECUTE_COMMAND: "commands",
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL: "commands",
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: "workspace",
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: "workspace",
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: "workspace",
    types.TEXT_DOCUMENT_DID_SAVE: "workspace",
}


def register(server: LoopServer) -> None:
    diagnostics.register(server)


def register_late(server: LoopServer, method: str) -> None:
    """Register the group of a method, once."""
    group = LATE[method]
    if group not in server.late_groups:
        server.late_groups.add(group)
        import_module(f"loop_ls.server.routes.{group}").register(server)
