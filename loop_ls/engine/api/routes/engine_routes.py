"""Routes about the engine itself: its health, its state, its numbers, its end, its own description."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from loop_ls import __version__
from loop_ls.contract.answers import EngineState
from loop_ls.engine.api.answers import refused, whole_number
from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.route import Handler, person_of, read_body, speaker_of
from loop_ls.engine.api.routes.loops import engine_of
from loop_ls.engine.api.stream import EventStream
from loop_ls.engine.process.instance_lock import PROTOCOL, fingerprint
from loop_ls.engine.subprocesses.sandbox import sandbox_in_words
from loop_ls.engine.telemetry.numbers import CONTENT_TYPE


@dataclass(frozen=True, slots=True)
class Facts:
    """What the process knows about itself and the routes show."""

    token: str
    workspace_id: str
    data_dir: str
    started_at: str
    port: int


async def health(request: Request) -> Response:
    """`engine` proves that the one who answers knows the token, without saying it."""
    facts: Facts = request.app.state.facts
    status = engine_of(request).status
    return JSONResponse(
        {
            "status": "ok",
            "workspace_id": facts.workspace_id,
            "version": __version__,
            "protocol": PROTOCOL,
            "engine": fingerprint(facts.token),
            "managers": status["managers"],
            "journal": damage(status),
        }
    )


def damage(status: EngineState) -> str:
    """One sentence; empty where the journal is whole."""
    runs = status["damaged"]
    if not runs:
        return ""
    count = f"{len(runs)} unfinished run{'s' if len(runs) > 1 else ''}"
    return f"The record of {count} is damaged, so they cannot continue; see `loop-ls engine repair`."


async def events(request: Request) -> Response | ASGIApp:
    """`Last-Event-ID` (a reconnection) wins over `after`; without both, from now on."""
    engine, run_id = engine_of(request), request.query_params.get("run") or None
    after = whole_number(request, "after")
    last = request.headers.get("last-event-id", "").strip()
    if last.isascii() and last.isdigit() and len(last) <= 18:
        after = int(last)
    if run_id is not None:
        answer = await engine.state(run_id)
        if not answer["ok"]:
            return refused(answer)
        run_id = answer["state"]["runId"]
    position = int(engine.status["position"]) if after is None else after
    presence: Presence = request.app.state.presence
    present = presence.visiting() if person_of(request).page else presence.listening()
    known = request.scope["still_known"]
    there = engine.editors.listening(speaker_of(request))
    return EventStream(engine.subscribe(position, run_id), position, present, known, there)


async def engine_status(request: Request) -> Response:
    facts: Facts = request.app.state.facts
    status = engine_of(request).status
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
                "journal": damage(status),
                "sandbox": await asyncio.to_thread(sandbox_in_words),
            },
        }
    )


async def engine_stop(request: Request) -> Response:
    """`now`: calls in progress are not waited for."""
    body = await read_body(request)
    calls = int(engine_of(request).status.get("inFlight") or 0)
    request.app.state.leave()
    if body.get("now") is True:
        request.app.state.leave()
    return JSONResponse({"ok": True, "status": "stopping", "inFlight": calls})


async def prometheus(request: Request) -> Response:
    return Response(request.app.state.numbers(), headers={"content-type": CONTENT_TYPE})


async def openapi(request: Request) -> Response:
    return JSONResponse(request.app.state.openapi())


HANDLERS: dict[str, Handler] = {
    "stream": events,
    "engine_status": engine_status,
    "engine_stop": engine_stop,
    "numbers": prometheus,
    "health": health,
    "openapi": openapi,
}
