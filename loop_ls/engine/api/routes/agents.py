"""Routes of `/api/agents/{id}/loop/...`: start, stop, pause, resume, approve, status.

An interface of its own document, with its own envelope: `{success: true, data}` or `{success: false, error}`
with one sentence. Codes of ours stand beside it where a program needs them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from loop_ls.contract.answers import Approved, Refusal
from loop_ls.engine.api.answers import STATUS, BadRequest, read_object
from loop_ls.engine.api.route import person_of
from loop_ls.engine.assistants.api_service import AssistantService
from loop_ls.engine.core.users import Person
from loop_ls.engine.enhance.speaker import HEADER
from loop_ls.engine.events import RunState
from loop_ls.engine.runs.answerer import set_said_by
from loop_ls.text.json_value import JsonObject

Handler = Callable[[Request, AssistantService, str], Awaitable[Response]]

BASE = "/api/agents"
NOT_PERMITTED = "Your role does not permit running or modifying workflows"
#: What a refusal says of the consent that is missing.
ASKED = ("capabilities", "programs", "tools", "endpoints", "digest", "hint")
NO_LOOP = "No active loop for this agent"
_JSON = ("application/json", "")


def success(data: Mapping[str, object], status: int = 200) -> Response:
    return JSONResponse({"success": True, "data": data}, status)


def failure(status: int, error: str, **more: object) -> Response:
    return JSONResponse({"success": False, "error": error, **more}, status)


async def start(request: Request, assistants: AssistantService, agent: str) -> Response:
    body = await _body(request)
    message = body.get("message")
    if not isinstance(message, str) or not message:
        return failure(400, "`message` must be a non-empty string.")
    found = await assistants.find(agent)
    if found is None:
        return failure(404, f"Unknown agent `{agent}`.")
    if not found.enabled:
        return failure(400, f"Agent `{found.name}` cannot run as a loop: `loopEnabled` is not true.")
    if not message.strip():
        return failure(400, "`message` is empty.")
    answer = await assistants.start(found, message, person_of(request).user, "api", body.get("mock") is True)
    if answer["ok"]:
        return success({"agentId": agent, "status": "started", "runId": answer["runId"]}, 202)
    return _refused(answer)


async def stop(request: Request, assistants: AssistantService, agent: str) -> Response:
    return await _controlled(assistants, agent, "stop", "stopped")


async def pause(request: Request, assistants: AssistantService, agent: str) -> Response:
    return await _controlled(assistants, agent, "pause", "paused")


async def resume(request: Request, assistants: AssistantService, agent: str) -> Response:
    return await _controlled(assistants, agent, "resume", "running")


async def _controlled(assistants: AssistantService, agent: str, verb: str, status: str) -> Response:
    run = assistants.active(agent)
    if run is None:
        return failure(400, NO_LOOP)
    answer = await assistants.control(verb, run)
    return success({"agentId": agent, "status": status}) if answer["ok"] else failure(400, answer["message"])


async def status(request: Request, assistants: AssistantService, agent: str) -> Response:
    return success(await assistants.status(agent))


async def approve(request: Request, assistants: AssistantService, agent: str) -> Response:
    body = await _body(request)
    problems = list(_problems(body))
    if problems:
        return failure(400, "; ".join(problems))
    run = assistants.active(agent)
    if run is None:
        return failure(400, NO_LOOP)
    answer = await _decided(assistants, person_of(request), run, body)
    if not answer["ok"]:
        status = 403 if answer["code"] == "forbidden" else 400
        return failure(status, answer["message"], code=answer["code"])
    told = {"told": answer["told"]} if "told" in answer else {}
    return success({"resolved": bool(answer["resolved"]), **told})


async def _decided(assistants: AssistantService, person: Person, run: RunState, body: JsonObject) -> Approved | Refusal:
    return await assistants.approve(
        person, run, str(body["loopId"]), body["approved"] is True, body.get("decision"), body.get("feedback")
    )


def _problems(body: JsonObject) -> list[str]:
    found = []
    if not isinstance(body.get("loopId"), str) or not body["loopId"]:
        found.append("`loopId` must be a non-empty string")
    if not isinstance(body.get("approved"), bool):
        found.append("`approved` must be true or false")
    return found


async def _body(request: Request) -> JsonObject:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _JSON and not kind.endswith("+json"):
        raise BadRequest("unsupported_media_type", "The body must be JSON: send `Content-Type: application/json`.")
    return await read_object(request)


def _refused(answer: Refusal) -> Response:
    """The document knows one status for everything that is no consent: 400."""
    code = answer["code"]
    status = 409 if code == "consent_required" else 503 if code == "provider_unavailable" else 400
    more = {name: value for name, value in answer.items() if name in (*ASKED, "names")}
    return failure(status, answer["message"], code=code, **more)


def _route(verb: str, handler: Handler, method: str, may: Callable[[Person], bool]) -> Route:
    async def answered(request: Request) -> Response:
        if not may(person_of(request)):
            return failure(403, NOT_PERMITTED)
        set_said_by(person_of(request).user, request.headers.get(HEADER, ""))
        try:
            return await handler(request, request.app.state.assistants, request.path_params["id"])
        except BadRequest as bad:
            return failure(415 if bad.code == "unsupported_media_type" else STATUS.get(bad.code, 400), bad.message)

    return Route(f"{BASE}/{{id}}/loop/{verb}", answered, methods=[method])


def _may_run(person: Person) -> bool:
    return person.has("editor")


def _may_read(person: Person) -> bool:
    return person.has("viewer")


ROUTES = [
    _route("start", start, "POST", _may_run),
    _route("stop", stop, "POST", _may_run),
    _route("pause", pause, "POST", _may_run),
    _route("resume", resume, "POST", _may_run),
    _route("approve", approve, "POST", _may_run),
    _route("status", status, "GET", _may_read),
]
