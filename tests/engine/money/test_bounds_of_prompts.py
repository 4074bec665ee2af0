"""What is set aside for a prompt is a bound of it, whatever it is written in: not a guess from words."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.ports import EmbedRequest, ModelReply, ModelRequest
from loop_ls.engine.core.price_table import estimated, tokens_at_most
from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.engine.money.gate import GatedModels
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.providers import Providers
from tests.engine.money.paid_server import INPUT, PRICE, Answer, chunk, events, paid_server

#: Texts of which a byte may be a token of its own, and how many tokens they have then.
DENSE = {
    "digits": ("7" * 3000, 3000),
    "signs": ("{}[]();:" * 400, 3200),
    "mixed letters": ("qXzJkW" * 500, 3000),
    "a rare script": ("\U00012000" * 500, 2000),
    "signs outside of the first plane": ("🜁🝳" * 300, 2400),
    "half a character": ("\ud800" * 500, 1500),
}


@pytest.mark.parametrize("name", DENSE)
def test_no_prompt_has_more_tokens_than_are_set_aside_for_it(name: str) -> None:
    text, most = DENSE[name]
    assert tokens_at_most(text) >= most


@pytest.mark.parametrize("text", ["plain words of a prompt " * 50, "Wörter und Sätze " * 50, "漢字かな交じり文" * 50])
def test_what_nobody_counted_is_still_estimated_like_words(text: str) -> None:
    assert len(text) / 5 < estimated(text) < tokens_at_most(text)


def each_sign(request: dict[str, Any], number: int) -> Answer:
    """A model whose tokens are single bytes, as some are for digits."""
    sent = sum(len(str(one["content"]).encode()) for one in request["messages"])
    report = {"choices": [], "usage": {"prompt_tokens": sent, "completion_tokens": 1}}
    return Answer(events(chunk("word"), chunk(None, "stop"), report), sent, 1)


@pytest.mark.parametrize("name", ["digits", "signs", "a rare script"])
async def test_UP_46_a_cap_holds_for_prompts_that_are_no_words(name: str) -> None:
    text, most = DENSE[name]
    cap = most * INPUT / 1e6 * 2.5
    async with paid_server(each_sign) as account:
        settings = {"house": {"kind": "openai", "baseUrl": f"{account.url}/v1", "price": PRICE}}
        house = Providers({})
        models = GatedModels(house.models(settings), Ledger(Caps(usd=cap)), settings, environ={})
        found: list[ModelReply | CapReached] = []
        for _ in range(5):
            try:
                found.append(await models.ask(ModelRequest("house", "m", text, max_tokens=4)))
            except CapReached as reached:
                found.append(reached)
        await house.aclose()
        assert isinstance(found[0], ModelReply)
        assert isinstance(found[-1], CapReached)
        assert account.total <= cap


async def test_UP_46_vectors_of_digits_are_paid_within_the_cap() -> None:
    asked: list[int] = []

    class Vectors:
        def problem(self, name: str) -> None: ...

        async def embed(self, request: EmbedRequest, on_wait: object = None) -> Any:
            asked.append(sum(map(len, request.texts)))
            raise AssertionError("more than the cap was let through")

    settings = {"house": {"kind": "openai", "baseUrl": "https://house.test/v1", "price": PRICE}}
    models = GatedModels(Vectors(), Ledger(Caps(usd=2.0)), settings, environ={})  # type: ignore[arg-type]
    with pytest.raises(CapReached):
        await models.embed(EmbedRequest("house", ("7" * 2001,), model="m"))
    assert asked == []
