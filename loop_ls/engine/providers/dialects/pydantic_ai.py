"""Other clouds through pydantic-ai: Bedrock, Vertex, Mistral, Cohere and whatever else it speaks to.

Imported only when such a provider is asked (extra `pydantic-ai`). Its own retries, agents and tools are not
used: one question, one answer, and an answer counts only when the provider said that it is finished.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, cast

from loop_ls.engine.capabilities.guard import require_endpoint
from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import LONGEST_ANSWER, ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.core.price_table import Usage, tokens
from loop_ls.engine.providers import failures
from loop_ls.engine.providers.attempt import Attempt
from loop_ls.engine.providers.bounded_client import bound, is_too_long
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialects.dialect import Asked, Heard
from loop_ls.engine.providers.stream_sanitizer import StreamSanitizer
from loop_ls.extras import is_installed, missing

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage

PACKAGE = "pydantic_ai"

#: What pydantic-ai calls the providers that the workflow language knows.
VENDORS = {
    "bedrock": "bedrock",
    "vertex-ai": "google-cloud",
    "gemini": "google",
    "azure-foundry": "azure",
    "openai": "openai-chat",
    "kimik2": "moonshotai",
}
_FINISH = {"stop": "stop", "length": "length", "tool_call": "tools"}


def endpoint_of(provider: Provider) -> str:
    """The place that such a provider is asked at: it knows the address itself."""
    return f"pydantic-ai://{vendor(provider)}"


def vendor(provider: Provider) -> str:
    """The service that is meant: `vendor` of the settings, else the provider's own name."""
    return str(provider.options.get("vendor") or VENDORS.get(provider.name, provider.name))


def missing_package(provider: Provider) -> ModelFailure | None:
    if is_installed(PACKAGE):
        return None
    return ModelFailure(
        "unknown_provider",
        f'{missing(f"Provider `{provider.name}`", PACKAGE)} "pydantic-ai-slim[{vendor(provider)}]"',
        provider=provider.name,
    )


class PydanticModels:
    """One provider; the model of each name is made once and keeps its connections."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._models: dict[str, Any] = {}

    async def ask(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelReply:
        import asyncio

        if (missing := missing_package(self._provider)) is not None:
            raise missing
        require_endpoint(self._provider.name, endpoint_of(self._provider), endpoint_of(self._provider))
        total = request.timeout or self._provider.timeout
        try:
            async with asyncio.timeout(total):
                return await self._ask(request, hear)
        except TimeoutError:
            raise failures.too_slow(self._provider, request.model, "no complete answer", total) from None

    async def _ask(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelReply:
        began, spoken, heard = time.perf_counter(), StreamSanitizer(), Heard()
        if isinstance(hear, Attempt):
            hear.heard = heard
        try:
            async with _stream(await self._model(request.model), request) as stream:
                async for event in stream:
                    if shown := spoken.add(_text(event)):
                        hear(shown)
                    heard.add_unseen(unseen := _unseen(event))
                    heard.begun = heard.begun or bool(unseen)
                    if spoken.length + heard.unseen_length > LONGEST_ANSWER:
                        raise failures.too_long(self._provider, request.model, spoken.length)
                response = stream.get()
        except ModelFailure:
            raise
        except Exception as error:
            raise self._failure(error, request, spoken.text()) from None
        text = spoken.text()
        calls = tuple(_calls(response))
        heard.report(_usage(response.usage))
        heard.finish = response.finish_reason or ""
        if response.state != "complete" or response.finish_reason is None:
            why = "it ended before it was complete"
            raise failures.cut(self._provider, request.model, len(text), why)
        if response.finish_reason == "content_filter":
            raise failures.declined(self._provider, request.model, "its content filter stopped the answer", text)
        if calls and not request.tools:
            raise failures.not_offered(self._provider, request.model, [call.name for call in calls])
        if not text.strip() and not calls:
            raise failures.empty(self._provider, request.model)
        return ModelReply(
            text=text,
            provider=self._provider.name,
            model=request.model,
            usage=heard.usage,
            duration=time.perf_counter() - began,
            response_id=response.provider_response_id,
            finish="tools" if calls else _FINISH.get(response.finish_reason, "stop"),
            calls=calls,
        )

    async def _model(self, name: str) -> Any:
        import asyncio

        if name not in self._models:
            from pydantic_ai.models import infer_model

            made = await asyncio.to_thread(infer_model, f"{vendor(self._provider)}:{name}")
            if (client := getattr(getattr(made, "provider", None), "_own_http_client", None)) is not None:
                bound(client)
            self._models[name] = made
        return self._models[name]

    def _failure(self, error: Exception, request: ModelRequest, heard: str) -> ModelFailure:
        from pydantic_ai import exceptions as known

        provider, model, why = self._provider, request.model, str(error).strip().partition("\n")[0]
        match error:
            case _ if is_too_long(error):
                return failures.too_long(provider, model, len(heard))
            case known.ModelHTTPError():
                body = error.body if isinstance(error.body, dict) else {"message": str(error.body or error.message)}
                return failures.refused(provider, model, error.status_code, body, error.headers or {})
            case known.ModelConnectionError() if heard:
                return failures.cut(provider, model, len(heard), "the connection broke")
            case known.ModelConnectionError():
                return failures.unreachable(provider, why, model)
            case ImportError():
                hint = f'Install it: pip install "pydantic-ai-slim[{vendor(provider)}]"'
                told = f"Provider `{provider.name}` needs a package that is not installed: {why.rstrip('.')}."
                return ModelFailure("unknown_provider", told, hint, provider=provider.name, model=model)
            case known.UserError():
                told = f"Provider `{provider.name}` cannot be used: {why.rstrip('.')}."
                hint = "Set it in the environment of the engine, then restart the engine."
                return ModelFailure("missing_key", told, hint, provider=provider.name, model=model)
            case _:
                return failures.unreadable(provider, model, f"{type(error).__name__}: {why}")


def _usage(said: RequestUsage) -> Usage:
    """It says zero where the service said nothing."""
    return Usage(
        tokens(said.input_tokens) or None,
        tokens(said.output_tokens) or None,
        tokens(said.cache_read_tokens) or 0,
        tokens(said.cache_write_tokens) or 0,
    )


def _stream(model: Any, request: ModelRequest) -> AbstractAsyncContextManager[Any]:
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import ToolDefinition

    settings: dict[str, Any] = {"temperature": request.temperature, "max_tokens": request.max_tokens}
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.schema) or {"type": "object", "properties": {}},
        )
        for tool in request.tools
    ]
    return model_request_stream(
        model,
        list(_messages(request)),
        model_settings=cast(ModelSettings, {name: value for name, value in settings.items() if value is not None}),
        model_request_parameters=ModelRequestParameters(function_tools=tools, allow_text_output=True),
    )


def _messages(request: ModelRequest) -> Iterator[Any]:
    from pydantic_ai import messages as of

    system = [of.SystemPromptPart(content=request.system)] if request.system else []
    yield of.ModelRequest(parts=[*system, of.UserPromptPart(content=request.prompt)])
    for turn in request.turns:
        said: list[Any] = [of.TextPart(content=turn.text)] if turn.text.strip() else []
        said += [
            of.ToolCallPart(tool_name=call.name, args=dict(call.arguments or {}), tool_call_id=call.id)
            for call in turn.calls
        ]
        yield of.ModelResponse(parts=said)
        names = {call.id: call.name for call in turn.calls}
        yield of.ModelRequest(
            parts=[
                of.ToolReturnPart(tool_name=names.get(answer.id, ""), content=answer.text, tool_call_id=answer.id)
                for answer in turn.answers
            ]
        )


def _text(event: Any) -> str:
    """New text of an event of the stream; parts of other kinds have none."""
    part = getattr(event, "part", None) if event.event_kind == "part_start" else getattr(event, "delta", None)
    if part is None or event.event_kind not in ("part_start", "part_delta"):
        return ""
    kind = getattr(part, "part_kind", None) or getattr(part, "part_delta_kind", None)
    if kind != "text":
        return ""
    return str(getattr(part, "content", None) or getattr(part, "content_delta", None) or "")


def _unseen(event: object) -> str:
    """What is paid and never shown, of one event: thoughts, and what a tool is called with."""
    from pydantic_ai import messages as of

    match event:
        case of.PartStartEvent(part=of.ThinkingPart(content=thought)):
            return thought
        case of.PartDeltaEvent(delta=of.ThinkingPartDelta(content_delta=str(thought))):
            return thought
        case (
            of.PartStartEvent(part=of.ToolCallPart(args=args))
            | of.PartDeltaEvent(delta=of.ToolCallPartDelta(args_delta=args))
        ):
            return args if isinstance(args, str) else json.dumps(args) if args else ""
        case _:
            return ""


def _calls(response: Any) -> Iterator[ToolCall]:
    found = (part for part in response.parts if part.part_kind == "tool-call")
    for position, part in enumerate(found, 1):
        asked = Asked(part.tool_call_id, part.tool_name)
        asked.add(part.args_as_json_str())
        yield asked.call(position)
