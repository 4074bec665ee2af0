"""Routes for programs that write loop files: findings and estimates of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.contract.answers import CheckedFile, FileEstimate, Refusal
from loop_ls.engine.api.answers import refused
from loop_ls.engine.api.route import Handler, read_body
from loop_ls.engine.core.errors import Refused

if TYPE_CHECKING:
    from loop_ls.engine.api.file_checks import FileChecks


def file_checks_of(request: Request) -> FileChecks:
    """Raises `Refused` in an engine that has no checker."""
    found = request.app.state.file_checks
    if found is None:
        raise Refused("provider_unavailable", "This engine checks no files.")
    return cast("FileChecks", found)


async def check(request: Request) -> Response:
    body = await read_body(request)
    text = body.get("text")
    return _answered(await checked(request, str(body["path"]), None if text is None else str(text)))


async def estimate(request: Request) -> Response:
    body = await read_body(request)
    name = body.get("name")
    return _answered(await estimated(request, str(body["path"]), None if name is None else str(name)))


async def checked(request: Request, path: str, text: str | None) -> CheckedFile | Refusal:
    try:
        return await file_checks_of(request).check(path, text)
    except Refused as none:
        return none.answer()


async def estimated(request: Request, path: str, name: str | None) -> FileEstimate | Refusal:
    try:
        return await file_checks_of(request).estimate(path, name)
    except Refused as none:
        return none.answer()


def _answered(answer: CheckedFile | FileEstimate | Refusal) -> Response:
    return JSONResponse(answer) if answer["ok"] else refused(answer)


HANDLERS: dict[str, Handler] = {"check": check, "estimate": estimate}
