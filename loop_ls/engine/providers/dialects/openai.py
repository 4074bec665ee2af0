"""The OpenAI dialect (chat completions), spoken by most providers and local servers."""

from __future__ import annotations

import hashlib
import json

from loop_ls.engine.core.messages import ToolCall, ToolSpec, Turn
from loop_ls.engine.core.ports import ModelRequest
from loop_ls.engine.core.price_table import Usage, dollars, tokens
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialects.dialect import Asked, Call, Heard, StreamError, text_of
from loop_ls.text.json_value import JsonObject

#: Where the newer name of the reply limit is needed; others know only the old one.
_NEW_LIMIT = frozenset({"openai", "azure-foundry"})

_FINISH = {
    "stop": "stop",
    "length": "length",
    "eos": "stop",
    "max_tokens": "length",
    "tool_calls": "tools",
    "function_call": "tools",
}
#: Of the id of a call, in characters; a longer one is refused.
LONGEST_ID = 40
#: What a call of a tool consists of; whatever else a provider adds, it wants back.
_OF_A_CALL = frozenset({"index", "id", "type", "function"})


class OpenAI:
    """Asks for a stream with its usage; prompt as the only user message."""

    def call(self, provider: Provider, key: str, request: ModelRequest, without: frozenset[str]) -> Call:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        body: JsonObject = {
            "model": request.model,
            "messages": [*messages, {"role": "user", "content": request.prompt}, *_rounds(request.turns)],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            new = (provider.name in _NEW_LIMIT) != ("max_completion_tokens" in without or "max_tokens" in without)
            body["max_completion_tokens" if new else "max_tokens"] = request.max_tokens
        if request.tools:
            body["tools"] = [_tool(each) for each in request.tools]
            if request.closing:
                body["tool_choice"] = "none"
        if request.schema is not None:
            form: JsonObject = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        for name in without - {"max_tokens", "max_completion_tokens"}:
            body.pop(name, None)
        return Call(f"{provider.socket_url}/chat/completions", self.headers(provider, key), body)

    def limit(self, request: ModelRequest) -> int | None:
        return request.max_tokens

    def headers(self, provider: Provider, key: str) -> dict[str, str]:
        if not key:
            return {}
        if provider.name == "azure-foundry":
            return {"api-key": key}
        return {"Authorization": f"Bearer {key}"}

    def reader(self) -> OpenAIReader:
        return OpenAIReader()


def _tool(tool: ToolSpec) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": {}, **tool.schema}
    function: JsonObject = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function}


def _rounds(turns: tuple[Turn, ...]) -> list[JsonObject]:
    messages: list[JsonObject] = []
    for turn in turns:
        said: JsonObject = {"role": "assistant", "content": turn.text or None}
        if turn.thoughts:
            said["reasoning_content"] = turn.thoughts
        messages.append(said | {"tool_calls": [_asked(call) for call in turn.calls]})
        messages += [{"role": "tool", "tool_call_id": _id(each.id), "content": each.text} for each in turn.answers]
    return messages


def _asked(call: ToolCall) -> JsonObject:
    # What was no JSON would be refused: the answer to the call says what was wrong with it.
    written = json.dumps(dict(call.arguments)) if call.arguments is not None else "{}"
    return {"id": _id(call.id), "type": "function", "function": {"name": call.name, "arguments": written}, **call.extra}


def _id(given: str) -> str:
    """Ids of other providers, which were asked before, may be longer than this one takes."""
    return (
        given if len(given) <= LONGEST_ID else hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()[:LONGEST_ID]
    )


class OpenAIReader:
    """Chunks of a `chat.completion`; the usage comes in one without choices, after the last text."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._calls: dict[object, Asked] = {}
        self._refused = ""

    def feed(self, event: JsonObject) -> str:
        if event.get("error"):
            raise StreamError(_status(event["error"]), event)
        self._note(event)
        said = ""
        for choice in _choices(event):
            said += self._message(choice.get("delta"))
            self._finish(choice.get("finish_reason"))
        return said

    def whole(self, body: JsonObject) -> str:
        if body.get("error"):
            raise StreamError(_status(body["error"]), body)
        self._note(body)
        for choice in _choices(body):
            said = self._message(choice.get("message"))
            self._finish(choice.get("finish_reason"))
            return said
        return ""

    def _message(self, message: object) -> str:
        """Text of a message or of a piece of one; its thoughts and calls are noted."""
        if not isinstance(message, dict):
            return ""
        thought = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
        self.heard.thoughts += thought
        self.heard.add_unseen(thought)
        self._refusal(message.get("refusal"))
        parts = message.get("content")
        for part in parts if isinstance(parts, list) else ():
            self._refusal(part.get("refusal") if isinstance(part, dict) else None)
        calls = message.get("tool_calls")
        for position, each in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(each, dict):
                self._call(each, position)
        said = text_of(message.get("content"))
        self.heard.begun = self.heard.begun or bool(said or self.heard.thoughts or self._calls)
        return said

    def _call(self, piece: JsonObject, position: int) -> None:
        """A piece of a call. Some servers give no `index`: then an id of its own tells calls apart."""
        key: object = piece.get("index")
        if key is None:
            key = piece.get("id") or (position if not self._calls else list(self._calls)[-1])
        asked = self._calls.setdefault(key, Asked())
        asked.id = asked.id or str(piece.get("id") or "")
        asked.extra |= {name: value for name, value in piece.items() if name not in _OF_A_CALL and value is not None}
        function = piece.get("function")
        if isinstance(function, dict):
            asked.name += str(function.get("name") or "")
            written = function.get("arguments")
            piece_written = written if isinstance(written, str) else "" if written is None else json.dumps(written)
            asked.add(piece_written)
            self.heard.add_unseen(piece_written)

    def _finish(self, reason: object) -> None:
        if not isinstance(reason, str) or not reason:
            return
        self.heard.finish = _FINISH.get(reason, reason)
        self.heard.calls = tuple(asked.call(n) for n, asked in enumerate(self._calls.values(), 1) if asked.name)
        if reason == "content_filter":
            self.heard.refused = self.heard.refused or "its content filter stopped the answer"

    def _refusal(self, said: object) -> None:
        """A model's own words for why it does not answer come beside the content, in pieces like it."""
        if isinstance(said, str) and said:
            self._refused += said
            self.heard.refused = f"the model refused: {self._refused.strip()}"
            self.heard.add_unseen(said)
            self.heard.begun = True

    def _note(self, event: JsonObject) -> None:
        heard = self.heard
        heard.response_id = str(event.get("id") or "") or heard.response_id
        heard.model = str(event.get("model") or "") or heard.model
        usage = event.get("usage")
        if isinstance(usage, dict):
            heard.report(_usage(usage))


def _usage(usage: JsonObject) -> Usage:
    """Some services leave reasoning out of `completion_tokens`: then it is in the total, or larger than them."""
    sent, got = tokens(usage.get("prompt_tokens")), tokens(usage.get("completion_tokens"))
    thought = tokens(_part(usage, "completion_tokens_details", "reasoning_tokens")) or 0
    total = tokens(usage.get("total_tokens"))
    if got is not None and sent is not None and total is not None:
        got = max(got, total - sent)
    if thought > (got or 0):
        got = (got or 0) + thought
    read = tokens(_part(usage, "prompt_tokens_details", "cached_tokens"))
    read = tokens(usage.get("prompt_cache_hit_tokens")) if read is None else read
    return Usage(sent, got, read or 0, billed=dollars(usage.get("cost")))


def _part(usage: JsonObject, section: str, name: str) -> object:
    details = usage.get(section)
    return details.get(name) if isinstance(details, dict) else None


def _choices(event: JsonObject) -> list[JsonObject]:
    """The first choice only: others are not asked for."""
    choices = event.get("choices")
    if not isinstance(choices, list):
        return []
    return [each for each in choices if isinstance(each, dict) and not each.get("index")][:1]


def _status(error: object) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code < 600:
        return code
    if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3 and 400 <= int(code) < 600:
        return int(code)
    kind = str(error.get("type") or code) if isinstance(error, dict) else ""
    return 429 if "rate" in kind or "quota" in kind else 400 if "invalid" in kind else 500
