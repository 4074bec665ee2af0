"""Vectors of texts over HTTP: the embeddings endpoint of the OpenAI dialect.

One attempt of one call, like `http`; retrying is `retry`'s.
"""

from __future__ import annotations

import hashlib
import math
import time

from loop_ls.engine.core.ports import EmbedReply, EmbedRequest, ModelFailure
from loop_ls.engine.core.price_table import tokens
from loop_ls.engine.providers import failures
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.http import HttpModels
from loop_ls.text.json_value import JsonObject


async def vectors(http: HttpModels, request: EmbedRequest) -> EmbedReply:
    """Raises `ModelFailure`."""
    provider = http.provider
    if provider.kind == "anthropic":
        raise no_vectors(provider, request.model)
    body: JsonObject = {"model": request.model, "input": list(request.texts), "encoding_format": request.encoding}
    if request.dimensions is not None:
        body["dimensions"] = request.dimensions
    began = time.perf_counter()
    answer = await http.post("/embeddings", body, request.model, request.timeout)
    found = _in_order(answer.get("data"))
    if len(found) != len(request.texts):
        told = f"{len(found)} vectors for {len(request.texts)} texts"
        raise failures.unreadable(provider, request.model, told)
    usage = answer.get("usage")
    counted = tokens(usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    return EmbedReply(
        tuple(found), provider.name, request.model, input_tokens=counted or 0, duration=time.perf_counter() - began
    )


def no_vectors(provider: Provider, model: str) -> ModelFailure:
    return ModelFailure(
        "bad_request",
        f"Provider `{provider.name}` does not support embeddings.",
        "Set another `provider` in the step, such as `openai`, `ollama` or `local`.",
        provider=provider.name,
        model=model,
        details={"final": True},
    )


def _in_order(data: object) -> list[list[float] | str]:
    """The vectors by their index; what is none ends the list, so that the count is wrong."""
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        return []
    placed = sorted(enumerate(data), key=lambda pair: pair[1].get("index", pair[0]))
    found = [each.get("embedding") for _, each in placed]
    return [each for each in found if isinstance(each, str) or _is_vector(each)]


def _is_vector(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, int | float) for each in value)


#: Numbers in a vector that nobody asked for in another size.
MADE_UP = 16


def made_up(request: EmbedRequest) -> EmbedReply:
    """Vectors without a model, the same every time: what shares words is near. For mock runs and scripts."""
    size = request.dimensions or MADE_UP
    found = tuple(_of_words(text, size) for text in request.texts)
    tokens = sum(len(text) for text in request.texts) // 4
    return EmbedReply(found, request.provider, request.model or "made-up", input_tokens=tokens, usd=0.0)


def _of_words(text: str, size: int) -> list[float] | str:
    counts = [0.0] * size
    for word in text.lower().split():
        counts[int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:4], "big") % size] += 1.0
    length = math.sqrt(sum(count * count for count in counts)) or 1.0
    return [round(count / length, 6) for count in counts]
