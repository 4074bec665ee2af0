"""Routes of enhance loops: what an editor and a person tell one, and what it tells of itself."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.engine.api.answers import refused
from loop_ls.engine.api.route import Handler, read_body, speaker_of
from loop_ls.engine.api.routes.control_routes import not_theirs
from loop_ls.engine.api.routes.loops import engine_of


def asked(verb: str) -> Handler:
    async def handler(request: Request) -> Response:
        told = await engine_of(request).enhance(verb, request.path_params["id"])
        return JSONResponse(told) if told["ok"] else refused(told)

    return handler


def told(verb: str) -> Handler:
    async def handler(request: Request) -> Response:
        if (no := await not_theirs(request)) is not None:
            return no
        body = await read_body(request)
        answered = await engine_of(request).enhance(verb, request.path_params["id"], body, speaker_of(request))
        return JSONResponse(answered) if answered["ok"] else refused(answered)

    return handler


HANDLERS: dict[str, Handler] = {
    "enhance_status": asked("status"),
    "enhance_timeline": asked("timeline"),
    "enhance_acknowledge": told("acknowledge"),
    "enhance_choose": told("choose"),
    "enhance_feedback": told("feedback"),
}
