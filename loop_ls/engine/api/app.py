"""The application: all routes behind one guard, every error in the documented envelope."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from loop_ls import __version__
from loop_ls.engine.api import loops
from loop_ls.engine.api.answers import BadRequest, read_object, refusal, refused, whole_number
from loop_ls.engine.api.guard import Guard
from loop_ls.engine.api.operations import Operations
from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.stream import EventStream
from loop_ls.engine.handover import PROTOCOL, fingerprint

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the process knows about itself and the routes show."""

    token: str
    workspace_id: str
    data_dir: str
    started_at: str
    port: int


def application(engine: Operations, facts: Facts, presence: Presence, leave: Callable[[], None]) -> ASGIApp:
    app = Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            *loops.ROUTES,
            Route("/api/v1/events", events, methods=["GET"]),
            Route("/api/v1/engine", engine_status, methods=["GET"]),
            Route("/api/v1/engine/stop", engine_stop, methods=["POST"]),
        ],
        exception_handlers={BadRequest: _bad_request, HTTPException: _no_route, Exception: _fault},
    )
    app.state.engine, app.state.facts, app.state.presence, app.state.leave = engine, facts, presence, leave
    return Guard(app, facts.token, presence.touch)


async def health(request: Request) -> Response:
    """`engine` proves that the one who answers knows the token, without saying it."""
    facts: Facts = request.app.state.facts
    return JSONResponse(
        {
            "status": "ok",
            "workspace_id": facts.workspace_id,
            "version": __version__,
            "protocol": PROTOCOL,
            "engine": fingerprint(facts.token),
            "managers": {"loops": {"ready": True}, "tasks": {"ready": True}},
        }
    )


async def events(request: Request) -> ASGIApp:
    """`Last-Event-ID` (a reconnection) wins over `after`; without both, from now on."""
    engine, run_id = loops.engine_of(request), request.query_params.get("run") or None
    after = whole_number(request, "after")
    last = request.headers.get("last-event-id", "").strip()
    if last.isascii() and last.isdigit():
        after = int(last)
    if run_id is not None:
        answer = await engine.state(run_id)
        if not answer["ok"]:
            return refused(answer)
        run_id = answer["state"]["runId"]
    position = int(engine.status["position"]) if after is None else after
    return EventStream(engine.subscribe(position, run_id), position, request.app.state.presence)


async def engine_status(request: Request) -> Response:
    facts: Facts = request.app.state.facts
    status = loops.engine_of(request).status
    return JSONResponse(
        {
            "ok": True,
            "engine": {
                "version": __version__,
                "protocol": PROTOCOL,
                "pid": os.getpid(),
                "port": facts.port,
                "dataDir": facts.data_dir,
                "startedAt": facts.started_at,
                "running": status["running"],
                "listeners": request.app.state.presence.listeners,
                "position": status["position"],
            },
        }
    )


async def engine_stop(request: Request) -> Response:
    await read_object(request)
    request.app.state.leave()
    return JSONResponse({"ok": True, "status": "stopping"})


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, BadRequest)
    return refusal(error.code, error.message)


async def _no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    path = request.url.path[:120]
    if status == 405:
        return refusal("not_allowed", f"`{request.method}` is no method of {path}.")
    return refusal("not_found", f"There is nothing at {path}.")


async def _fault(request: Request, error: Exception) -> Response:
    log.error("%s %s: %s", request.method, request.url.path, error, exc_info=error)
    return refusal("internal_error", "The engine made a mistake of its own; its log has the details.")


def workspace_id(data_dir: str) -> str:
    """Names the workspace of an engine without saying where it lies."""
    return hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
