"""The OpenAPI document of the first group of routes, made from the table that the application is made from."""

from __future__ import annotations

import re

from loop_ls import __version__
from loop_ls.contract.ids import SHORTEST
from loop_ls.contract.operations import Operation
from loop_ls.engine.api.route import Route
from loop_ls.engine.api.schemas import components, parameters, ref
from loop_ls.text.json_value import JsonObject

Json = JsonObject

_PARAMETER = re.compile(r"\{(\w+)\}")

_REASONS = {
    400: "Invalid request; the message says what is expected.",
    401: "Missing or unknown token.",
    403: "The role of the token is not sufficient, the run belongs to another user, or Host or Origin is not allowed.",
    404: "Unknown run, iteration or route.",
    405: "The path does not support this method.",
    409: "It conflicts with the state of the run, or the user must give permission first.",
    413: "The body is larger than 1 MiB.",
    429: "A limit was reached.",
    500: "Internal error of the engine.",
    503: "The engine or a provider is not ready.",
}
_PATH_TEXT = {
    "id": f"The id of a run, or a unique prefix of it, from {SHORTEST} characters.",
    "artifact": f"The id of an artifact, a unique prefix of it from {SHORTEST} characters, or its title.",
    "iteration": "The place of an iteration in the run (`develop/3`), or its number.",
}


def document(routes: tuple[Route, ...], url: str = "/") -> JsonObject:
    paths: dict[str, JsonObject] = {}
    for route in routes:
        paths.setdefault(route.shown_path, {})[route.operation.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "loop-ls engine",
            "version": __version__,
            "description": "Runs of loops: start them, watch them, control them. Every run of any format is a loop.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": url}],
        "paths": paths,
        "components": {
            "schemas": components(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> JsonObject:
    operation = route.operation
    found: Json = {
        "operationId": operation.operation_id,
        "summary": operation.text,
        "tags": list(operation.tags),
        "parameters": [*_path_parameters(route), *_other_parameters(operation)],
        "responses": _responses(operation),
        "security": [] if operation.role is None else [{"token": []}],
    }
    if operation.role is not None:
        found["x-role"] = operation.role
    if operation.request is not None:
        content = {"application/json": {"schema": ref(operation.request)}}
        found["requestBody"] = {"required": operation.body_required, "content": content}
    return found


def _path_parameters(route: Route) -> list[JsonObject]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PATH_TEXT.get(name, ""),
            "schema": {"type": "string", "minLength": 1},
        }
        for name in _PARAMETER.findall(route.shown_path)
    ]


def _other_parameters(operation: Operation) -> list[JsonObject]:
    return [
        {"name": name, "in": where, "required": False, "description": text, "schema": schema}
        for where, given in (("query", operation.query), ("header", operation.headers))
        if given is not None
        for name, text, schema in parameters(given)
    ]


def _responses(operation: Operation) -> JsonObject:
    refused = {403, 500, *operation.refusals}
    if operation.role is not None:
        refused.add(401)
    if "{" in operation.path:
        refused |= {400, 404}
    if operation.query:
        refused.add(400)
    if operation.method in ("POST", "PATCH"):
        refused |= {400, 413}
    answered: JsonObject = {
        str(status): {
            "description": operation.text,
            "content": {operation.content: {"schema": {"type": "string"} if answer == "str" else ref(answer)}},
        }
        for status, answer in ((operation.status, operation.answer), *operation.otherwise)
    }
    failed = {"application/json": {"schema": ref("Error")}}
    return {
        **answered,
        **{str(status): {"description": _REASONS[status], "content": failed} for status in sorted(refused)},
    }
