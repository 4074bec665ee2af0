"""What the interfaces of Anthropic and OpenAI refuse, as their public references say it.

A fake that takes everything hides a request that no real service would take. Each function gives the sentence of the
refusal, or None; the headers' names are lower case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Body = Mapping[str, Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
#: Of the chat interface; that of tools' names too.
_SHORT_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONGEST_CALL_ID = 40

ANTHROPIC_KEYS = {
    *("model", "max_tokens", "messages", "system", "stream", "temperature", "top_p", "top_k", "stop_sequences"),
    *("tools", "tool_choice", "metadata", "thinking", "service_tier", "container", "mcp_servers", "output_config"),
    *("cache_control", "inference_geo"),
}
CHAT_KEYS = {
    *("model", "messages", "stream", "stream_options", "temperature", "top_p", "n", "stop", "max_tokens", "tools"),
    *("max_completion_tokens", "tool_choice", "parallel_tool_calls", "response_format", "seed", "user", "logprobs"),
    *("top_logprobs", "presence_penalty", "frequency_penalty", "logit_bias", "reasoning_effort", "verbosity", "store"),
    *("metadata", "service_tier", "modalities", "prediction", "audio", "prompt_cache_key", "prompt_cache_retention"),
    *("safety_identifier", "web_search_options"),
}


def anthropic(headers: Mapping[str, str], body: Body) -> str | None:
    if "anthropic-version" not in headers:
        return "anthropic-version: header is required"
    if "anthropic-beta" not in headers and (unknown := sorted(set(body) - ANTHROPIC_KEYS)):
        return f"{unknown[0]}: Extra inputs are not permitted"
    roles = ("user", "assistant", "system") if "anthropic-beta" in headers else ("user", "assistant")
    return next(_of_anthropic(body, roles), None)


def _of_anthropic(body: Body, roles: tuple[str, ...]) -> Iterator[str]:
    if not _text(body.get("model")):
        yield "model: Field required"
    if not _whole(body.get("max_tokens")):
        yield "max_tokens: Input should be greater than or equal to 1"
    if not _between(body.get("temperature"), 1):
        yield "temperature: range: 0..1"
    if "system" in body and not _said(body["system"]):
        yield "system: text content blocks must be non-empty"
    yield from _anthropic_tools(body.get("tools", []))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    if messages[0].get("role") != "user":
        yield 'messages: first message must use the "user" role'
    open_ids: list[str] = []
    for number, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in roles:
            yield f"messages.{number}.role: Input should be 'user' or 'assistant'"
        if not _said(content) and not (number == len(messages) - 1 and role == "assistant"):
            yield f"messages.{number}: all messages must have non-empty content"
        blocks = content if isinstance(content, list) else []
        yield from _blocks(number, role, blocks)
        answered = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
        if missing := [one for one in open_ids if one not in answered]:
            yield (
                f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}"
            )
        if strange := [one for one in answered if one not in open_ids]:
            yield f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {strange[0]}"
        open_ids = [block.get("id", "") for block in blocks if block.get("type") == "tool_use"]
    if open_ids:
        yield f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` blocks"


def _blocks(number: int, role: Any, blocks: list[Any]) -> Iterator[str]:
    seen_other = False
    for at, block in enumerate(blocks):
        where = f"messages.{number}.content.{at}"
        match block.get("type"):
            case "text" if not _text(block.get("text")):
                yield "messages: text content blocks must be non-empty"
            case "tool_use":
                if role != "assistant":
                    yield f"{where}: tool_use blocks can only be in assistant messages"
                if not _ID.fullmatch(str(block.get("id"))):
                    yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                if not isinstance(block.get("input"), dict):
                    yield f"{where}.tool_use.input: Input should be a valid dictionary"
                if not _NAME.fullmatch(str(block.get("name"))):
                    yield f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            case "tool_result":
                if role != "user":
                    yield f"{where}: tool_result blocks can only be in user messages"
                if seen_other:
                    yield f"{where}: tool_result blocks must come first in the content of a message"
                if not isinstance(block.get("content", ""), str | list):
                    yield f"{where}.tool_result.content: Input should be a valid string or list"
                if not isinstance(block.get("is_error", False), bool):
                    yield f"{where}.tool_result.is_error: Input should be a valid boolean"
        seen_other = seen_other or block.get("type") != "tool_result"


def _anthropic_tools(tools: Any) -> Iterator[str]:
    names = [tool.get("name") for tool in tools]
    for at, tool in enumerate(tools):
        if "type" in tool and tool["type"] != "custom":
            continue  # one of the service's own
        if not _NAME.fullmatch(str(tool.get("name"))):
            yield f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if (tool.get("input_schema") or {}).get("type") != "object":
            yield f"tools.{at}.custom.input_schema.type: Field required"
        if not isinstance(tool.get("description", ""), str):
            yield f"tools.{at}.custom.description: Input should be a valid string"
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."


def chat(headers: Mapping[str, str], body: Body) -> str | None:
    if unknown := sorted(set(body) - CHAT_KEYS):
        return f"Unrecognized request argument supplied: {unknown[0]}"
    return next(_of_chat(body), None)


def _of_chat(body: Body) -> Iterator[str]:
    if not _text(body.get("model")):
        yield "you must provide a model parameter"
    for name in ("max_tokens", "max_completion_tokens"):
        if name in body and not _whole(body[name]):
            yield f"Invalid '{name}': integer below minimum value. Expected a value >= 1."
    if {"max_tokens", "max_completion_tokens"} <= set(body):
        yield "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    if not _between(body.get("temperature"), 2):
        yield "Invalid 'temperature': expected a value between 0 and 2."
    if "stream_options" in body and body.get("stream") is not True:
        yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    yield from _chat_tools(body)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "[] is too short - 'messages'"
        return
    open_ids: list[str] = []
    for number, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in open_ids:
                yield (
                    f"Invalid parameter: messages.[{number}] with role 'tool' must be a response to a preceding "
                    "message with 'tool_calls'."
                )
            else:
                open_ids.remove(message["tool_call_id"])
            if not isinstance(message.get("content"), str | list):
                yield f"Invalid value for 'content' of messages.[{number}]: expected a string, got null."
            continue
        if open_ids:
            yield _unanswered(open_ids)
        yield from _chat_message(number, role, message)
        open_ids = [call.get("id") for call in message.get("tool_calls") or []]
    if open_ids:
        yield _unanswered(open_ids)


def _chat_message(number: int, role: Any, message: Body) -> Iterator[str]:
    where, content, calls = f"messages[{number}]", message.get("content"), message.get("tool_calls")
    if role not in ("system", "developer", "user", "assistant"):
        yield f"Invalid value for '{where}.role'."
    if content is None and not (role == "assistant" and calls):
        yield f"Invalid value for 'content': expected a string, got null. ({where})"
    if "tool_calls" in message and not calls:
        yield f"Invalid '{where}.tool_calls': empty array. Expected an array with minimum length 1."
    for at, call in enumerate(calls or []):
        yield from _chat_call(f"{where}.tool_calls[{at}]", call)


def _chat_call(where: str, call: Body) -> Iterator[str]:
    own, function = str(call.get("id") or ""), call.get("function") or {}
    if not own or len(own) > LONGEST_CALL_ID:
        yield f"Invalid '{where}.id': expected a string with maximum length {LONGEST_CALL_ID}."
    if call.get("type") != "function":
        yield f"Missing required parameter: '{where}.type'."
    if not _SHORT_NAME.fullmatch(str(function.get("name"))):
        yield f"Invalid '{where}.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
    if not isinstance(function.get("arguments"), str):
        yield f"Invalid type for '{where}.function.arguments': expected a string."
    elif not _object(function["arguments"]):
        yield f"Invalid '{where}.function.arguments': expected JSON of an object."


def _chat_tools(body: Body) -> Iterator[str]:
    tools = body.get("tools")
    if tools == []:
        yield "[] is too short - 'tools'"
    for at, tool in enumerate(tools or []):
        function = tool.get("function") or {}
        if tool.get("type") != "function":
            yield f"Invalid value for 'tools[{at}].type'."
        if not _SHORT_NAME.fullmatch(str(function.get("name"))):
            yield f"Invalid 'tools[{at}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
        schema = function.get("parameters", {"type": "object", "properties": {}})
        if schema.get("type") != "object":
            yield f"Invalid schema for function '{function.get('name')}': schema must be of 'type: \"object\"'."
        elif "properties" not in schema:
            yield f"Invalid schema for function '{function.get('name')}': object schema missing properties."


def vectors(headers: Mapping[str, str], body: Body) -> str | None:
    texts = body.get("input")
    if not _text(body.get("model")):
        return "you must provide a model parameter"
    if not isinstance(texts, str | list) or not texts:
        return "'$.input' is invalid."
    if isinstance(texts, list) and (len(texts) > 2048 or not all(map(_text, texts))):
        return "'$.input' is invalid."
    if unknown := sorted(set(body) - {"model", "input", "dimensions", "encoding_format", "user"}):
        return f"Unrecognized request argument supplied: {unknown[0]}"
    return None


def responses(headers: Mapping[str, str], body: Body) -> str | None:
    """Of what Codex sends; this product does not speak it."""
    items = body.get("input")
    if not _text(body.get("model")) or not isinstance(items, list) or not items:
        return "Missing required parameter: 'input'."
    asked = {item.get("call_id") for item in items if str(item.get("type")).endswith("_call")}
    for item in items:
        if str(item.get("type")).endswith("_call_output") and item.get("call_id") not in asked:
            return f"No tool call found for function call output with call_id {item.get('call_id')}."
    return None


def _unanswered(ids: list[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(ids)}"
    )


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _said(content: Any) -> bool:
    return _text(content) or (isinstance(content, list) and bool(content))


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _between(value: Any, most: int) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most)


def _object(written: str) -> bool:
    try:
        return isinstance(json.loads(written), dict)
    except ValueError:
        return False
