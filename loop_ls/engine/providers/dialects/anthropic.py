"""The Anthropic dialect (messages)."""

from __future__ import annotations

import json
import re

from loop_ls.engine.core.messages import ToolSpec, Turn
from loop_ls.engine.core.ports import ModelRequest
from loop_ls.engine.core.price_table import Usage, tokens
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialects.dialect import Asked, Call, Heard, StreamError, text_of
from loop_ls.text.json_value import JsonObject

VERSION = "2023-06-01"

#: The dialect wants a reply limit; this one where the workflow names none.
MAX_TOKENS = 4096

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tools",
    "model_context_window_exceeded": "length",
}

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Anthropic:
    """Asks for a stream; the temperature ends at 1 there, a workflow's at 2."""

    def call(self, provider: Provider, key: str, request: ModelRequest, without: frozenset[str]) -> Call:
        body: JsonObject = {
            "model": request.model,
            "messages": [{"role": "user", "content": request.prompt}, *_rounds(request.turns)],
            "max_tokens": self.limit(request),
            "stream": True,
        }
        if request.tools:
            body["tools"] = [_tool(each) for each in request.tools]
            if request.closing and "tool_choice" not in without:
                body["tool_choice"] = {"type": "none"}
        if request.schema is not None and "output_config" not in without:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
        if request.system:
            body["system"] = request.system
        if request.temperature is not None and "temperature" not in without:
            body["temperature"] = min(request.temperature, 1.0)
        return Call(f"{provider.socket_url.removesuffix('/v1')}/v1/messages", self.headers(provider, key), body)

    def limit(self, request: ModelRequest) -> int:
        return request.max_tokens or MAX_TOKENS

    def headers(self, provider: Provider, key: str) -> dict[str, str]:
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def reader(self) -> AnthropicReader:
        return AnthropicReader()


def _tool(tool: ToolSpec) -> JsonObject:
    schema = {"type": "object", **tool.schema}
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _rounds(turns: tuple[Turn, ...]) -> list[JsonObject]:
    messages: list[JsonObject] = []
    for turn in turns:
        said: list[JsonObject] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
        for call in turn.calls:
            said.append(
                {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": dict(call.arguments or {})}
            )
        heard: list[JsonObject] = [
            {"type": "tool_result", "tool_use_id": _id(each.id), "content": each.text, "is_error": each.failed}
            for each in turn.answers
        ]
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": heard}]
    return messages


def _id(given: str) -> str:
    """Ids of other providers may hold what this one refuses."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", given)


class AnthropicReader:
    """Typed events from `message_start` to `message_stop`."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._reason = ""
        self._calls: dict[object, Asked] = {}

    def feed(self, event: JsonObject) -> str:
        match event.get("type"):
            case "message_start":
                self._note(event.get("message"))
            case "content_block_start":
                self._begin(event.get("content_block"), event.get("index"))
                return _text(event.get("content_block"))
            case "content_block_delta":
                self.heard.begun = True
                return self._delta(event.get("delta"), event.get("index"))
            case "message_delta":
                self._usage(event.get("usage"))
                delta = event.get("delta")
                self._reason = str(delta.get("stop_reason") or "") if isinstance(delta, dict) else ""
            case "message_stop":
                self._finish()
            case "error":
                raise _error(event)
        return ""

    def _delta(self, delta: object, index: object) -> str:
        if not isinstance(delta, dict):
            return ""
        match delta.get("type"):
            case "input_json_delta" if isinstance(index, int) and index in self._calls:
                piece = str(delta.get("partial_json") or "")
                self._calls[index].add(piece)
                self.heard.add_unseen(piece)
            case "thinking_delta":
                self.heard.add_unseen(str(delta.get("thinking") or ""))
        return _text(delta)

    def whole(self, body: JsonObject) -> str:
        if body.get("type") == "error":
            raise _error(body)
        self._note(body)
        self._reason = str(body.get("stop_reason") or "")
        content = body.get("content")
        for index, part in enumerate(content if isinstance(content, list) else ()):
            self._begin(part, index)
        self._finish()
        return text_of(body.get("content"))

    def _begin(self, part: object, index: object) -> None:
        """A block begins; one that asks for a tool is noted. Its input comes in pieces, or at once."""
        if isinstance(part, dict) and part.get("type") == "tool_use":
            self._calls[index] = asked = Asked(str(part.get("id") or ""), str(part.get("name") or ""))
            if part.get("input"):
                asked.add(json.dumps(part["input"]))

    def _finish(self) -> None:
        self.heard.finish = _FINISH.get(self._reason, self._reason)
        self.heard.calls = tuple(asked.call(n) for n, asked in enumerate(self._calls.values(), 1) if asked.name)
        if self._reason == "refusal":
            self.heard.refused = "the model refused"

    def _note(self, message: object) -> None:
        if isinstance(message, dict):
            self.heard.response_id = str(message.get("id") or "") or None
            self.heard.model = str(message.get("model") or "")
            self._usage(message.get("usage"))

    def _usage(self, usage: object) -> None:
        if not isinstance(usage, dict):
            return
        sent, got = tokens(usage.get("input_tokens")), tokens(usage.get("output_tokens"))
        written = tokens(usage.get("cache_creation_input_tokens")) or 0
        read = tokens(usage.get("cache_read_input_tokens")) or 0
        kinds = usage.get("cache_creation")
        hour = tokens(kinds.get("ephemeral_1h_input_tokens")) or 0 if isinstance(kinds, dict) else 0
        whole = None if sent is None else sent + max(written, hour) + read
        self.heard.report(Usage(whole, got, read, max(written, hour), cache_hour=hour))


def _text(part: object) -> str:
    if isinstance(part, dict) and part.get("type") in ("text", "text_delta"):
        return text_of(part.get("text"))
    return ""


def _error(event: JsonObject) -> StreamError:
    error = event.get("error")
    kind = str(error.get("type") or "") if isinstance(error, dict) else ""
    return StreamError(_STATUS.get(kind, 500), event)
