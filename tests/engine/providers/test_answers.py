"""Whole answers in both dialects: text, stream, usage, price."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.providers import Providers
from tests.engine.providers.conftest import KEY, MODELS, Asked

both = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@both
async def test_the_answer_is_streamed_and_whole(llmock: Any, ask: Asked, provider: str) -> None:
    llmock.reply("one two three four")
    reply = await ask(provider)
    assert reply.text == "one two three four"
    assert len(ask.heard) > 1
    assert "".join(ask.heard) == reply.text
    assert (reply.provider, reply.model, reply.finish) == (provider, MODELS[provider], "stop")
    assert reply.response_id
    assert 0 < reply.duration < 60


@both
async def test_tokens_and_price_are_known(llmock: Any, ask: Asked, provider: str, monkeypatch: Any) -> None:
    # The fake listens on this machine, where use is free; the price is that of the real place.
    monkeypatch.setattr("loop_ls.engine.providers.config.Provider.on_this_machine", False)
    llmock.reply("word " * 50)
    reply = await ask(provider)
    assert reply.input_tokens > 0
    assert reply.output_tokens > 10
    assert reply.usd is not None and 0 < reply.usd < 0.01


async def test_the_price_of_the_settings_wins(llmock: Any, providers: Providers) -> None:
    llmock.reply("word " * 50)
    ask = Asked(providers.models({"openai": {"price": {"input": 1_000_000, "output": 0}}}))
    reply = await ask()
    assert reply.usd == reply.input_tokens


async def test_a_model_nobody_knows_has_no_price(llmock: Any, ask: Asked, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.config.Provider.on_this_machine", False)
    assert (await ask(model="made-up-model-7")).usd is None


@both
async def test_the_request_says_what_the_workflow_says(llmock: Any, ask: Asked, provider: str) -> None:
    await ask(provider, "Question?", system="Be brief.", temperature=0.2, max_tokens=77)
    sent = llmock.last_request.body
    assert sent["temperature"] == 0.2
    assert sent["stream"] is True
    assert sent.get("max_tokens") == 77 or sent.get("max_completion_tokens") == 77
    assert sent["messages"][-1] == {"role": "user", "content": "Question?"}
    assert "Be brief." in str(sent.get("system") or sent["messages"][0]["content"])


async def test_anthropic_takes_temperatures_up_to_one(llmock: Any, ask: Asked) -> None:
    await ask("anthropic", temperature=1.7)
    assert llmock.last_request.body["temperature"] == 1.0


async def test_an_answer_that_max_tokens_ended_says_so(llmock: Any, ask: Asked) -> None:
    from llmock.scenarios import Reply

    llmock.add(Reply(text="half a", finish_reason="length"))
    assert (await ask(max_tokens=2)).finish == "length"


async def test_any_base_url_works_with_a_key_of_its_own(llmock: Any) -> None:
    house = Providers({"HOUSE_KEY": KEY})
    settings = {"house": {"baseUrl": llmock.base_url("openai"), "apiKeyEnv": "HOUSE_KEY"}}
    llmock.reply("at home")
    assert (await Asked(house.models(settings))("house")).text == "at home"
    await house.aclose()


async def test_parallel_calls_do_not_mix(llmock: Any, ask: Asked) -> None:
    import asyncio

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(prompt=f"Question {n}")) for n in range(20)]
    assert len({task.result().response_id for task in tasks}) == 20
    assert sorted(r.body["messages"][0]["content"] for r in llmock.requests) == sorted(
        f"Question {n}" for n in range(20)
    )
