"""The OpenAI dialect (chat completions), spoken by most providers and local servers."""

from __future__ import annotations

from typing import Any

from loop_ls.engine.ports import ModelRequest
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialect import Call, Heard, StreamError, number, text_of

#: Where the newer name of the reply limit is needed; others know only the old one.
_NEW_LIMIT = frozenset({"openai", "azure-foundry"})

_FINISH = {"stop": "stop", "length": "length", "eos": "stop", "max_tokens": "length"}


class OpenAI:
    """Asks for a stream with its usage; prompt as the only user message."""

    def call(self, provider: Provider, key: str, request: ModelRequest, without: frozenset[str]) -> Call:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [*messages, {"role": "user", "content": request.prompt}],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            new = (provider.name in _NEW_LIMIT) != ("max_completion_tokens" in without or "max_tokens" in without)
            body["max_completion_tokens" if new else "max_tokens"] = request.max_tokens
        for name in without - {"max_tokens", "max_completion_tokens"}:
            body.pop(name, None)
        return Call(f"{provider.base_url}/chat/completions", _headers(provider, key), body)

    def reader(self) -> OpenAIReader:
        return OpenAIReader()


def _headers(provider: Provider, key: str) -> dict[str, str]:
    if not key:
        return {}
    if provider.name == "azure-foundry":
        return {"api-key": key}
    return {"Authorization": f"Bearer {key}"}


class OpenAIReader:
    """Chunks of a `chat.completion`; the usage comes in one without choices, after the last text."""

    def __init__(self) -> None:
        self.heard = Heard()

    def feed(self, event: dict[str, Any]) -> str:
        if event.get("error"):
            raise StreamError(_status(event["error"]), event)
        self._note(event)
        said = ""
        for choice in _choices(event):
            delta = choice.get("delta")
            said += text_of(delta.get("content")) if isinstance(delta, dict) else ""
            self._finish(choice.get("finish_reason"))
        return said

    def whole(self, body: dict[str, Any]) -> str:
        if body.get("error"):
            raise StreamError(_status(body["error"]), body)
        self._note(body)
        for choice in _choices(body):
            self._finish(choice.get("finish_reason"))
            message = choice.get("message")
            return text_of(message.get("content")) if isinstance(message, dict) else ""
        return ""

    def _finish(self, reason: Any) -> None:
        if not isinstance(reason, str) or not reason:
            return
        self.heard.finish = _FINISH.get(reason, reason)
        if reason == "content_filter":
            self.heard.refused = "its content filter stopped the answer"

    def _note(self, event: dict[str, Any]) -> None:
        heard = self.heard
        heard.response_id = str(event.get("id") or "") or heard.response_id
        heard.model = str(event.get("model") or "") or heard.model
        usage = event.get("usage")
        if isinstance(usage, dict):
            heard.input_tokens = number(usage.get("prompt_tokens")) or heard.input_tokens
            heard.output_tokens = number(usage.get("completion_tokens")) or heard.output_tokens
            cost = usage.get("cost")  # OpenRouter says what it charged
            if isinstance(cost, int | float) and not isinstance(cost, bool):
                heard.usd = float(cost)


def _choices(event: dict[str, Any]) -> list[dict[str, Any]]:
    """The first choice only: others are not asked for."""
    choices = event.get("choices")
    if not isinstance(choices, list):
        return []
    return [each for each in choices if isinstance(each, dict) and not each.get("index")][:1]


def _status(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code < 600:
        return code
    if isinstance(code, str) and code.isdigit():
        return int(code)
    kind = str(error.get("type") or code) if isinstance(error, dict) else ""
    return 429 if "rate" in kind or "quota" in kind else 400 if "invalid" in kind else 500
