"""The routes of the documented interface: each operation of the contract with the function that answers it.

Verbs, paths, roles and types stand in `contract.operations`; an operation without a function, or a function without
an operation, keeps the engine from starting.
"""

from __future__ import annotations

from loop_ls.contract.operations import OPERATIONS
from loop_ls.engine.api.route import Handler, Route
from loop_ls.engine.api.routes import (
    authoring_routes,
    control_routes,
    engine_routes,
    enhance_routes,
    fork_replay_routes,
    loops,
    page_routes,
)

_HANDLERS: dict[str, Handler] = {
    **loops.HANDLERS,
    **enhance_routes.HANDLERS,
    **fork_replay_routes.HANDLERS,
    **control_routes.HANDLERS,
    **authoring_routes.HANDLERS,
    **engine_routes.HANDLERS,
    **page_routes.HANDLERS,
}
if unknown := _HANDLERS.keys() ^ OPERATIONS.keys():
    raise LookupError(f"Operations and functions differ: {', '.join(sorted(unknown))}.")

ROUTES: tuple[Route, ...] = tuple(Route(one, _HANDLERS[name]) for name, one in OPERATIONS.items())
