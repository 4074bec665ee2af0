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
