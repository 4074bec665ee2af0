"""What this product sends is what the services take; and the fake that says so refuses what they refuse."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from loop_ls.engine.core.messages import ToolAnswer, ToolCall, ToolSpec, Turn
from loop_ls.engine.core.ports import EmbedRequest, ModelRequest
from loop_ls.engine.providers import Providers, RunModels
from loop_ls.engine.providers.config import KINDS
from loop_ls.formats.settings.keys import PROVIDER_KINDS
from tests.engine.providers.support.recording_provider import Asks, RecordingProvider

KEY = "sk-made-up"
LOOK = ToolSpec("look", "Looks.", {"type": "object", "properties": {"at": {"type": "string"}}})
CALL = ToolCall("call_1", "look", {"at": "x"}, '{"at": "x"}')


def turn(call: ToolCall = CALL, text: str = "I look.", failed: bool = False, answer: str = "seen") -> Turn:
    return Turn(text, (call,), (ToolAnswer(call.id, answer, failed),))


#: What a run may ask. Each is to be taken by every service.
REQUESTS: dict[str, dict[str, Any]] = {
    "a prompt": {},
    "a system prompt": {"system": "You are brief."},
    "a temperature that only some take": {"temperature": 1.7},
    "a limit": {"max_tokens": 10},
    "a form of the answer": {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    "tools": {"tools": (LOOK,)},
    "a tool without a schema": {"tools": (ToolSpec("now"),)},
    "a tool that takes nothing": {"tools": (ToolSpec("now", "The time.", {"type": "object"}),)},
    "a round with a tool": {"tools": (LOOK,), "turns": (turn(),)},
    "two rounds": {"tools": (LOOK,), "turns": (turn(), turn(ToolCall("call_2", "look", {}), text=""))},
    "a tool that failed": {"tools": (LOOK,), "turns": (turn(failed=True),)},
    "a tool that said nothing": {"tools": (LOOK,), "turns": (turn(answer=""),)},
    "a round without words": {"tools": (LOOK,), "turns": (turn(text=" \n"),)},
    "a call that was no JSON": {
        "tools": (LOOK,),
        "turns": (turn(ToolCall("call_1", "look", None, "{at"), failed=True),),
    },
    "a call of another service": {
        "tools": (LOOK,),
        "turns": (turn(ToolCall(f"chatcmpl-tool-{'0' * 32}", "look", {})),),
    },
    "an odd id of another service": {"tools": (LOOK,), "turns": (turn(ToolCall("functions.look:0", "look", {})),)},
}


@pytest.fixture
def service() -> Iterator[RecordingProvider]:
    with RecordingProvider().serving() as made:
        yield made


@pytest.fixture
async def models(service: RecordingProvider) -> AsyncIterator[RunModels]:
    addresses = {"OPENAI_BASE_URL": f"{service.url}/v1", "ANTHROPIC_BASE_URL": service.url}
    providers = Providers({**addresses, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})
    yield providers.models()
    await providers.aclose()


@pytest.mark.parametrize("what", REQUESTS)
@pytest.mark.parametrize("name", ["openai", "anthropic"])
async def test_every_request_is_one_that_the_service_takes(
    service: RecordingProvider, models: RunModels, name: str, what: str
) -> None:
    service.answer = lambda request: "fine"
    heard: list[str] = []
    reply = await models.ask(ModelRequest(name, "m", "Do it.", **REQUESTS[what]), heard.append)
    assert service.refused == []
    assert (reply.text, "".join(heard)) == ("fine", "fine")
    assert (reply.input_tokens, reply.output_tokens) == (100, 7)
    assert len(service.requests) == 1


@pytest.mark.parametrize("name", ["openai", "anthropic"])
async def test_a_call_of_a_tool_can_be_answered_in_the_next_round(
    service: RecordingProvider, models: RunModels, name: str
) -> None:
    service.answer = lambda request: "done" if request.results else Asks("look", {"at": "ü"})
    asked = await models.ask(ModelRequest(name, "m", "Look.", tools=(LOOK,)))
    [call] = asked.calls
    assert (asked.finish, call.name, call.arguments) == ("tools", "look", {"at": "ü"})
    answered = Turn(asked.text, asked.calls, (ToolAnswer(call.id, "seen"),))
    reply = await models.ask(ModelRequest(name, "m", "Look.", tools=(LOOK,), turns=(answered,)))
    assert (reply.text, service.requests[-1].results, service.refused) == ("done", ["seen"], [])


async def test_vectors_are_asked_as_the_service_takes_it(service: RecordingProvider, models: RunModels) -> None:
    reply = await models.embed(EmbedRequest("openai", ("one", "two"), "text-embedding-3-small", dimensions=8))
    assert service.refused == []
    assert [len(vector) for vector in reply.vectors] == [8, 8]


USER = {"role": "user", "content": "hi"}
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "seen"}
CALLED = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
MESSAGES: dict[str, Any] = {"model": "m", "max_tokens": 5, "messages": [USER]}
CHAT: dict[str, Any] = {"model": "m", "messages": [USER]}


def said(*blocks: Any, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


#: Path, body, part of the sentence with which the service refuses it.
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "no limit": ("/v1/messages", {"model": "m", "messages": [USER]}, "max_tokens"),
    "no model": ("/v1/messages", {"max_tokens": 5, "messages": [USER]}, "model: Field required"),
    "no message": ("/v1/messages", {**MESSAGES, "messages": []}, "at least one message"),
    "an unknown key": ("/v1/messages", {**MESSAGES, "n": 1}, "Extra inputs"),
    "too warm": ("/v1/messages", {**MESSAGES, "temperature": 1.5}, "temperature"),
    "an assistant first": ("/v1/messages", {**MESSAGES, "messages": [said(USE)]}, "first message"),
    "a system message": ("/v1/messages", {**MESSAGES, "messages": [USER, {"role": "system", "content": "x"}]}, "role"),
    "an empty text": (
        "/v1/messages",
        {**MESSAGES, "messages": [said({"type": "text", "text": ""}, role="user")]},
        "non-empty",
    ),
    "an unanswered call": ("/v1/messages", {**MESSAGES, "messages": [USER, said(USE), USER]}, "tool_result"),
    "an answer to nobody": ("/v1/messages", {**MESSAGES, "messages": [said(RESULT, role="user")]}, "unexpected"),
    "an answer after a text": (
        "/v1/messages",
        {**MESSAGES, "messages": [USER, said(USE), said({"type": "text", "text": "x"}, RESULT, role="user")]},
        "come first",
    ),
    "an id with a dot": (
        "/v1/messages",
        {
            **MESSAGES,
            "messages": [USER, said({**USE, "id": "a.b"}), said({**RESULT, "tool_use_id": "a.b"}, role="user")],
        },
        "pattern",
    ),
    "a tool without a type": (
        "/v1/messages",
        {**MESSAGES, "tools": [{"name": "a", "input_schema": {}}]},
        "input_schema",
    ),
    "a chat without a model": ("/v1/chat/completions", {"messages": [USER]}, "model parameter"),
    "a chat with an unknown key": ("/v1/chat/completions", {**CHAT, "top_k": 1}, "Unrecognized"),
    "both limits": ("/v1/chat/completions", {**CHAT, "max_tokens": 1, "max_completion_tokens": 1}, "same time"),
    "usage without a stream": ("/v1/chat/completions", {**CHAT, "stream_options": {}}, "stream"),
    "no tools": ("/v1/chat/completions", {**CHAT, "tools": []}, "too short"),
    "a tool without properties": (
        "/v1/chat/completions",
        {**CHAT, "tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}]},
        "properties",
    ),
    "a name with a dot": (
        "/v1/chat/completions",
        {**CHAT, "tools": [{**TOOL, "function": {**TOOL["function"], "name": "a.b"}}]},
        "pattern",
    ),
    "an unanswered call of a chat": (
        "/v1/chat/completions",
        {**CHAT, "messages": [USER, {"role": "assistant", "tool_calls": [CALLED]}, USER]},
        "must be followed",
    ),
    "an answer to nobody in a chat": (
        "/v1/chat/completions",
        {**CHAT, "messages": [USER, {"role": "tool", "tool_call_id": "c1", "content": "x"}]},
        "preceding",
    ),
    "no calls in a list": (
        "/v1/chat/completions",
        {**CHAT, "messages": [USER, {"role": "assistant", "content": "x", "tool_calls": []}]},
        "empty array",
    ),
    "a long id": (
        "/v1/chat/completions",
        {**CHAT, "messages": [USER, {"role": "assistant", "tool_calls": [{**CALLED, "id": "c" * 41}]}]},
        "maximum length 40",
    ),
    "empty text for vectors": ("/v1/embeddings", {"model": "m", "input": [""]}, "input"),
    "no such path": ("/v1/nowhere", CHAT, "Unknown request URL"),
}


def post(url: str, body: dict[str, Any], **headers: str) -> tuple[int, str]:
    usual = {"content-type": "application/json", "authorization": "Bearer k", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(url, json.dumps(body).encode(), {**usual, **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize("why", REFUSED)
def test_the_fake_refuses_what_the_service_refuses(service: RecordingProvider, why: str) -> None:
    path, body, sentence = REFUSED[why]
    status, told = post(service.url + path, body)
    assert 400 <= status < 500
    assert sentence in told
    assert service.requests == []


def test_the_fake_takes_what_the_service_takes_and_asks_for_headers(service: RecordingProvider) -> None:
    assert post(f"{service.url}/v1/messages", MESSAGES)[0] == 200
    assert post(f"{service.url}/v1/chat/completions", CHAT)[0] == 200
    assert post(f"{service.url}/v1/chat/completions", CHAT, authorization="")[0] == 401
    assert post(f"{service.url}/v1/messages", MESSAGES, authorization="")[0] == 401
    assert post(f"{service.url}/v1/messages", MESSAGES, **{"content-type": "text/plain"})[0] == 415
    assert len(service.requests) == 2


def test_settings_may_say_every_kind_of_service_that_can_be_asked() -> None:
    assert set(PROVIDER_KINDS) - {"agent-cli"} == set(KINDS)
