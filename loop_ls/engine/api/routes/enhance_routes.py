"""Routes of enhance loops: what an editor and a person tell one, and what it tells of itself."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.engine.api.answers import read_object, refused
from loop_ls.engine.api.route import Handler, Route
from loop_ls.engine.api.routes.control_routes import not_theirs
from loop_ls.engine.api.routes.loops import engine_of
from loop_ls.engine.api.schemas import ANYTHING, FLAG, MAPPING, TEXT, answer, many, maybe, shape
from loop_ls.engine.enhance.acknowledgements import CHOICES, OUTCOMES, TEXT_LIMIT

LOOP = "/api/v1/loops/{id}/enhance"


def asked(verb: str) -> Handler:
    async def handler(request: Request) -> Response:
        told = await engine_of(request).enhance(verb, request.path_params["id"])
        return JSONResponse(told) if told["ok"] else refused(told)

    return handler


def told(verb: str) -> Handler:
    async def handler(request: Request) -> Response:
        body = await read_object(request, TEXT_LIMIT)  # it may hold the text of the document
        if (no := await not_theirs(request)) is not None:
            return no
        answered = await engine_of(request).enhance(verb, request.path_params["id"], body)
        return JSONResponse(answered) if answered["ok"] else refused(answered)

    return handler


ENHANCING = (
    Route(
        "GET",
        f"{LOOP}/status",
        "getEnhanceStatus",
        "The state of an enhance loop: its round, and what it has spent.",
        asked("status"),
        answer(state=MAPPING),
        refusals=(503,),
    ),
    Route(
        "GET",
        f"{LOOP}/timeline",
        "getEnhanceTimeline",
        "The rounds of an enhance loop: what failed, what was proposed, applied and refused, and why.",
        asked("timeline"),
        answer(status=MAPPING, rounds=many(MAPPING), markdown=TEXT),
        refusals=(503,),
    ),
    Route(
        "POST",
        f"{LOOP}/acknowledge",
        "acknowledgeEdit",
        "What became of an edit that the loop sent to an editor.",
        told("acknowledge"),
        answer(planId=ANYTHING),
        role="editor",
        body=shape(planId=TEXT, outcome={"enum": sorted(OUTCOMES)}, text_=maybe(TEXT), failureReason_=maybe(TEXT)),
        body_required=True,
        refusals=(409, 503),
    ),
    Route(
        "POST",
        f"{LOOP}/choose",
        "chooseNextRound",
        "How a loop that waits between rounds goes on.",
        told("choose"),
        answer(choice=TEXT),
        role="editor",
        body=shape(choice={"enum": sorted(CHOICES)}, text_=maybe(TEXT)),
        body_required=True,
        refusals=(409, 503),
    ),
    Route(
        "POST",
        f"{LOOP}/feedback",
        "giveFeedback",
        "What a person says of a round, or of one step of it.",
        told("feedback"),
        answer(),
        role="editor",
        body=shape(text=TEXT, step_=maybe(TEXT), negative_=maybe(FLAG)),
        body_required=True,
        refusals=(409, 503),
    ),
)
