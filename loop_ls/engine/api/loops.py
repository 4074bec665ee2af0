"""Routes of `/api/v1/loops`: every run of any format is a loop here.

Each handler turns a request into one operation of the engine and its answer into the documented
rows. Ids may be shortened; `all` means all runs where the operation allows it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from loop_ls.engine.api.answers import BadRequest, read_object, refusal, refused, whole_number
from loop_ls.engine.api.operations import Operations
from loop_ls.engine.api.views import loop_row
from loop_ls.engine.events import Status
from loop_ls.engine.history import iterations, outer_stages

Answer = dict[str, Any]
Handler = Callable[[Request], Awaitable[Response]]

BASE = "/api/v1/loops"
CONTROL = ("pause", "resume", "stop")
PAGE = 1000
MOST = 1000
STATUSES = ("active", *get_args(Status))


def engine_of(request: Request) -> Operations:
    engine: Operations = request.app.state.engine
    return engine


async def listing(request: Request) -> Response:
    status = request.query_params.get("status") or None
    if status is not None and status not in STATUSES:
        raise BadRequest("validation_error", f"`{status[:40]}` is no status; there are {', '.join(STATUSES)}.")
    limit = whole_number(request, "limit")
    engine = engine_of(request)
    answer = await engine.runs(status=status, uri=request.query_params.get("uri") or None, limit=limit)
    if not answer["ok"]:
        return refused(answer)
    rows = [loop_row(state) for state in answer["runs"]]
    return JSONResponse({"ok": True, "loops": rows, "count": len(rows), "active": await _active(engine)})


async def active_count(request: Request) -> Response:
    return JSONResponse({"ok": True, "active": await _active(engine_of(request))})


async def create(request: Request) -> Response:
    answer = await engine_of(request).start({"origin": "api", **await read_object(request)})
    if not answer["ok"]:
        return refused(answer)
    state = await engine_of(request).state(answer["runId"])
    shown: Answer = {"loop": loop_row(state["state"]), "iteration": None, "stages": []} if state["ok"] else {}
    return JSONResponse({**answer, **shown}, 201)


async def one(request: Request) -> Response:
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    events = await all_events(request, answer["state"]["runId"])
    rows = iterations(answer["state"]["runId"], events)
    latest = rows[-1] if rows else None
    return JSONResponse(
        {
            "ok": True,
            "loop": loop_row(answer["state"]),
            "state": answer["state"],
            "iteration": latest,
            "stages": latest["stages"] if latest else outer_stages(events),
        }
    )


async def state(request: Request) -> Response:
    """Only the state: what is asked often should be cheap."""
    answer = await engine_of(request).state(request.path_params["id"])
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def history(request: Request) -> Response:
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    events = await all_events(request, answer["state"]["runId"])
    rows = iterations(answer["state"]["runId"], events)
    return JSONResponse(
        {
            "ok": True,
            "loop": loop_row(answer["state"]),
            "state": answer["state"],
            "history": rows,
            "stages": outer_stages(events),
            "count": len(rows),
        }
    )


async def iteration_rows(request: Request) -> Response:
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    rows = iterations(answer["state"]["runId"], await all_events(request, answer["state"]["runId"]))
    return JSONResponse({"ok": True, "iterations": rows, "count": len(rows)})


async def one_iteration(request: Request) -> Response:
    """By its id, which is its place in the run (`develop/3`), or by its number in the last loop."""
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    wanted = request.path_params["iteration"]
    rows = iterations(answer["state"]["runId"], await all_events(request, answer["state"]["runId"]))
    fitting = [row for row in rows if wanted in (row["id"], str(row["iteration_number"]))]
    if not fitting:
        return refusal("not_found", f"The run has no iteration `{wanted[:80]}`.")
    return JSONResponse({"ok": True, "iteration": fitting[-1], "stages": fitting[-1]["stages"]})


async def event_page(request: Request) -> Response:
    after = whole_number(request, "after", 0) or 0
    answer = await engine_of(request).events(request.path_params["id"], after, whole_number(request, "limit"))
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def delete(request: Request) -> Response:
    answer = await engine_of(request).delete(request.path_params["id"])
    return JSONResponse({**answer, "deleted": True, "id": answer["runId"]}) if answer["ok"] else refused(answer)


def control(verb: str) -> Handler:
    async def handler(request: Request) -> Response:
        run_id, details = request.path_params["id"], await read_object(request)
        answer = await engine_of(request).control(verb, run_id, **_named(details))
        if not answer["ok"]:
            return refused(answer)
        rows = answer.get("runs") or []
        single = {"id": rows[0]["runId"], "status": rows[0]["status"]} if len(rows) == 1 else {}
        return JSONResponse({**answer, **single})

    return handler


async def approve(request: Request) -> Response:
    body = await read_object(request)
    loop_id = body.get("loopId")
    if loop_id is not None and not isinstance(loop_id, str):
        raise BadRequest("validation_error", "`loopId` is a text.")
    decision = (body.get(name) for name in ("approved", "decision", "feedback"))
    answer = await engine_of(request).approve(request.path_params["id"], loop_id, *decision)
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def all_events(request: Request, run_id: str) -> list[Answer]:
    """Every fact of a run, page by page."""
    found: list[Answer] = []
    after = 0
    while True:
        page = await engine_of(request).events(run_id, after, PAGE)
        if not page["ok"] or not page["events"]:
            return found
        found += page["events"]
        after = page["events"][-1]["seq"]


async def _active(engine: Operations) -> int:
    answer = await engine.runs(status="running", limit=MOST)
    return len(answer.get("runs") or [])


def _named(details: Answer) -> Answer:
    """What a control verb takes besides the run; the rest of a body is not passed on."""
    return {name: value for name, value in details.items() if name in ("cause",) and isinstance(value, str)}


# Ids of iterations hold slashes, so `iterations/...` takes the rest of the path.
ROUTES = [
    Route(BASE, listing, methods=["GET"]),
    Route(BASE, create, methods=["POST"]),
    Route(f"{BASE}/active/count", active_count, methods=["GET"]),
    Route(f"{BASE}/{{id}}", one, methods=["GET"]),
    Route(f"{BASE}/{{id}}", delete, methods=["DELETE"]),
    Route(f"{BASE}/{{id}}/state", state, methods=["GET"]),
    Route(f"{BASE}/{{id}}/history", history, methods=["GET"]),
    Route(f"{BASE}/{{id}}/events", event_page, methods=["GET"]),
    Route(f"{BASE}/{{id}}/iterations", iteration_rows, methods=["GET"]),
    Route(f"{BASE}/{{id}}/iterations/{{iteration:path}}", one_iteration, methods=["GET"]),
    Route(f"{BASE}/{{id}}/approve", approve, methods=["POST"]),
    *(Route(f"{BASE}/{{id}}/{verb}", control(verb), methods=["POST"]) for verb in CONTROL),
]
