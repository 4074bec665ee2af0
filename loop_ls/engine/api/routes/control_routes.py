"""Routes that start, change and control loops. Who asks must be the one whose run it is, or an admin.

`all` means all runs that the person may control.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.contract.answers import Refusal, RunStatus
from loop_ls.contract.endings import POSSIBLE, Verb
from loop_ls.engine.api.answers import DOCUMENTED, refusal, refused
from loop_ls.engine.api.route import Handler, argument_of, person_of, read_body, speaker_of
from loop_ls.engine.api.routes.loops import engine_of, first_iteration, shown
from loop_ls.engine.api.routes.start_by_name import started
from loop_ls.engine.api.views import loop_row
from loop_ls.engine.core.idempotency import KEY, REQUEST, digest_of
from loop_ls.engine.core.users import OWNER
from loop_ls.text.json_value import JsonObject

CONTROL: tuple[Verb, ...] = get_args(Verb)
#: How long the answer to a stop waits for the run to be at its end.
STOP_SECONDS = 1.0
ENDS = frozenset({"completed", "failed", "cancelled"})


async def create(request: Request) -> Response:
    argument = argument_of(request, await read_body(request))
    if key := request.headers.get("idempotency-key"):
        argument[KEY] = key
    if argument.get(KEY) is not None:
        argument[REQUEST] = digest_of({**argument, REQUEST: None})
    user = person_of(request).user
    if isinstance(enhance := argument.get("enhance"), dict):
        argument["enhance"] = {**enhance, "holder": speaker_of(request).editor}
    answer = await started(engine_of(request), request.app.state.catalogue, argument, user)
    if not answer["ok"]:
        return refused(_documented(argument, answer))
    if "runId" not in answer:
        return JSONResponse(answer)  # agreed to, and not started
    return JSONResponse({**answer, **await _begun(request, answer["runId"])}, 201)


async def _begun(request: Request, run_id: str) -> dict[str, object]:
    """A role loop is in its first iteration from the start."""
    state = await engine_of(request).state(run_id)
    if not state["ok"]:
        return {}
    first = await first_iteration(request, run_id)
    return {"loop": loop_row(state["state"]), "iteration": first, "stages": first["stages"] if first else []}


def _documented(argument: JsonObject, answer: Refusal) -> Refusal:
    """A refused start by name, with the codes that are documented for it."""
    if not any(argument.get(key) for key in ("definition", "path", "uri", "target")):
        return {**answer, "code": "missing_field"}
    return _coded(answer) if argument.get("definition") else answer


def _coded(answer: Refusal) -> Refusal:
    return {**answer, "code": DOCUMENTED.get(answer["code"], answer["code"])}


async def delete(request: Request) -> Response:
    if request.path_params["id"] == "all":
        answer = await engine_of(request).delete("all", person_of(request).controls)
        return JSONResponse({**answer, "id": "all"}) if answer["ok"] else refused(answer)
    if (no := await not_theirs(request)) is not None:
        return no
    answer = await engine_of(request).delete(request.path_params["id"])
    return JSONResponse({**answer, "deleted": True, "id": answer["runId"]}) if answer["ok"] else refused(answer)


async def change(request: Request) -> Response:
    if (no := await not_theirs(request)) is not None:
        return no
    answer = await engine_of(request).change(request.path_params["id"], await read_body(request))
    return await shown(request, answer["state"]) if answer["ok"] else refused(_coded(answer))


async def approve(request: Request) -> Response:
    body = await read_body(request)
    loop_id = body.get("loopId")
    run_id, engine = request.path_params["id"], engine_of(request)
    if run_id == "all":
        if person_of(request).role != "admin" and any(not person_of(request).controls(s.user) for s in engine.live):
            return refusal("forbidden", "Some of these runs belong to other users.", "Answer your own by id.")
    elif (no := await not_theirs(request)) is not None:
        return no
    decision = (body.get(name) for name in ("approved", "decision", "feedback"))
    answer = await engine.approve(run_id, None if loop_id is None else str(loop_id), *decision)
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def answer(request: Request) -> Response:
    if (no := await not_theirs(request)) is not None:
        return no
    found = await engine_of(request).answer(request.path_params["id"], await read_body(request))
    return JSONResponse(found) if found["ok"] else refused(found)


async def note(request: Request) -> Response:
    if (no := await not_theirs(request)) is not None:
        return no
    answer = await engine_of(request).note(request.path_params["id"], (await read_body(request)).get("text"))
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def decide_changes(request: Request) -> Response:
    if (no := await not_theirs(request)) is not None:
        return no
    decision = (await read_body(request)).get("decision")
    answer = await engine_of(request).decide_changes(request.path_params["id"], decision)
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def restore(request: Request) -> Response:
    if (no := await not_theirs(request)) is not None:
        return no
    body = await read_body(request)
    answer = await engine_of(request).restore(request.path_params["id"], body.get("iteration"), body.get("loop"))
    return JSONResponse(answer) if answer["ok"] else refused(answer)


def control(verb: Verb) -> Handler:
    async def handler(request: Request) -> Response:
        details = _named(await read_body(request))
        if request.path_params["id"].lower() == "all":
            return await _all(request, verb, details)
        if (no := await not_theirs(request)) is not None:
            return no
        engine = engine_of(request)
        position = int(engine.status["position"])
        answer = await engine.control(verb, request.path_params["id"], **details)
        if not answer["ok"]:
            return refused(answer)
        row = answer["runs"][0]
        if verb == "stop" and row["status"] == "stopping":
            row = {**row, "status": await _stopped(request, row["runId"], position)}
        return JSONResponse({**answer, "runs": [row], "id": row["runId"], "status": row["status"]})

    return handler


async def _all(request: Request, verb: Verb, details: JsonObject) -> Response:
    """Runs that cannot be paused or resumed now are passed over, as the engine does for `all`."""
    engine, person = engine_of(request), person_of(request)
    if person.role == "admin":
        return JSONResponse(await engine.control(verb, "all", **details))
    rows: list[RunStatus] = []
    for state in engine.live:
        if person.controls(state.user) and state.status in POSSIBLE[verb]:
            answer = await engine.control(verb, state.run_id, **details)
            rows += answer["runs"] if answer["ok"] else []
    return JSONResponse({"ok": True, "runs": rows})


async def _stopped(request: Request, run_id: str, position: int) -> str:
    """The status after a moment: a stop takes some milliseconds, and whoever asked wants to know."""
    engine = engine_of(request)
    with suppress(TimeoutError):
        async with asyncio.timeout(STOP_SECONDS), aclosing(engine.subscribe(position, run_id)) as events:
            async for _, event in events:
                if event["kind"] in ENDS:
                    break
    answer = await engine.state(run_id)
    return str(answer["state"]["status"]) if answer["ok"] else "cancelled"


async def not_theirs(request: Request) -> Response | None:
    """Why this person may not touch the run of the path; None: they may."""
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    user = answer["state"].get("user")
    if person_of(request).controls(user):
        return None
    told = f"Run {answer['state']['runId']} belongs to `{user or OWNER}`."
    return refusal("forbidden", told, "Only this user and admins can control it.")


def _named(details: JsonObject) -> JsonObject:
    """What a control verb takes besides the run; the rest of a body is not passed on."""
    return {name: value for name, value in details.items() if name in ("cause",) and isinstance(value, str)}


HANDLERS: dict[str, Handler] = {
    "start": create,
    "change": change,
    "delete": delete,
    **{verb: control(verb) for verb in CONTROL},
    "approve": approve,
    "answer": answer,
    "note": note,
    "decide_changes": decide_changes,
    "restore": restore,
}
