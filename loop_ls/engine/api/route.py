"""One route of the documented interface: what it is called, who may call it, what goes in and out.

The application and the OpenAPI document are both made of a list of these, so neither can know a route
that the other does not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Mounted
from starlette.types import ASGIApp

from loop_ls.engine.api.answers import refusal
from loop_ls.engine.core.users import Person, Role

Schema = dict[str, Any]
Handler = Callable[[Request], Awaitable[Response | ASGIApp]]


@dataclass(frozen=True, slots=True)
class Query:
    name: str
    text: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Route:
    """`role` None: no token is needed. `owner_too`: the owner may, whatever the role. `refusals` are the
    statuses besides those that every route has; `path` names parameters as the server does (`{id}`)."""

    method: str
    path: str
    name: str
    text: str
    handler: Handler
    answer: Schema | str
    role: Role | None = "viewer"
    status: int = 200
    refusals: tuple[int, ...] = ()
    query: tuple[Query, ...] = ()
    headers: tuple[Query, ...] = ()
    body: Schema | None = None
    body_required: bool = False
    content: str = "application/json"
    owner_too: bool = False
    tags: tuple[str, ...] = field(default=("loops",))

    @property
    def shown_path(self) -> str:
        """As the document names it: what matches slashes too is a parameter like any other."""
        return self.path.replace(":path}", "}")


def person_of(request: Request) -> Person:
    person: Person = request.scope["person"]
    return person


def mounted(routes: tuple[Route, ...]) -> list[Mounted]:
    return [Mounted(each.path, _for_role(each), methods=[each.method]) for each in routes]


def _for_role(route: Route) -> Handler:
    role = route.role
    if role is None:
        return route.handler

    async def handler(request: Request) -> Response | ASGIApp:
        person = person_of(request)
        if person.has(role) or (route.owner_too and person.is_owner):
            return await route.handler(request)
        told = f"This needs the role `{role}`; the token has the role `{person.role}`."
        return refusal("forbidden", told, f"`loop-ls engine token create --user NAME --role {role}` makes one.")

    return handler
