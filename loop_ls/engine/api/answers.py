"""Answers of the engine as HTTP, and the bodies of requests: one place for codes and envelopes."""

from __future__ import annotations

import asyncio
import json
from typing import cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from loop_ls.contract.answers import Refusal
from loop_ls.text.json_value import Json, JsonObject

#: The object that a client sent; `route.read_body` says whether it is of the right type.
Body = JsonObject

BODY_LIMIT = 1024 * 1024
BODY_SECONDS = 20.0

STATUS = {
    "bad_argument": 400,
    "validation_error": 400,
    "missing_field": 400,
    "invalid_format": 400,
    "file_has_errors": 400,
    "input_required": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_trusted": 403,
    "not_found": 404,
    "not_allowed": 405,
    "already_running": 409,
    "conflict": 409,
    "idempotency_conflict": 409,
    "consent_required": 409,
    "wrong_status": 409,
    "too_large": 413,
    "limit_reached": 429,
    "internal_error": 500,
    "engine_not_ready": 503,
    "provider_unavailable": 503,
}

#: Codes of the engine as the document of role loops has them.
DOCUMENTED = {"bad_argument": "validation_error", "input_required": "missing_field"}

_ENVELOPE = frozenset({"ok", "code", "message", "hint"})


class BadRequest(Exception):
    """A request that no operation can be made of."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def refusal(code: str, message: str, hint: str = "", details: JsonObject | None = None) -> Response:
    """`{"error", "code", "hint"?, "details"?}` with the status of the code."""
    body: JsonObject = {"error": message, "code": code}
    if hint:
        body["hint"] = hint
    if details:
        body["details"] = details
    status = STATUS.get(code, 400)
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(body, status, headers)


def refused(answer: Refusal) -> Response:
    """An answer of the engine that is no success."""
    details = {name: cast("Json", value) for name, value in answer.items() if name not in _ENVELOPE}
    return refusal(answer["code"], answer["message"], answer["hint"], details)


async def read_object(request: Request, limit: int = BODY_LIMIT) -> JsonObject:
    """The body as a JSON object; an absent body is an empty one. Raises `BadRequest`."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise BadRequest("too_large", f"The body is larger than {limit} bytes.")
    except TimeoutError:
        raise BadRequest("invalid_format", f"The body did not arrive within {BODY_SECONDS:g} s.") from None
    except ClientDisconnect:
        raise BadRequest("invalid_format", "The body is incomplete.") from None
    if not body.strip():
        return {}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("invalid_format", "The body is not valid JSON.") from None
    if not isinstance(value, dict):
        raise BadRequest("validation_error", "The body must be a JSON object.")
    return value


def whole_number(request: Request, name: str, otherwise: int | None = None) -> int | None:
    """A query parameter that is a number from 0. Raises `BadRequest`."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return otherwise
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise BadRequest("validation_error", f"`{name}` must be an integer from 0, not `{text[:40]}`.")
    return int(text)
