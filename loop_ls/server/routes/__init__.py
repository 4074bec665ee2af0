"""Requests of the editor, one module per group. Each asks a feature and writes its answer as LSP.

Answers are plain dicts in the shape of the protocol: half of them are lists that would cost more to
build as objects than to compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.server.routes import actions, commands, completion, diagnostics, lenses, reading, symbols, workspace

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer


def register(server: LoopServer) -> None:
    for module in (diagnostics, completion, reading, symbols, lenses, actions, commands, workspace):
        module.register(server)
