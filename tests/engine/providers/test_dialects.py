"""Answers of servers that keep the dialect loosely, and parameters that models do not take."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from loop_ls.engine.core.messages import ToolSpec
from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.config import configured
from loop_ls.engine.providers.dialects.anthropic import Anthropic
from loop_ls.engine.providers.dialects.dialect import Unaccepted
from tests.engine.providers.conftest import Asked

Reply = tuple[int, str, bytes]
Sent = list[dict[str, Any]]


@asynccontextmanager
async def server(answer: Callable[[dict[str, Any]], Reply]) -> AsyncIterator[tuple[str, Sent]]:
    """A server that answers each request body as the function says."""
    seen: Sent = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].split("\r\n")[0])
        seen.append(json.loads(await reader.readexactly(length)))
        status, kind, body = answer(seen[-1])
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", seen


def asked(url: str, **more: Any) -> tuple[Providers, Asked]:
    house = Providers({})
    return house, Asked(house.models({"house": {"baseUrl": url, **more}}))


def stream(*events: Any, done: bool = True) -> Reply:
    lines = [f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events]
    return 200, "text/event-stream", "".join(lines + ["data: [DONE]\n\n"] * done).encode()


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


async def test_a_server_that_does_not_stream_is_understood() -> None:
    body = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}], "usage": {"completion_tokens": 1}}
    async with server(lambda sent: (200, "application/json", json.dumps(body).encode())) as (url, _):
        house, ask = asked(url)
        reply = await ask("house")
        assert (reply.text, reply.output_tokens, "".join(ask.heard)) == ("whole", 1, "whole")
        await house.aclose()


async def test_without_done_but_with_a_finish_the_answer_is_whole() -> None:
    async with server(lambda sent: stream(chunk("a", "stop"), done=False)) as (url, _):
        house, ask = asked(url)
        assert (await ask("house")).text == "a"
        await house.aclose()


async def test_done_without_a_finish_is_no_whole_answer() -> None:
    async with server(lambda sent: stream(chunk("a"))) as (url, _):
        house, ask = asked(url)
        with pytest.raises(ModelFailure, match="before it was complete"):
            await ask("house")
        await house.aclose()


async def test_thoughts_and_odd_pieces_are_no_text() -> None:
    events = [
        {"choices": [{"delta": {"role": "assistant", "content": None, "reasoning_content": "hm"}}]},
        {"choices": []},
        {"choices": [{"index": 1, "delta": {"content": "second choice"}}]},
        {"choices": [{"delta": {"content": [{"type": "text", "text": "parts"}]}}]},
        {"object": "ping"},
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": None},
    ]
    async with server(lambda sent: stream(*events)) as (url, _):
        house, ask = asked(url)
        assert (await ask("house")).text == "parts"
        await house.aclose()


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"error": {"message": "slow down", "code": 429}}, "rate_limited"),
        ({"error": {"message": "oops", "type": "server_error"}}, "server"),
        ({"error": "text only"}, "server"),
        ("[1, 2]", "bad_answer"),
        ("[" * 100_000, "bad_answer"),
        (chunk("x", "content_filter"), "bad_answer"),
    ],
)
async def test_errors_inside_a_stream_are_failures(event: Any, code: str) -> None:
    async with server(lambda sent: stream(chunk("half "), event)) as (url, _):
        house, ask = asked(url)
        with pytest.raises(ModelFailure) as caught:
            await ask("house", attempts=1)
        assert caught.value.code == code
        await house.aclose()


async def test_a_parameter_that_a_model_does_not_take_is_left_out_from_then_on() -> None:
    def picky(sent: dict[str, Any]) -> Reply:
        for name in ("temperature", "stream_options"):
            if name in sent:
                error = {"error": {"message": f"Unsupported parameter: '{name}'.", "type": "invalid_request_error"}}
                return 400, "application/json", json.dumps(error).encode()
        return stream(chunk("fine", "stop"))

    async with server(picky) as (url, seen):
        house, ask = asked(url)
        assert (await ask("house", temperature=0.5)).text == "fine"
        assert len(seen) == 3
        assert (await ask("house", temperature=0.5)).text == "fine"
        assert len(seen) == 4
        await house.aclose()


async def test_a_model_that_is_held_to_no_schema_is_asked_without_one_from_then_on() -> None:
    def plain(sent: dict[str, Any]) -> Reply:
        if "response_format" in sent:
            error = {"error": {"message": "This model does not support response format `json_schema`."}}
            return 400, "application/json", json.dumps(error).encode()
        return stream(chunk("{}", "stop"))

    form = {"type": "object", "properties": {}, "additionalProperties": False}
    async with server(plain) as (url, seen):
        house, ask = asked(url)
        assert (await ask("house", schema=form)).text == "{}"
        assert seen[0]["response_format"]["json_schema"] == {"name": "answer", "strict": True, "schema": form}
        assert (await ask("house", schema=form)).text == "{}"
        assert len(seen) == 3
        await house.aclose()


async def test_a_provider_that_knows_no_tool_choice_is_asked_without_it_from_then_on() -> None:
    def plain(sent: dict[str, Any]) -> Reply:
        if "tool_choice" in sent:
            error = {"error": {"message": "Unrecognized request argument supplied: tool_choice"}}
            return 400, "application/json", json.dumps(error).encode()
        return stream(chunk("done", "stop"))

    async with server(plain) as (url, seen):
        house, ask = asked(url)
        assert (await ask("house", tools=(ToolSpec("now"),), closing=True)).text == "done"
        assert [one.get("tool_choice") for one in seen] == ["none", None]
        assert (await ask("house", tools=(ToolSpec("now"),), closing=True)).text == "done"
        assert len(seen) == 3
        await house.aclose()


def test_anthropic_leaves_out_a_tool_choice_that_was_refused() -> None:
    provider = configured("anthropic", {}, {})
    request = ModelRequest("anthropic", "m", "x", tools=(ToolSpec("now"),), closing=True)
    sent = Anthropic().call(provider, "", request, frozenset()).body
    assert Unaccepted().find("tool_choice: Extra inputs are not permitted", sent) == "tool_choice"
    assert "tool_choice" not in Anthropic().call(provider, "", request, frozenset({"tool_choice"})).body


async def test_the_other_name_of_the_reply_limit_is_tried() -> None:
    def modern(sent: dict[str, Any]) -> Reply:
        if "max_tokens" in sent:
            error = {"error": {"message": "Use 'max_completion_tokens' instead of 'max_tokens'."}}
            return 400, "application/json", json.dumps(error).encode()
        return stream(chunk(str(sent["max_completion_tokens"]), "stop"))

    async with server(modern) as (url, _):
        house, ask = asked(url)
        assert (await ask("house", max_tokens=9)).text == "9"
        await house.aclose()


@pytest.mark.parametrize(
    "reply",
    [
        (200, "text/html", b"<html>login</html>"),
        (200, "application/json", b"\xff\xfe"),
        (302, "text/plain", b""),
        (200, "application/json", b"[]"),
    ],
)
async def test_what_is_no_api_is_a_bad_answer(reply: Reply) -> None:
    async with server(lambda sent: reply) as (url, _):
        house, ask = asked(url)
        with pytest.raises(ModelFailure) as caught:
            await ask("house")
        assert caught.value.code == "bad_answer"
        await house.aclose()


async def test_an_error_page_that_is_no_json_still_tells_its_status() -> None:
    async with server(lambda sent: (404, "text/html", b"<html>")) as (url, _):
        house, ask = asked(url)
        with pytest.raises(ModelFailure) as caught:
            await ask("house", model="nope")
        assert (caught.value.code, caught.value.details["status"]) == ("not_found", 404)
        assert "`nope`" in caught.value.message
        await house.aclose()
