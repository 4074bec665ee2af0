"""Vectors of texts: the endpoint of the dialect, its faults, its price, and providers that have none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.engine.core.ports import EmbedRequest, ModelFailure
from loop_ls.engine.providers import Providers
from tests.engine.providers.test_dialects import server

TEXTS = ("one", "two", "three")


def vectors(*numbers: Any, **more: Any) -> bytes:
    data = [{"index": n, "embedding": each} for n, each in enumerate(numbers)]
    return json.dumps({"data": data[::-1], "usage": {"prompt_tokens": 7}, **more}).encode()


async def embed(url: str, settings: dict[str, Any] | None = None, **more: Any) -> Any:
    house = Providers({})
    request = EmbedRequest("house", more.pop("texts", TEXTS), **{"model": "m", **more})
    try:
        return await house.models({"house": {"baseUrl": url, **(settings or {})}}).embed(request)
    finally:
        await house.aclose()


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    async with server(lambda sent: (200, "application/json", vectors([1, 0], [0, 1], [1, 1]))) as (url, seen):
        reply = await embed(url, {"price": {"input": 1_000_000, "output": 0}}, dimensions=2)
    assert reply.vectors == ([1, 0], [0, 1], [1, 1])
    assert (reply.input_tokens, reply.usd, reply.model) == (7, 7.0, "m")
    assert seen == [{"model": "m", "input": list(TEXTS), "encoding_format": "float", "dimensions": 2}]


async def test_the_encoding_is_passed_on() -> None:
    async with server(lambda sent: (200, "application/json", vectors("AACAPw=="))) as (url, seen):
        reply = await embed(url, texts=("one",), encoding="base64")
    assert reply.vectors == ("AACAPw==",)
    assert seen[0]["encoding_format"] == "base64"


async def test_without_a_model_the_providers_own_is_asked() -> None:
    async with server(lambda sent: (200, "application/json", vectors([1.0]))) as (url, seen):
        await embed(url, {"embeddingModel": "own"}, texts=("one",), model="", otherwise="chat")
        await embed(url, texts=("one",), model="", otherwise="chat")
    assert [each["model"] for each in seen] == ["own", "chat"]


@pytest.mark.parametrize(
    "body", [vectors([1], [2]), vectors([1], [2], []), vectors([1], [2], ["x"]), b"[]", b"nonsense", b'{"data": 3}']
)
async def test_anything_but_one_vector_for_each_text_is_a_bad_answer(body: bytes) -> None:
    async with server(lambda sent: (200, "application/json", body)) as (url, _):
        with pytest.raises(ModelFailure) as caught:
            await embed(url)
    assert caught.value.code == "bad_answer"


async def test_a_fault_that_passes_is_tried_again(llmock: Any, providers: Providers, soon: None) -> None:
    llmock.fail(500, retry_after=0.02)
    reply = await providers.models().embed(EmbedRequest("openai", TEXTS, "text-embedding-3-small"))
    assert len(reply.vectors) == 3
    assert reply.usd is not None


async def test_a_provider_without_vectors_says_who_has_some(providers: Providers) -> None:
    with pytest.raises(ModelFailure) as caught:
        await providers.models().embed(EmbedRequest("anthropic", TEXTS, "m"))
    assert "does not support embeddings" in caught.value.message
    assert "`openai`" in caught.value.hint


async def test_a_mock_run_makes_them_up_the_same_every_time() -> None:
    models = Providers({}).models(mock=True)
    one = await models.embed(EmbedRequest("anything", ("bread and butter", "bread and jam", "engine"), dimensions=64))
    assert one == await models.embed(
        EmbedRequest("anything", ("bread and butter", "bread and jam", "engine"), dimensions=64)
    )
    first, near, far = (vector for vector in one.vectors if isinstance(vector, list))
    assert sum(a * b for a, b in zip(first, near, strict=True)) > sum(a * b for a, b in zip(first, far, strict=True))
