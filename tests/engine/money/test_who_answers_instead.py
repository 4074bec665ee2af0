"""A cap holds whoever answers: what the dearest of them may cost is set aside before the call."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.core.messages import ToolAnswer, ToolCall, ToolSpec, Turn
from loop_ls.engine.core.ports import EmbedRequest, ModelFailure, ModelRequest
from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.engine.money.gate import GatedModels
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.money.pricing import price_of
from loop_ls.testing.models import ScriptedModels

CHEAP = {"baseUrl": "https://a.example.org/v1", "price": {"input": 0, "output": 1}}
DEAR = {"baseUrl": "https://b.example.org/v1", "price": {"input": 0, "output": 1000}}


def gated(usd: float, **providers: Any) -> tuple[GatedModels, ScriptedModels]:
    door = ScriptedModels()
    return GatedModels(door, Ledger(Caps(usd=usd)), providers, environ={}), door


async def test_the_dearest_fallback_counts_before_the_call() -> None:
    request = ModelRequest("cheap", "m", "x", max_tokens=1000)
    models, door = gated(0.5, cheap=CHEAP)
    await models.ask(request)
    models, door = gated(0.5, cheap=CHEAP | {"fallback": ["dear/m"]}, dear=DEAR)
    with pytest.raises(CapReached):
        await models.ask(request)
    assert door.requests == []


async def test_a_fallback_without_a_price_is_refused_under_a_cap() -> None:
    models, door = gated(
        5, cheap=CHEAP | {"fallback": ["free-spirit"]}, **{"free-spirit": {"baseUrl": "https://x.test"}}
    )
    with pytest.raises(ModelFailure) as caught:
        await models.ask(ModelRequest("cheap", "m", "x", max_tokens=10))
    assert caught.value.code == "unknown_price"
    assert "`free-spirit`" in caught.value.message
    assert door.requests == []


async def test_what_tools_answered_is_sent_again_and_counts() -> None:
    sent = {"baseUrl": "https://a.example.org/v1", "price": {"input": 1000, "output": 0}}
    bare = ModelRequest("a", "m", "x", max_tokens=1, tools=(ToolSpec("t"),))
    models, _ = gated(1, a=sent)
    await models.ask(bare)
    long = Turn("", (ToolCall("1", "t", {}),), (ToolAnswer("1", "y" * 10_000),))
    models, door = gated(1, a=sent)
    with pytest.raises(CapReached):
        await models.ask(ModelRequest("a", "m", "x", max_tokens=1, tools=(ToolSpec("t"),), turns=(long,)))
    assert door.requests == []


async def test_vectors_pass_the_same_gate() -> None:
    models, door = gated(1, a={"baseUrl": "https://a.example.org/v1", "price": {"input": 1000, "output": 0}})
    await models.embed(EmbedRequest("a", ("short",), "m"))
    with pytest.raises(CapReached):
        await models.embed(EmbedRequest("a", ("y" * 10_000,), "m"))
    assert len(door.embedded) == 1


@pytest.mark.parametrize("price", [{}, {"input": 3}, {"input": -3, "output": -15}, {"input": 3, "outptu": 15}, "free"])
@pytest.mark.parametrize("url", ["https://x.example/v1", "http://127.0.0.1:9/v1"])
def test_a_faulty_price_is_unknown_wherever_the_provider_is(url: str, price: object) -> None:
    assert price_of("mine", "m", {"mine": {"kind": "openai", "baseUrl": url, "price": price}}, {}) is None
