"""Routes that make something of a run that is recorded: fork, replay, export, import, and trying a condition."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.contract.answers import Exported, Imported, NewRun, Refusal, Verdicts
from loop_ls.engine.api.answers import refused
from loop_ls.engine.api.route import Handler, argument_of, person_of, read_body
from loop_ls.engine.api.routes.loops import engine_of
from loop_ls.text.json_value import JsonObject


async def fork(request: Request) -> Response:
    body = argument_of(request, await read_body(request))
    given: JsonObject = {
        name: body[name] for name in ("loop", "origin", "consent", "at", "prompt") if isinstance(body.get(name), str)
    }
    given |= {"detach": True} if body.get("detach") is True else {}
    user = person_of(request).user
    return _answered(
        await engine_of(request).fork(request.path_params["id"], body.get("iteration"), user, **given), 201
    )


async def replay(request: Request) -> Response:
    body = argument_of(request, await read_body(request))
    return _answered(await engine_of(request).replay(request.path_params["id"], body, person_of(request).user), 201)


async def export(request: Request) -> Response:
    return _answered(await engine_of(request).export(request.path_params["id"]))


async def take_in(request: Request) -> Response:
    """The body is what an export answered as `run`."""
    return _answered(await engine_of(request).take_in(await read_body(request)), 201)


async def test_until(request: Request) -> Response:
    body = argument_of(request, await read_body(request))
    return _answered(await engine_of(request).test_until(body, person_of(request).user))


def _answered(answer: NewRun | Exported | Imported | Verdicts | Refusal, status: int = 200) -> Response:
    return JSONResponse(answer, status) if answer["ok"] else refused(answer)


HANDLERS: dict[str, Handler] = {
    "fork": fork,
    "replay": replay,
    "export": export,
    "take_in": take_in,
    "test_until": test_until,
}
