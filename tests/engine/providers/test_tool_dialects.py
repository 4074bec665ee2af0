"""Tools in both dialects: what is sent, what streams back in pieces, what is sent with the next round."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.engine.core.messages import ToolAnswer, ToolCall, ToolSpec, Turn
from loop_ls.engine.core.ports import ModelRequest
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialects.anthropic import Anthropic, AnthropicReader
from loop_ls.engine.providers.dialects.dialect import Heard, without_key
from loop_ls.engine.providers.dialects.openai import OpenAI, OpenAIReader
from tests.engine.providers.conftest import Asked

both = pytest.mark.parametrize("provider", ["openai", "anthropic"])
SEARCH = ToolSpec("search", "Finds documents.", {"type": "object", "properties": {"query": {"type": "string"}}})


@both
async def test_a_model_asks_for_a_tool_and_answers_with_what_it_was_told(
    llmock: Any, ask: Asked, provider: str
) -> None:
    llmock.call_tool("search", {"query": "überblick"}).reply("found it", times=None)
    asking = await ask(provider, tools=(SEARCH,))
    [call] = asking.calls
    assert (asking.finish, call.name, call.arguments) == ("tools", "search", {"query": "überblick"})
    turn = Turn(asking.text, asking.calls, (ToolAnswer(call.id, "one document"),))
    reply = await ask(provider, tools=(SEARCH,), turns=(turn,))
    assert (reply.text, reply.calls, reply.finish) == ("found it", (), "stop")
    assert "one document" in json.dumps(llmock.last_request.body)


@both
async def test_arguments_that_are_no_json_are_told_apart_from_none(llmock: Any, ask: Asked, provider: str) -> None:
    llmock.break_tool_call("malformed_arguments")
    reply = await ask(provider, "search for bread", tools=(SEARCH,))
    assert [call.arguments for call in reply.calls] == [None]
    assert reply.calls[0].written


@both
async def test_without_tools_nothing_about_them_is_sent(llmock: Any, ask: Asked, provider: str) -> None:
    await ask(provider)
    assert "tool" not in json.dumps(llmock.last_request.body)


@both
@pytest.mark.parametrize("closing", [False, True])
async def test_whoever_has_to_answer_without_tools_is_told_so_and_still_knows_them(
    llmock: Any, ask: Asked, provider: str, closing: bool
) -> None:
    turn = Turn("", (ToolCall("t1", "search", {}, "{}"),), (ToolAnswer("t1", "one document"),))
    await ask(provider, tools=(SEARCH,), turns=(turn,), closing=closing)
    body = llmock.last_request.body
    assert len(body["tools"]) == 1
    none = {"openai": "none", "anthropic": {"type": "none"}}[provider]
    assert body.get("tool_choice") == (none if closing else None)


def chunk(*calls: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": list(calls)}, "finish_reason": finish}]}


def heard(*events: dict[str, Any]) -> tuple[ToolCall, ...]:
    reader = OpenAIReader()
    for event in events:
        reader.feed(event)
    return reader.heard.calls


def test_calls_in_pieces_are_joined_by_their_index() -> None:
    calls = heard(
        chunk({"index": 0, "id": "a", "function": {"name": "search", "arguments": ""}}),
        chunk({"index": 1, "id": "b", "function": {"name": "search", "arguments": '{"query"'}}),
        chunk({"index": 0, "function": {"arguments": '{"query": "x"}'}}),
        chunk({"index": 1, "function": {"arguments": ': "y"}'}}, finish="tool_calls"),
    )
    assert [(call.id, call.arguments) for call in calls] == [("a", {"query": "x"}), ("b", {"query": "y"})]


def test_a_server_that_gives_no_index_and_whole_calls_is_understood() -> None:
    calls = heard(
        chunk({"id": "a", "function": {"name": "search", "arguments": '{"query": "x"}'}}),
        chunk({"id": "b", "function": {"name": "search", "arguments": {"query": "y"}}}),
        chunk(finish="stop"),
    )
    assert [call.arguments for call in calls] == [{"query": "x"}, {"query": "y"}]


def test_what_a_provider_adds_to_a_call_goes_back_with_it() -> None:
    signed = {"index": 0, "id": "a", "extra_content": {"google": {"thought_signature": "s"}}}
    [call] = heard(chunk(signed | {"function": {"name": "search", "arguments": "{}"}}, finish="tool_calls"))
    request = ModelRequest("gemini", "m", "p", turns=(Turn("", (call,), (ToolAnswer("a", "x"),), "hm"),))
    said = OpenAI().call(Provider("gemini", "openai"), "", request, frozenset()).body["messages"][1]
    assert said["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "s"}}
    assert said["reasoning_content"] == "hm"


def test_a_call_without_an_id_gets_one() -> None:
    assert [call.id for call in heard(chunk({"function": {"name": "search"}}, finish="tool_calls"))] == ["call_1"]


def test_blocks_of_input_are_joined_in_the_other_dialect() -> None:
    reader = AnthropicReader()
    block = {"type": "tool_use", "id": "t1", "name": "search", "input": {}}
    reader.feed({"type": "content_block_start", "index": 1, "content_block": block})
    for piece in ('{"que', 'ry": "x"}'):
        delta = {"type": "input_json_delta", "partial_json": piece}
        reader.feed({"type": "content_block_delta", "index": 1, "delta": delta})
    reader.feed({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    reader.feed({"type": "message_stop"})
    assert [(call.id, call.arguments) for call in reader.heard.calls] == [("t1", {"query": "x"})]
    assert reader.heard.finish == "tools"


def test_a_round_of_another_provider_can_be_continued() -> None:
    turn = Turn("", (ToolCall("call.1:x", "search", None, "{broken"),), (ToolAnswer("call.1:x", "no JSON", True),))
    request = ModelRequest("anthropic", "m", "p", turns=(turn,), tools=(ToolSpec("bare"),))
    body = Anthropic().call(Provider("anthropic", "anthropic"), "", request, frozenset()).body
    assert body["messages"][1]["content"] == [{"type": "tool_use", "id": "call_1_x", "name": "search", "input": {}}]
    [result] = body["messages"][2]["content"]
    assert (result["tool_use_id"], result["is_error"]) == ("call_1_x", True)
    assert body["tools"][0]["input_schema"] == {"type": "object"}


def test_a_key_that_an_endpoint_quotes_in_a_call_does_not_come_through() -> None:
    asked = heard(
        chunk(
            {"index": 0, "id": "a", "function": {"name": "send", "arguments": '{"k": "sk-test-0123456789abcdef"}'}},
            finish="tool_calls",
        )
    )
    clean = without_key(Heard(calls=asked, thoughts="it is sk-test-0123456789abcdef"), "sk-test-0123456789abcdef")
    assert clean.calls[0].arguments == {"k": "[secret]"}
    assert "sk-test" not in clean.calls[0].written + clean.thoughts
