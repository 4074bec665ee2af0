"""The interfaces of Anthropic (messages) and OpenAI (chat, responses, embeddings) on loopback.

What they would refuse is refused in their words (`rules`); every request is kept. An answer is chosen by a function of
the request, so that a test says what the model does.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, assert_never

from tests.engine.providers.support import rules

Json = dict[str, Any]


@dataclass(frozen=True)
class Asks:
    """Of the model: this tool with these arguments. `server` is the namespace of Codex for tools of an MCP server."""

    tool: str
    arguments: Mapping[str, Any]
    server: str = ""


@dataclass(frozen=True)
class Refuses:
    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


Answer = str | Asks | Refuses


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Json

    @property
    def dialect(self) -> str:
        return self.path.split("?")[0].rsplit("/", 1)[-1]

    @property
    def tools(self) -> set[str]:
        """The names of the tools that were offered; those of a namespace as `server__tool`."""
        return set(_names(self.body.get("tools") or [], ""))

    @property
    def results(self) -> list[str]:
        """What tools have answered so far, as text."""
        return [one if isinstance(one, str) else json.dumps(one) for one in _results(self.body)]

    @property
    def texts(self) -> str:
        """Everything that stands in the request."""
        return json.dumps(self.body, ensure_ascii=False)


class RecordingProvider:
    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.refused: list[str] = []
        self.answer: Callable[[Request], Answer] = lambda request: "ok"
        self.headers: Mapping[str, str] = {}  # of each answer of a model
        self.cached = self.thought = 0  # of the tokens that each answer reports
        self.url = ""

    @contextmanager
    def serving(self) -> Iterator[RecordingProvider]:
        handler = type("Handler", (_Handler,), {"provider": self})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join(60)

    def reply(self, request: Request) -> tuple[int, str, bytes, Mapping[str, str]]:
        if (refusal := _refusal(request)) is not None:
            self.refused.append(f"{request.path}: {refusal.body}")
            return refusal.status, "application/json", json.dumps(refusal.body).encode(), refusal.headers
        self.requests.append(request)
        if request.dialect == "embeddings":
            return 200, "application/json", json.dumps(_embedded(request.body)).encode(), {}
        said = self.answer(request)
        if isinstance(said, Refuses):
            return said.status, "application/json", json.dumps(said.body).encode(), said.headers
        model, kept, thought = str(request.body["model"]), self.cached, self.thought
        match request.dialect:
            case "messages":
                whole, events = _messages(model, said, kept)
            case "responses":
                whole, events = _responses(model, said, kept, thought)
            case _:
                whole, events = _chat(model, said, kept, thought)
        if request.body.get("stream"):
            return 200, "text/event-stream", events.encode(), self.headers
        return 200, "application/json", json.dumps(whole).encode(), self.headers


class _Handler(BaseHTTPRequestHandler):
    provider: RecordingProvider
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        return

    def do_HEAD(self) -> None:
        self._send(200, "text/plain", b"", {})

    def do_GET(self) -> None:
        if "upgrade" in self.headers:  # Codex would stay on a socket; told so, it asks as it does elsewhere
            self._send(426, "text/plain", b"", {})
            return None
        if self.path.split("?")[0].endswith("/models"):
            known = {"object": "list", "data": [{"id": "m1", "object": "model"}], "models": []}
            return self._send(200, "application/json", json.dumps(known).encode(), {})
        self._send(404, "application/json", b'{"error": {"message": "not found"}}', {})
        return None

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.split("?")[0].endswith("/count_tokens"):
            return self._send(200, "application/json", b'{"input_tokens": 10}', {})
        try:
            body = json.loads(raw)
        except ValueError:
            return self._send(400, "application/json", b'{"error": {"message": "the body is no JSON"}}', {})
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(*self.provider.reply(Request(self.path, headers, body)))
        return None

    def _send(self, status: int, kind: str, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        with suppress(ConnectionError):  # who asked was ended meanwhile
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)


def _refusal(request: Request) -> Refuses | None:
    headers = request.headers
    if "json" not in headers.get("content-type", ""):
        return Refuses(415, {"error": {"message": "content-type must be application/json", "type": "invalid_request"}})
    bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
    if request.dialect == "messages":
        if not headers.get("x-api-key") and not bearer:
            return _of_anthropic(401, "authentication_error", "x-api-key header is required")
        problem = rules.anthropic(headers, request.body)
        return _of_anthropic(400, "invalid_request_error", problem) if problem else None
    known = {"completions": rules.chat, "embeddings": rules.vectors, "responses": rules.responses}.get(request.dialect)
    if known is None:
        return Refuses(404, {"error": {"message": f"Unknown request URL: POST {request.path}"}})
    if not bearer and not headers.get("api-key"):
        return Refuses(401, {"error": {"message": "You didn't provide an API key.", "code": None}})
    told = known(headers, request.body)
    return Refuses(400, {"error": {"message": told, "type": "invalid_request_error"}}) if told else None


def _of_anthropic(status: int, kind: str, told: str) -> Refuses:
    return Refuses(status, {"type": "error", "error": {"type": kind, "message": told}, "request_id": "req_1"})


def _names(tools: list[Any], server: str) -> Iterator[str]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _names(tool.get("tools") or [], str(tool.get("name")))
            continue
        name = tool.get("name") or (tool.get("function") or {}).get("name") or tool.get("type")
        yield f"{server}__{name}" if server else str(name)


def _results(body: Json) -> Iterator[Any]:
    for message in body.get("messages") or []:
        if message.get("role") == "tool":
            yield message.get("content")
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_result":
                yield block.get("content")
    items = body.get("input")
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and str(item.get("type")).endswith("_call_output"):
            yield item.get("output")


_NUMBERS = count(1)
SENT, GOT = 100, 7


def _event(kind: str, told: Json) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **told})}\n\n"


def _messages(model: str, said: str | Asks, kept: int) -> tuple[Json, str]:
    """Here, those that were in the cache are no part of the input tokens, and what is thought is not told apart."""
    match said:
        case str():
            block: Json = {"type": "text", "text": said}
            begun: Json = {"type": "text", "text": ""}
            delta: Json = {"type": "text_delta", "text": said}
        case Asks():
            block = {
                "type": "tool_use",
                "id": f"toolu_{next(_NUMBERS)}",
                "name": said.tool,
                "input": dict(said.arguments),
            }
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        case never:
            assert_never(never)
    why = "end_turn" if isinstance(said, str) else "tool_use"
    usage = {"input_tokens": SENT - kept, "output_tokens": GOT, "cache_read_input_tokens": kept}
    whole = {"id": f"msg_{next(_NUMBERS)}", "type": "message", "role": "assistant", "model": model, "usage": usage}
    whole |= {"content": [block], "stop_reason": why, "stop_sequence": None}
    events = _event("message_start", {"message": {**whole, "content": [], "stop_reason": None}})
    events += _event("content_block_start", {"index": 0, "content_block": begun})
    events += _event("content_block_delta", {"index": 0, "delta": delta})
    events += _event("content_block_stop", {"index": 0})
    events += _event("message_delta", {"delta": {"stop_reason": why, "stop_sequence": None}, "usage": usage})
    return whole, events + _event("message_stop", {})


def _chat(model: str, said: str | Asks, kept: int, thought: int) -> tuple[Json, str]:
    message: Json = {"role": "assistant", "content": said if isinstance(said, str) else None}
    if isinstance(said, Asks):
        function = {"name": said.tool, "arguments": json.dumps(dict(said.arguments))}
        message["tool_calls"] = [{"index": 0, "id": f"call_{next(_NUMBERS)}", "type": "function", "function": function}]
    why = "stop" if isinstance(said, str) else "tool_calls"
    details = {"prompt_tokens_details": {"cached_tokens": kept}}
    details["completion_tokens_details"] = {"reasoning_tokens": thought}
    usage = {"prompt_tokens": SENT, "completion_tokens": GOT, "total_tokens": SENT + GOT, **details}
    own = {"id": f"chatcmpl-{next(_NUMBERS)}", "created": 1_700_000_000, "model": model}
    chunk = {**own, "object": "chat.completion.chunk"}
    parts = [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]},
        {**chunk, "choices": [], "usage": usage},
    ]
    choices = [{"index": 0, "message": message, "finish_reason": why}]
    events = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
    return {**own, "object": "chat.completion", "choices": choices, "usage": usage}, events


def _responses(model: str, said: str | Asks, kept: int, thought: int) -> tuple[Json, str]:
    number = next(_NUMBERS)
    if isinstance(said, str):
        content = [{"type": "output_text", "text": said, "annotations": []}]
        item: Json = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
    else:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": said.tool}
        item["arguments"] = json.dumps(dict(said.arguments))
        if said.server:
            item["namespace"] = said.server
    item["status"] = "completed"
    details = {"input_tokens_details": {"cached_tokens": kept}, "output_tokens_details": {"reasoning_tokens": thought}}
    usage = {"input_tokens": SENT, "output_tokens": GOT, "total_tokens": SENT + GOT, **details}
    whole = {"id": f"resp_{number}", "object": "response", "model": model, "status": "completed", "output": [item]}
    whole["usage"] = usage
    events = _event("response.created", {"response": {**whole, "status": "in_progress", "output": []}})
    events += _event("response.output_item.added", {"output_index": 0, "item": item})
    events += _event("response.output_item.done", {"output_index": 0, "item": item})
    return whole, events + _event("response.completed", {"response": whole})


def _embedded(body: Json) -> Json:
    """As many numbers as letters: how often each occurs."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    size = body.get("dimensions") or 26
    found = [[float(text.lower().count(chr(97 + at % 26))) for at in range(size)] for text in texts]
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(found)]
    return {"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 8, "total_tokens": 8}}
