"""Routes for programs that write loop files: findings and estimates of one file."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.contract.answers import CheckedFile, FileEstimate, Refusal
from loop_ls.engine.api.answers import refused
from loop_ls.engine.api.file_checks import FileChecks
from loop_ls.engine.api.route import Handler, read_body
from loop_ls.text.json_value import text_field


def file_checks_of(request: Request) -> FileChecks:
    return cast("FileChecks", request.app.state.file_checks)


async def check(request: Request) -> Response:
    body = await read_body(request)
    text = None if body.get("text") is None else text_field(body, "text")
    return _answered(await file_checks_of(request).check(text_field(body, "path"), text))


async def estimate(request: Request) -> Response:
    body = await read_body(request)
    name, provider, model = (text_field(body, one) or None for one in ("name", "provider", "model"))
    return _answered(await file_checks_of(request).estimate(text_field(body, "path"), name, provider, model))


def _answered(answer: CheckedFile | FileEstimate | Refusal) -> Response:
    return JSONResponse(answer) if answer["ok"] else refused(answer)


HANDLERS: dict[str, Handler] = {"check": check, "estimate": estimate}
