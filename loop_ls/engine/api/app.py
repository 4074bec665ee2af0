"""The application: all routes behind one guard, every error in the documented envelope."""

from __future__ import annotations

import functools
import hashlib
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from loop_ls.engine.api.answers import BadRequest, refusal
from loop_ls.engine.api.file_checks import NO_FILE_CHECKS, FileChecks
from loop_ls.engine.api.guard import SOCKETS, Guard
from loop_ls.engine.api.page import files
from loop_ls.engine.api.page.codes import Codes
from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.route import mounted
from loop_ls.engine.api.route_table import ROUTES
from loop_ls.engine.api.routes import agents
from loop_ls.engine.api.routes.engine_routes import Facts
from loop_ls.engine.assistants.api_service import AssistantService
from loop_ls.engine.core.users import Tokens
from loop_ls.engine.service import Engine
from loop_ls.text.json_value import JsonObject

__all__ = ["Catalogue", "Facts", "application", "nothing", "workspace_id"]

log = logging.getLogger(__name__)

#: What a workspace has that can be started by name, as rows of the interface.
Catalogue = Callable[[], Awaitable[list[JsonObject]]]


async def nothing() -> list[JsonObject]:
    return []


def application(
    engine: Engine,
    facts: Facts,
    presence: Presence,
    leave: Callable[[], None],
    *,
    tokens: Tokens | None = None,
    catalogue: Catalogue = nothing,
    file_checks: FileChecks = NO_FILE_CHECKS,
    numbers: Callable[[], str] = str,
    assistants: AssistantService | None = None,
    sockets: ASGIApp | None = None,
    mcp: ASGIApp | None = None,
) -> ASGIApp:
    """`assistants` and `sockets` are the documented interfaces of assistants, `mcp` is that of agents."""
    others = [*(agents.ROUTES if assistants else ()), *([Route("/mcp", mcp)] if mcp else ())]
    app = Starlette(
        routes=[*mounted(ROUTES), *files.ROUTES, *others],
        exception_handlers={BadRequest: _bad_request, HTTPException: _no_route, Exception: _fault},
    )
    state = app.state
    state.engine, state.facts, state.presence, state.leave = engine, facts, presence, leave
    state.catalogue, state.numbers, state.assistants = catalogue, numbers, assistants
    state.file_checks, state.tokens, state.codes = file_checks, tokens, Codes()
    state.openapi = functools.cache(partial(_openapi, facts.port))
    return Guard(_with_sockets(app, sockets), facts.token, tokens, presence.touch)


def _openapi(port: int) -> Mapping[str, object]:
    from loop_ls.engine.api.openapi import document

    return document(ROUTES, f"http://127.0.0.1:{port}")


def _with_sockets(app: ASGIApp, sockets: ASGIApp | None) -> ASGIApp:
    if sockets is None:
        return app

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        await (sockets if scope["path"].startswith(SOCKETS) else app)(scope, receive, send)

    return either


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, BadRequest)
    return refusal(error.code, error.message)


async def _no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    path = request.url.path[:120]
    if status != 405:
        return refusal("not_found", f"Not found: {path}.")
    answer = refusal("not_allowed", f"`{request.method}` is not supported for {path}.")
    answer.headers.update(error.headers or {} if isinstance(error, HTTPException) else {})  # `Allow`
    return answer


async def _fault(request: Request, error: Exception) -> Response:
    log.error("%s %s: %s", request.method, request.url.path, error, exc_info=error)
    return refusal("internal_error", "Internal error of the engine; see its log for details.")


def workspace_id(data_dir: str) -> str:
    """Names the workspace of an engine without saying where it lies."""
    return hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
