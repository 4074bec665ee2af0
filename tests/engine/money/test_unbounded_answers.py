"""An answer that nobody bounds: what is set aside for it is as much as it may have, or it is asked for with a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.engine.money.gate import GatedModels
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.money.pricing import UNBOUNDED
from loop_ls.engine.providers import Providers
from tests.engine.money.paid_server import OUTPUT, PRICE, Answer, chunk, events, paid_server
from tests.engine.money.paid_server import prompt_of as sent

#: Dollars that an answer without a bound may cost, and a little for its question.
WHOLE = OUTPUT * UNBOUNDED / 1e6 + 1


def limit_of(request: dict[str, Any]) -> int | None:
    return request.get("max_tokens") or request.get("max_completion_tokens")


def thinking(request: dict[str, Any], number: int) -> Answer:
    """One word, behind as many thoughts as it may have."""
    got = min(limit_of(request) or UNBOUNDED, UNBOUNDED)
    report = {"choices": [], "usage": {"prompt_tokens": sent(request), "completion_tokens": got}}
    return Answer(events(chunk("word"), chunk(None, "stop"), report), sent(request), got)


def at_most(most: int, words: str) -> Callable[[dict[str, Any], int], Answer]:
    """A model that gives no longer answers, and refuses whoever asks for some."""

    def respond(request: dict[str, Any], number: int) -> Answer:
        if (limit_of(request) or 0) > most:
            return Answer(b'{"error": {"message": "%s"}}' % words.encode(), status=400, kind="application/json")
        return thinking(request, number)

    return respond


async def asked(url: str, cap: float, calls: int = 1, purpose: str = "step") -> tuple[list[object], GatedModels]:
    settings = {"house": {"kind": "openai", "baseUrl": f"{url}/v1", "price": PRICE}}
    house = Providers({})
    models = GatedModels(house.models(settings), Ledger(Caps(usd=cap)), settings, environ={})
    request = ModelRequest("house", "m", "Say a lot.", purpose=purpose)
    try:
        return await asyncio.gather(*(models.ask(request) for _ in range(calls)), return_exceptions=True), models
    finally:
        await house.aclose()


@pytest.mark.parametrize("purpose", ["step", "judge"])
@pytest.mark.parametrize("cap", [WHOLE * 2.5, WHOLE / 4, 1.5])
async def test_UP_46_calls_side_by_side_that_nobody_bounds_do_not_pass_the_cap(cap: float, purpose: str) -> None:
    async with paid_server(thinking) as account:
        found, _ = await asked(account.url, cap, 12, purpose)
        assert account.requests
        assert account.total <= cap
        assert all(isinstance(one, ModelReply | CapReached) for one in found)


async def test_an_answer_that_fits_whole_is_asked_for_without_a_limit() -> None:
    async with paid_server(thinking) as account:
        await asked(account.url, WHOLE)
        assert [limit_of(request) for request in account.requests] == [None]


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 16384. This model supports at most 5000 completion tokens",
        "This model's maximum context length is 8192 tokens. You requested 16384 for the completion",
    ],
)
async def test_a_model_that_takes_no_such_limit_is_asked_with_a_smaller_one(words: str) -> None:
    async with paid_server(at_most(5000, words)) as account:
        found, _ = await asked(account.url, WHOLE / 2)
        assert [request.get("max_tokens") for request in account.requests] == [16_384, 4_096]
        assert not isinstance(found[0], BaseException)


async def test_a_model_that_takes_no_limit_of_ours_is_refused_with_its_own_words() -> None:
    async with paid_server(at_most(5, "max_tokens has to be at most 5 tokens")) as account:
        found, models = await asked(account.url, WHOLE / 2)
        assert isinstance(found[0], ModelFailure) and "at most 5 tokens" in found[0].message
        assert len(account.requests) == 3
        assert models._ledger.own.left_usd == pytest.approx(WHOLE / 2)  # nothing is set aside any more


async def test_a_model_that_used_the_limit_up_is_not_asked_again() -> None:
    words = "Could not finish the message because max_tokens or model output limit was reached. Try higher max_tokens."
    async with paid_server(at_most(5, words)) as account:
        found, _ = await asked(account.url, WHOLE / 2)
        assert isinstance(found[0], ModelFailure)
        assert [limit_of(request) for request in account.requests] == [16_384]
