"""The routes of the documented interface: the one list of which the application and `/openapi.json` are made.

Static paths come before those with an id. Ids of iterations hold slashes, so `iterations/...` takes the
rest of the path.
"""

from __future__ import annotations

from loop_ls.engine.api.route import Query, Route
from loop_ls.engine.api.routes import control_routes, engine_routes, loops
from loop_ls.engine.api.routes.enhance_routes import ENHANCING
from loop_ls.engine.api.routes.fork_replay_routes import AGAIN
from loop_ls.engine.api.schemas import (
    ANYTHING,
    CONTROLLED,
    COUNT,
    FLAG,
    MAPPING,
    NUMBER,
    PATCH,
    SHOWN_LOOP,
    START,
    STARTED,
    STATUSES,
    TEXT,
    answer,
    many,
    maybe,
    ref,
    shape,
)

API = "/api/v1"
LOOPS = f"{API}/loops"
LOOP = f"{LOOPS}/{{id}}"

_LIMIT = Query("limit", "How many at most.", COUNT)
_ITERATIONS = Query(
    "limit",
    "So many iterations of the outermost loop at most (default: 50); `next` is `after` of the rest.",
    COUNT,
)
_AFTER = Query("after", "Only facts with a `seq` above this.", COUNT)
_CUT = Query("cut", "Texts are cut to so many characters; `cut` of an object says how long they were.", COUNT)
_SOME = shape(total=COUNT, by_status={"type": "object", "additionalProperties": COUNT})

READING = (
    Route(
        "GET",
        LOOPS,
        "listLoops",
        "The newest loops, and how many run.",
        loops.listing,
        answer(loops=many(ref("Loop")), count=COUNT, active=COUNT),
        query=(
            Query(
                "status",
                "Only loops with this status; `active` is every one that has not ended.",
                {"enum": list(STATUSES)},
            ),
            Query("uri", "Only runs of this file.", TEXT),
            _LIMIT,
        ),
        refusals=(503,),
    ),
    Route(
        "GET",
        f"{LOOPS}/active/count",
        "countActiveLoops",
        "How many loops run.",
        loops.active_count,
        answer(active=COUNT),
    ),
    Route(
        "GET",
        f"{LOOPS}/definitions",
        "listDefinitions",
        "What can be started by name.",
        loops.definitions,
        answer(definitions=many(ref("Definition")), count=COUNT),
        refusals=(503,),
    ),
    Route("GET", LOOP, "getLoop", "A loop with its latest iteration.", loops.one, SHOWN_LOOP),
    Route("GET", f"{LOOP}/state", "getState", "Only the state of a run.", loops.state, answer(state=ref("RunState"))),
    Route(
        "GET",
        f"{LOOP}/history",
        "getHistory",
        "Iterations with output, verdict, question and answer, in pages.",
        loops.history,
        answer(
            loop=ref("Loop"), history=many(ref("Iteration")), stages=many(ref("Stage")), count=COUNT, next=maybe(COUNT)
        ),
        query=(
            Query("place", "Only what happened at this place, such as `develop/3`.", TEXT),
            _AFTER,
            _ITERATIONS,
            Query("until", "No fact with a `seq` above this: for a reader that wants a known part.", COUNT),
            _CUT,
        ),
    ),
    Route(
        "GET",
        f"{LOOP}/metrics",
        "getMetrics",
        "Counts, durations and cost of a loop.",
        loops.metrics,
        answer(
            loop_id=TEXT,
            status=TEXT,
            current_iteration=COUNT,
            duration_seconds=NUMBER,
            iterations=_SOME,
            stages=shape(total=COUNT, by_status=MAPPING, by_role=MAPPING),
            timings=shape(
                total_iteration_seconds=NUMBER, average_iteration_seconds=NUMBER, iteration_timings=many(MAPPING)
            ),
            calls=COUNT,
            tokens=MAPPING,
            usd=maybe(NUMBER),
        ),
    ),
    Route(
        "GET",
        f"{LOOP}/prompts",
        "listPrompts",
        "What models and agents were asked, made anew from the record.",
        loops.prompts,
        answer(prompts=many(shape(place=TEXT, purpose=TEXT, prompt=TEXT)), count=COUNT),
        query=(Query("place", "Only at this place or inside it, such as `develop/3`.", TEXT),),
        refusals=(503,),
    ),
    Route(
        "GET",
        f"{LOOP}/events",
        "listEvents",
        "The facts of a run, in pages.",
        loops.event_page,
        answer(events=many(ref("Event")), next=maybe(COUNT)),
        query=(_AFTER, _LIMIT, _CUT),
        refusals=(503,),
    ),
    Route(
        "GET",
        f"{LOOP}/graph",
        "getGraph",
        "The steps and loops of a run and what waits for what, as they were when it started.",
        loops.graph,
        answer(nodes=many(shape(name=TEXT, kind=TEXT, mode=TEXT, needs=many(TEXT)))),
        query=(Query("place", "Of the round of an enhance loop that lies here, such as `report/2`.", TEXT),),
        refusals=(503,),
    ),
    Route(
        "GET",
        f"{LOOP}/iterations",
        "listIterations",
        "The iterations of a loop, in pages.",
        loops.iteration_rows,
        answer(iterations=many(ref("Iteration")), count=COUNT, next=maybe(COUNT)),
        query=(_AFTER, _ITERATIONS),
    ),
    Route(
        "GET",
        f"{LOOP}/iterations/{{iteration:path}}",
        "getIteration",
        "One iteration.",
        loops.one_iteration,
        answer(iteration=ref("Iteration"), stages=many(ref("Stage"))),
    ),
)

ACTING = (
    Route(
        "POST",
        LOOPS,
        "startLoop",
        "Start a loop by the name of its definition, or a run of a file.",
        control_routes.create,
        STARTED,
        role="editor",
        status=201,
        body=START,
        body_required=True,
        headers=(
            Query(
                "Idempotency-Key",
                "A start that is sent again with it within a day is the same run; another request with it is refused"
                " (`idempotency_conflict`). Each user has their own keys.",
                {"type": "string", "minLength": 1, "maxLength": 255},
            ),
        ),
        refusals=(404, 409, 429, 503),
    ),
    Route(
        "PATCH",
        LOOP,
        "changeLoop",
        "Change goal, limit, metadata or labels of a loop.",
        control_routes.change,
        SHOWN_LOOP,
        role="editor",
        body=PATCH,
        body_required=True,
        refusals=(409, 503),
    ),
    Route(
        "DELETE",
        LOOP,
        "deleteLoop",
        "Remove a loop that has ended from the record, or `all` of yours that have.",
        control_routes.delete,
        answer(deleted={"anyOf": [{"const": True}, many(TEXT)]}, id=TEXT),
        role="editor",
        refusals=(409, 503),
    ),
    *(
        Route(
            "POST",
            f"{LOOP}/{verb}",
            f"{verb}Loop",
            f"{verb.capitalize()} a loop, or `all` that are yours.",
            control_routes.control(verb),
            CONTROLLED,
            role="editor",
            refusals=(409, 503),
        )
        for verb in control_routes.CONTROL
    ),
    Route(
        "POST",
        f"{LOOP}/approve",
        "approveLoop",
        "Answer what a loop asks a person; the first answer counts.",
        control_routes.approve,
        answer(resolved=ANYTHING),
        role="editor",
        body=shape(
            loopId_=maybe(TEXT),
            approved_=maybe(FLAG),
            decision_=maybe({"enum": ["approve", "reject", "revise"]}),
            feedback_=maybe(TEXT),
        ),
        refusals=(409, 503),
    ),
)

ENGINE = (
    Route(
        "GET",
        f"{API}/events",
        "streamEvents",
        "Server-sent events of all runs or one; `id:` is the position, so that `Last-Event-ID` works.",
        engine_routes.events,
        "the stream",
        query=(
            Query("after", "First the facts above this position; without it, from now on.", COUNT),
            Query("run", "Only this run.", TEXT),
        ),
        content="text/event-stream",
        refusals=(404, 503),
        tags=("engine",),
    ),
    Route(
        "GET",
        f"{API}/engine",
        "getEngine",
        "What the engine says about itself.",
        engine_routes.engine_status,
        answer(engine=MAPPING),
        tags=("engine",),
    ),
    Route(
        "POST",
        f"{API}/engine/stop",
        "stopEngine",
        "The engine leaves as soon as calls in flight have ended; unfinished runs go on when it is started again.",
        engine_routes.engine_stop,
        answer(status=TEXT, inFlight=COUNT),
        body=shape(now_=FLAG),
        role="admin",
        owner_too=True,
        tags=("engine",),
    ),
    Route(
        "GET",
        "/metrics",
        "getNumbers",
        "Runs, calls, tokens, dollars and durations as Prometheus text.",
        engine_routes.prometheus,
        "the numbers",
        content="text/plain",
        tags=("engine",),
    ),
    Route(
        "GET",
        "/health",
        "getHealth",
        "Whether the engine is ready.",
        engine_routes.health,
        shape(status=TEXT, workspace_id=TEXT, version=TEXT, protocol=COUNT, managers=MAPPING, journal=TEXT),
        role=None,
        tags=("engine",),
    ),
    Route(
        "GET",
        "/openapi.json",
        "getOpenApi",
        "This document.",
        engine_routes.openapi,
        MAPPING,
        role=None,
        tags=("engine",),
    ),
)

ROUTES: tuple[Route, ...] = (*READING, *ENHANCING, *AGAIN, *ACTING, *ENGINE)
