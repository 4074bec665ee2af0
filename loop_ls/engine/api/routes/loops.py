"""Reading routes of `/api/v1/loops`: every run of any format is a loop here.

Each handler turns a request into one question to the engine and its answer into the documented rows.
Ids may be shortened.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from loop_ls.contract.answers import Loop
from loop_ls.contract.endings import FILTERS
from loop_ls.contract.ids import place_named
from loop_ls.contract.requests import Scope
from loop_ls.contract.run_state import RunStateView
from loop_ls.contract.run_view.fold import folded
from loop_ls.contract.run_view.rounds import listed
from loop_ls.engine.api.answers import BadRequest, refusal, refused, whole_number
from loop_ls.engine.api.route import Handler
from loop_ls.engine.api.views import loop_row
from loop_ls.engine.projections.history import Row, iterations, rows_of, stages_of
from loop_ls.engine.projections.run_metrics import lasted, measured
from loop_ls.engine.projections.truncation import cut, limited
from loop_ls.formats.registry import ROLE_LOOP
from loop_ls.text.json_value import JsonObject, int_field, text_field

if TYPE_CHECKING:
    from loop_ls.engine.service import Engine


PAGE = 1000
#: Iterations of the outermost loop in a page where nobody says how many, and facts that are read at once.
ITERATIONS, FACTS = 50, 300
SCOPES: tuple[Scope, ...] = get_args(Scope)


def engine_of(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


async def listing(request: Request) -> Response:
    status = request.query_params.get("status") or None
    if status is not None and status not in FILTERS:
        raise BadRequest("validation_error", f"Unknown status `{status[:40]}`; expected {', '.join(FILTERS)}.")
    limit = whole_number(request, "limit")
    engine = engine_of(request)
    answer = await engine.runs(status=status, uri=request.query_params.get("uri") or None, limit=limit)
    if not answer["ok"]:
        return refused(answer)
    rows = [loop_row(state) for state in answer["runs"]]
    return JSONResponse({"ok": True, "loops": rows, "count": len(rows), "active": _active(engine)})


async def inbox(request: Request) -> Response:
    answer = await engine_of(request).inbox(whole_number(request, "after"))
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def active_count(request: Request) -> Response:
    return JSONResponse({"ok": True, "active": _active(engine_of(request))})


async def one(request: Request) -> Response:
    answer = await engine_of(request).state(request.path_params["id"])
    return await shown(request, answer["state"]) if answer["ok"] else refused(answer)


async def shown(request: Request, state: RunStateView) -> Response:
    """A loop with its latest iteration."""
    events = await _latest_events(request, state["runId"])
    view = folded(events, keep=None)
    rows = rows_of(state["runId"], view)
    latest = rows[-1] if rows else None
    stages = latest["stages"] if latest else stages_of(view.outside)
    loop = await with_records(request, state, rows)
    await _add_definition(request, loop, state)
    return JSONResponse({"ok": True, "loop": loop, "state": state, "iteration": latest, "stages": stages})


async def with_records(request: Request, state: RunStateView, rows: list[JsonObject]) -> Loop:
    """The loop of a run; a role loop with its project, and its iterations (`rows`) with their sprints."""
    loop = loop_row(state)
    if state["format"] == ROLE_LOOP:
        names = [text_field(row, "sprint_id") for row in rows]
        found = await engine_of(request).beside(state.get("projectId"), [name for name in names if name])
        loop["project"] = found.get("project")
        sprints = found.get("sprints")
        if isinstance(sprints, Mapping):
            for row in rows:
                row["sprint"] = sprints.get(str(row.get("sprint_id")))
    return loop


async def _add_definition(request: Request, loop: Loop, state: RunStateView) -> None:
    """The definition of a role loop, which is read from its record."""
    if state["format"] == ROLE_LOOP:
        loop["configuration"] = await engine_of(request).configuration(state["runId"])


async def state(request: Request) -> Response:
    """Only the state: what is asked often should be cheap."""
    answer = await engine_of(request).state(request.path_params["id"])
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def history(request: Request) -> Response:
    """In pages, or what lies at `place`; of a part of the facts, where the reader knows that it is enough."""
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    run_id = answer["state"]["runId"]
    after, until = whole_number(request, "after", 0) or 0, whole_number(request, "until")
    place, further = request.query_params.get("place"), None
    if place:
        rows, stages = await _at_place(request, run_id, place_named(run_id, place), after, until)
    else:
        events, further = await _iteration_page(request, run_id, after, until)
        view = folded(events, keep=None)
        rows, stages = rows_of(run_id, view), stages_of(view.outside)
    loop = await with_records(request, answer["state"], rows)
    if not place:
        await _add_definition(request, loop, answer["state"])
    found = {
        "ok": True,
        "loop": loop,
        "state": answer["state"],
        "history": [_measured_row(row) for row in rows],
        "stages": stages,
        "count": len(rows),
        "next": further,
    }
    return JSONResponse(cut(found, whole_number(request, "cut")))


async def _at_place(
    request: Request, run_id: str, place: str, after: int, until: int | None
) -> tuple[list[Row], list[Row]]:
    """The iteration at a place, of the facts in these bounds, or the step."""
    facts = await engine_of(request).iteration_events(run_id, place)
    events = [one for one in (facts["events"] if facts["ok"] else ()) if _between(one, after, until)]
    rows = [row for row in iterations(run_id, events) if row["place"] == place] if events else []
    return rows, [] if rows else await _stage_at(request, run_id, place, after)


def _between(event: JsonObject, after: int, until: int | None) -> bool:
    seq = int_field(event, "seq") or 0
    return event["kind"] == "run_started" or (after < seq and (until is None or seq <= until))


async def _stage_at(request: Request, run_id: str, place: str, after: int) -> list[Row]:
    """A step, as the kept view has it, with all of its output."""
    engine = engine_of(request)
    stage = (await engine.views.of(run_id)).stage(place)
    if stage is None or (stage.ended_seq is not None and stage.ended_seq <= after):
        return []
    [row] = stages_of([stage])
    if stage.ended_seq is None:
        return [row]
    page = await engine.events(run_id, stage.ended_seq - 1, 1)
    outputs = [{"output": event["output"]} for event in (page["events"] if page["ok"] else ()) if "output" in event]
    return [{**row, **outputs[0]} if outputs else row]


async def iteration_rows(request: Request) -> Response:
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    run_id = answer["state"]["runId"]
    events, further = await _iteration_page(request, run_id, whole_number(request, "after", 0) or 0)
    rows = iterations(run_id, events)
    await with_records(request, answer["state"], rows)
    return JSONResponse({"ok": True, "iterations": rows, "count": len(rows), "next": further})


async def _iteration_page(
    request: Request, run_id: str, after: int, until: int | None = None
) -> tuple[list[JsonObject], int | None]:
    """The facts of so many iterations of the outermost loop above `after`, as far as `until`, led by the first fact
    of the run, and what to ask `after` for the rest; None at the end."""
    limit, engine = limited(whole_number(request, "limit"), ITERATIONS), engine_of(request)
    found: list[JsonObject] = []
    begun, depth, at, further = 0, None, after, None
    more = until is None or after < until
    while more and further is None:
        page = await engine.events(run_id, at, FACTS if until is None else min(FACTS, until - at))
        for event in page["events"] if page["ok"] else ():
            seq = int_field(event, "seq") or at
            if event["kind"] == "iteration_started":
                deep = int_field(event, "depth") or 0
                depth = deep if depth is None else depth
                begun += deep <= depth
                if begun > limit:
                    further = seq - 1
                    break
            found.append(event)
            at = seq
        more = bool(page["ok"] and page["events"]) and (until is None or at < until)
    if not after or not begun:
        return found, further
    head = await engine.events(run_id, 0, 1)
    return [*(head["events"] if head["ok"] else ()), *found], further


async def one_iteration(request: Request) -> Response:
    """By its id, by its place in the run (`develop/3`), or by its number in the last loop."""
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    run_id = answer["state"]["runId"]
    wanted = place_named(run_id, request.path_params["iteration"])
    facts = await engine_of(request).iteration_events(run_id, wanted)
    events = facts["events"] if facts["ok"] else []
    rows = iterations(run_id, events) if events else await _unbegun(request, run_id)
    fitting = [row for row in rows if wanted in (row["place"], str(row["iteration_number"]))]
    if not fitting:
        return refusal("not_found", f"Unknown iteration `{wanted[:80]}`.")
    await with_records(request, answer["state"], fitting)
    return JSONResponse({"ok": True, "iteration": fitting[-1], "stages": fitting[-1]["stages"]})


async def first_iteration(request: Request, run_id: str) -> Row | None:
    """That of a run that has just begun, or was begun by an earlier request with the same key."""
    page = await engine_of(request).events(run_id, 0, FACTS)
    rows = iterations(run_id, page["events"] if page["ok"] else ())
    if not rows:
        return None
    facts = await engine_of(request).iteration_events(run_id, str(rows[0]["place"]))
    whole = iterations(run_id, facts["events"]) if facts["ok"] and facts["events"] else rows
    return whole[0]


async def _latest_events(request: Request, run_id: str) -> list[JsonObject]:
    facts = await engine_of(request).iteration_events(run_id)
    return facts["events"] if facts["ok"] else []


async def _unbegun(request: Request, run_id: str) -> list[JsonObject]:
    """A role loop is in its first iteration from the start, before a fact says so."""
    rows = iterations(run_id, await _latest_events(request, run_id))
    return rows if len(rows) == 1 and rows[0]["iteration_number"] == 1 else []


async def event_page(request: Request) -> Response:
    after = whole_number(request, "after", 0) or 0
    answer = await engine_of(request).events(request.path_params["id"], after, whole_number(request, "limit"))
    return JSONResponse(cut(answer, whole_number(request, "cut"))) if answer["ok"] else refused(answer)


async def view(request: Request) -> Response:
    """What is shown of a run, or what of it is new after a fact."""
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    found = await engine_of(request).views.of(answer["state"]["runId"])
    limit = limited(whole_number(request, "limit"), PAGE)
    return JSONResponse({**answer, **found.patch(whole_number(request, "after", 0) or 0, limit)})


async def metrics(request: Request) -> Response:
    answer = await engine_of(request).state(request.path_params["id"])
    if not answer["ok"]:
        return refused(answer)
    view = await engine_of(request).views.of(answer["state"]["runId"])
    return JSONResponse({"ok": True, **measured(answer["state"], view, datetime.now(UTC))})


async def changes(request: Request) -> Response:
    """What was changed in a worktree of its own."""
    answer = await engine_of(request).changes(request.path_params["id"])
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def prompts(request: Request) -> Response:
    """What was asked, made anew from the facts."""
    answer = await engine_of(request).prompts(request.path_params["id"], request.query_params.get("place") or "")
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def artifacts(request: Request) -> Response:
    """What its stages wrote down, or those of all loops of its project."""
    given = request.query_params.get("scope") or "run"
    scope = next((each for each in SCOPES if each == given), None)
    if scope is None:
        raise BadRequest("bad_argument", f"`scope` must be `run` or `project`, not `{given[:40]}`.")
    answer = await engine_of(request).artifacts(request.path_params["id"], scope)
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def artifact(request: Request) -> Response:
    """One text that a stage kept."""
    answer = await engine_of(request).artifact(request.path_params["id"], request.path_params["artifact"])
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def graph(request: Request) -> Response:
    """What the run consists of, and what waits for what."""
    answer = await engine_of(request).graph(request.path_params["id"], request.query_params.get("place") or "")
    return JSONResponse(answer) if answer["ok"] else refused(answer)


async def definitions(request: Request) -> Response:
    """What this engine's workspace has that can be started by name."""
    found = await request.app.state.catalogue()
    return JSONResponse({"ok": True, "definitions": found, "count": len(found)})


def _measured_row(row: Row) -> Row:
    stages = listed(row["stages"])
    done = sum(stage["status"] == "completed" for stage in stages)
    more = {"stage_count": len(stages), "completed_stage_count": done}
    return {**row, **more, "duration_seconds": lasted(row, datetime.now(UTC))}


def _active(engine: Engine) -> int:
    """So many are in the list of those with the status `running`."""
    return sum(state.loop_status == "running" for state in engine.live)


HANDLERS: dict[str, Handler] = {
    "runs": listing,
    "inbox": inbox,
    "active_count": active_count,
    "definitions": definitions,
    "show": one,
    "status": state,
    "history": history,
    "changes": changes,
    "metrics": metrics,
    "prompts": prompts,
    "artifacts": artifacts,
    "artifact": artifact,
    "events": event_page,
    "graph": graph,
    "view": view,
    "iterations": iteration_rows,
    "iteration": one_iteration,
}
