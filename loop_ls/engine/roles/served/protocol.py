"""MCP as far as a server of tools needs it: one message in, the answer to it out.

Written here and not taken from the SDK, which is no part of every installation: a role has its tools everywhere.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Protocol

from loop_ls import __version__
from loop_ls.engine.core.messages import ToolSpec
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.model_calls.tool_loop import Outcome
from loop_ls.text.json_value import Json, JsonObject, as_object

logger = logging.getLogger(__name__)

#: Versions of the protocol that we speak, newest last.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NAME = "loop-ls-stage"

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, BAD_PARAMETERS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603


class Answering(Protocol):
    """The tools of a turn."""

    async def offered(self) -> tuple[ToolSpec, ...]: ...

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Outcome: ...


async def answer(line: bytes, tools: Answering) -> JsonObject | None:
    """What goes back for a line; None for what wants no answer."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "the message is not JSON")
    method = message.get("method") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(method, str | None):
        return _error(None, INVALID_REQUEST, "the message is not a request")
    if "id" not in message or method is None:  # a notification, or an answer to what we never ask
        return None
    try:
        return await _answered(message["id"], method, as_object(message.get("params")), tools)
    except Exception:  # of one request, which is no reason to leave the others without an answer
        logger.exception("a request `%s` of an agent program failed", method[:60])
        return _error(message["id"], INTERNAL_ERROR, "loop-ls could not answer this; see its log for the reason")


async def _answered(id_: Json, method: str, params: Mapping[str, Json], tools: Answering) -> JsonObject:
    match method:
        case "initialize":
            asked = params.get("protocolVersion")
            known = asked if isinstance(asked, str) and asked in VERSIONS else VERSIONS[-1]
            server: JsonObject = {"name": NAME, "version": __version__}
            return _result(id_, {"protocolVersion": known, "capabilities": {"tools": {}}, "serverInfo": server})
        case "ping":
            return _result(id_, {})
        case "tools/list":
            return _result(id_, {"tools": [_shown(each) for each in await tools.offered()]})
        case "tools/call":
            name, arguments = params.get("name"), params.get("arguments")
            if not isinstance(name, str) or not isinstance(arguments, dict | None):
                return _error(id_, BAD_PARAMETERS, "`name` and `arguments` must name the tool and its arguments")
            return _result(id_, await _called(name, arguments or {}, tools))
        case _:
            return _error(id_, UNKNOWN_METHOD, f"unknown method `{method[:60]}`")


async def _called(name: str, arguments: Mapping[str, Json], tools: Answering) -> JsonObject:
    try:
        found = await tools.call(name, arguments)
    except Failure as failure:
        found = Outcome(failure.message, failed=True)
    return {"content": [{"type": "text", "text": found.text}], "isError": found.failed}


def _shown(tool: ToolSpec) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.schema)}


def _result(id_: Json, result: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def _error(id_: Json, code: int, message: str) -> JsonObject:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
