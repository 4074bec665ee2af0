"""One route of the documented interface: an operation of the contract and the function that answers it.

The application and the OpenAPI document are both made of a list of these, so neither can know a route
that the other does not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Mounted
from starlette.types import ASGIApp

from loop_ls.contract.operations import Operation
from loop_ls.contract.validation import problem_of
from loop_ls.engine.api.answers import BODY_LIMIT, BadRequest, Body, read_object, refusal
from loop_ls.engine.core.users import Person
from loop_ls.engine.enhance.speaker import HEADER, Speaker
from loop_ls.engine.runs.answerer import set_said_by
from loop_ls.text.json_value import JsonObject, as_object
from loop_ls.text.record import equal_record

#: What a start may say only on other surfaces.
NOT_FOR_PAGES = ("root", "path", "uri", "texts", "settings", "consent", "agreeOnly")

Handler = Callable[[Request], Awaitable[Response | ASGIApp]]


@equal_record
class Route:
    operation: Operation
    handler: Handler

    @property
    def shown_path(self) -> str:
        """As the document names it: what matches slashes too is a parameter like any other."""
        return self.operation.path.replace(":path}", "}")


def person_of(request: Request) -> Person:
    person: Person = request.scope["person"]
    return person


def speaker_of(request: Request) -> Speaker:
    return Speaker.of(person_of(request).user, request.headers.get(HEADER, ""))


async def read_body(request: Request) -> Body:
    """The body as the operation of this route takes it; an absent body is an empty object. Raises `BadRequest`."""
    operation: Operation = request.scope["operation"]
    body = await read_object(request, operation.body_limit or BODY_LIMIT)
    if operation.request and (problem := problem_of(operation.request, body)):
        raise BadRequest("missing_field" if problem.missing else "validation_error", problem.message)
    return body


def argument_of(request: Request, body: Body) -> JsonObject:
    """The body as an argument of the engine. A page starts what the workspace has, by its name and as it is, and takes
    up what is recorded: it is no surface where its person agrees, chooses a folder or writes texts. Raises
    `BadRequest`."""
    if not person_of(request).page:
        return {"origin": "api", **body}
    given = [name for name in NOT_FOR_PAGES if body.get(name)]
    given += ["enhance.headless"] if as_object(body.get("enhance")).get("headless") else []
    if given:
        raise BadRequest("forbidden", f"A page cannot set `{given[0]}`; use a terminal or an editor.")
    return {**body, "origin": "api"}


def mounted(routes: tuple[Route, ...]) -> list[Mounted]:
    return [Mounted(each.operation.path, _for_role(each), methods=[each.operation.method]) for each in routes]


def _for_role(route: Route) -> Handler:
    operation, role = route.operation, route.operation.role

    async def handler(request: Request) -> Response | ASGIApp:
        request.scope["operation"] = operation
        if role is None:
            return await route.handler(request)
        person = person_of(request)
        if person.has(role) or (operation.owner_too and person.is_owner and person.has("editor")):
            set_said_by(person.user, request.headers.get(HEADER, ""))
            return await route.handler(request)
        told = f"This needs the role `{role}`; the token has the role `{person.role}`."
        return refusal("forbidden", told, f"Create one with `loop-ls engine token create --user NAME --role {role}`.")

    return handler
