"""Asking for vectors: some texts at a time, every answer recorded once.

A failed call is an answer too: it is kept, so a replay does not pay for it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import NamedTuple, TypedDict, final

from loop_ls.contract.facts.kinds import Call, Retrying, Tokens
from loop_ls.contract.facts.payload import Error, Fact
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import EmbedRequest, Failure, ModelFailure, Models, Recorder, Waiting
from loop_ls.engine.model_calls.ask import FailedCall, facts_of_failed, failed_call, parked_or_ended
from loop_ls.engine.model_calls.recorded_bill import recorded_bill

#: Texts in one call: what every provider takes.
AT_ONCE = 64


@final
class Vectors(TypedDict):
    """Vectors of some texts in the record; `tokens` are those of the texts, `duration` in seconds."""

    vectors: list[list[float] | str]
    provider: str
    model: str
    tokens: int
    usd: float | None
    duration: float


class Embedded(NamedTuple):
    """A vector for each text, and who made them."""

    vectors: list[list[float] | str]
    provider: str
    model: str


async def embed(
    request: EmbedRequest,
    place: Place,
    key: str,
    models: Models,
    recorder: Recorder,
    before: Sequence[Fact] = (),
) -> Embedded:
    """Vectors of all texts of the request, in order. Raises `Failure`."""
    found = Embedded([], request.provider, request.model)
    for number, start in enumerate(range(0, len(request.texts), AT_ONCE)):
        part = replace(request, texts=request.texts[start : start + AT_ONCE])
        own = key if number == 0 else f"{key}.{number + 1}"
        answer = await _answered(part, place, own, models, recorder, before if number == 0 else ())
        found = Embedded([*found.vectors, *answer["vectors"]], answer["provider"], answer["model"])
    return found


async def _answered(
    request: EmbedRequest, place: Place, first: str, models: Models, recorder: Recorder, before: Sequence[Fact]
) -> Vectors:
    key = first
    for again in count(1):
        answer = await recorder.call(
            key,
            partial(_asked, request, place, key, models, recorder),
            lambda answer: _facts(place, request.purpose, answer),
            before if again == 1 else (),
        )
        if "error" not in answer:
            return answer
        error = answer["error"]
        failure = Failure(
            error["code"], error["message"], error.get("hint", ""), place=place.key, until=error.get("until")
        )
        await parked_or_ended(failure, recorder, f"{key}:wait-for-reset")
        key = f"{first}@{again + 1}"
    raise AssertionError("counting does not end")


async def _asked(
    request: EmbedRequest, place: Place, key: str, models: Models, recorder: Recorder
) -> Vectors | FailedCall:
    notes: list[asyncio.Future[None]] = []

    def on_wait(wait: Waiting) -> None:
        fact = Retrying(attempt=wait.attempt, because=Error(code="waiting", message=wait.because), delay=wait.delay)
        notes.append(asyncio.ensure_future(recorder.record(f"{key}:wait{wait.attempt}", [fact.fact(place)])))

    try:
        async with recorded_bill(recorder, key, place, request.purpose) as bill:
            reply = await models.embed(replace(request, bill=bill), on_wait)
    except ModelFailure as failure:
        return failed_call(failure, request)
    finally:
        await asyncio.gather(*notes)
    return {
        "vectors": list(reply.vectors),
        "provider": reply.provider,
        "model": reply.model,
        "tokens": reply.input_tokens,
        "usd": reply.usd,
        "duration": reply.duration,
    }


def _facts(place: Place, purpose: str, answer: Vectors | FailedCall) -> list[Fact]:
    if "error" in answer:
        return facts_of_failed(answer, place, purpose)
    call = Call(
        provider=answer["provider"],
        model=answer["model"],
        purpose=purpose,
        tokens=Tokens(input=answer["tokens"]),
        usd=answer["usd"],
        duration=answer["duration"],
    )
    return [call.fact(place)]
