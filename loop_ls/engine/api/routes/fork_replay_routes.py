"""Routes that make something of a run that is recorded: fork, replay, export, import, and trying a condition."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.engine.api.answers import read_object, refused
from loop_ls.engine.api.route import Route, person_of
from loop_ls.engine.api.routes.loops import engine_of
from loop_ls.engine.api.schemas import COUNT, FLAG, FROM_ONE, MAPPING, NUMBER, TEXT, answer, many, shape

Answer = dict[str, Any]

LOOP = "/api/v1/loops/{id}"
#: An exported run holds all outputs of it.
RUN_LIMIT = 256 * 1024 * 1024


async def fork(request: Request) -> Response:
    body = await read_object(request)
    given: Answer = {"origin": "api"}
    given |= {name: body[name] for name in ("loop", "origin", "consent") if isinstance(body.get(name), str)}
    given |= {"detach": True} if body.get("detach") is True else {}
    user = person_of(request).user
    return _answered(
        await engine_of(request).fork(request.path_params["id"], body.get("iteration"), user, **given), 201
    )


async def replay(request: Request) -> Response:
    body = {"origin": "api", **await read_object(request)}
    return _answered(await engine_of(request).replay(request.path_params["id"], body, person_of(request).user), 201)


async def export(request: Request) -> Response:
    return _answered(await engine_of(request).export(request.path_params["id"]))


async def take_in(request: Request) -> Response:
    """The body is what an export answered as `run`."""
    return _answered(await engine_of(request).take_in(await read_object(request, RUN_LIMIT)), 201)


async def test_until(request: Request) -> Response:
    body = {"origin": "api", **await read_object(request)}
    return _answered(await engine_of(request).test_until(body, person_of(request).user))


def _answered(answer: Answer, status: int = 200) -> Response:
    return JSONResponse(answer, status) if answer["ok"] else refused(answer)


_NEW = answer(runId=TEXT)

AGAIN = (
    Route(
        "POST",
        f"{LOOP}/fork",
        "forkLoop",
        "A new run: what was finished before `iteration` is taken, the rest is paid for.",
        fork,
        _NEW,
        role="editor",
        status=201,
        body=shape(iteration_=FROM_ONE, loop_=TEXT, consent_=TEXT, detach_=FLAG),
        refusals=(404, 409, 503),
    ),
    Route(
        "POST",
        f"{LOOP}/replay",
        "replayLoop",
        "The recorded answers against the files as they are now; nobody is asked.",
        replay,
        _NEW,
        role="editor",
        status=201,
        body=shape(uri_=TEXT, path_=TEXT, root_=TEXT),
        refusals=(404, 409, 503),
    ),
    Route(
        "GET",
        f"{LOOP}/export",
        "exportLoop",
        "All of a run as one JSON object, without secrets.",
        export,
        answer(run=MAPPING),
        refusals=(503,),
    ),
    Route(
        "POST",
        "/api/v1/import",
        "importLoop",
        "Put an exported run into the record; it is shown and never goes on.",
        take_in,
        answer(runId=TEXT, known=FLAG),
        role="editor",
        status=201,
        body=MAPPING,
        body_required=True,
        refusals=(503,),
    ),
    Route(
        "POST",
        "/api/v1/test-until",
        "testUntil",
        "Ask the judge of a loop about an output, or about those of a run, as often as wished.",
        test_until,
        answer(
            condition=TEXT, judge=MAPPING, verdicts=many(MAPPING), agreement=many(MAPPING), costUsd=NUMBER, tokens=COUNT
        ),
        role="editor",
        body=shape(uri_=TEXT, path_=TEXT, root_=TEXT, loop_=TEXT, output_=TEXT, runId_=TEXT, times_=FROM_ONE),
        refusals=(404, 409, 429, 503),
    ),
)
