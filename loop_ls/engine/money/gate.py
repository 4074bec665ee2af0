"""The one door to paid models: nobody is asked before what the answer may cost is set aside.

Knows prices and the account of the run, no provider. A run without caps passes at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from loop_ls.engine.money.ledger import Cost, Hold, Ledger
from loop_ls.engine.money.pricing import offers, price_of, tokens_at_most
from loop_ls.engine.plan import Door
from loop_ls.engine.ports import EmbedReply, EmbedRequest, ModelFailure, ModelReply, ModelRequest, Waiting
from loop_ls.engine.prices import Price
from loop_ls.engine.providers.config import fallbacks
from loop_ls.engine.runners.choosing import is_agent
from loop_ls.formats.target import Target

#: Failures after which nobody knows what the provider will charge: what was heard is counted.
PAID_IN_VAIN = frozenset({"truncated", "timeout", "empty", "bad_answer"})


class GatedModels:
    """`plan.Door` under the caps of a run. `providers` is that section of its settings."""

    def __init__(
        self,
        door: Door,
        ledger: Ledger,
        providers: Mapping[str, Any],
        mock: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._door, self._ledger, self._providers, self._mock = door, ledger, providers, mock
        self._environ = os.environ if environ is None else environ

    def problem(self, name: str) -> ModelFailure | None:
        return self._door.problem(name)

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        """Raises `CapReached` where no answer fits into what is left."""
        caps = self._ledger.caps
        if caps.usd is None and caps.tokens is None:
            return await self._door.ask(request, on_text, on_wait)
        if not self._mock and is_agent(request.provider, self._providers):
            return await self._agent(request, on_text, on_wait)
        price = await self._price(request)
        choice = offers(request, price)
        number, hold = await self._ledger.hold([cost for _, cost in choice])
        limit = choice[number][0]
        asked = request if limit is None else replace(request, max_tokens=limit)
        return await self._held(asked, price, hold, on_text, on_wait)

    async def embed(self, request: EmbedRequest, on_wait: Callable[[Waiting], None] | None = None) -> EmbedReply:
        """Vectors cost what is sent, and nothing more. Raises `CapReached`."""
        caps = self._ledger.caps
        if caps.usd is None and caps.tokens is None:
            return await self._door.embed(request, on_wait)
        price = await self._price(request)
        sent = sum(map(tokens_at_most, request.texts))
        _, hold = await self._ledger.hold([Cost(price.usd(sent, 0), sent)])
        paid: Cost | None = None
        try:
            reply = await self._door.embed(request, on_wait)
            paid = Cost(reply.usd or 0.0, reply.input_tokens)
            return reply
        finally:
            self._ledger.settle(hold, paid)

    async def _agent(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None,
        on_wait: Callable[[Waiting], None] | None,
    ) -> ModelReply:
        """Nobody can bound what an agent costs: it works alone, and is told what is left."""
        hold = await self._ledger.hold_rest()
        budget = None if self._ledger.caps.usd is None else hold.most.usd
        paid: Cost | None = None
        try:
            reply = await self._door.ask(replace(request, budget_usd=budget), on_text, on_wait)
            paid = Cost(reply.usd or 0.0, reply.input_tokens + reply.output_tokens)
            return reply
        finally:
            self._ledger.settle(hold, paid)

    async def _held(
        self,
        request: ModelRequest,
        price: Price,
        hold: Hold,
        on_text: Callable[[str], None] | None,
        on_wait: Callable[[Waiting], None] | None,
    ) -> ModelReply:
        heard: list[str] = []

        def hear(text: str) -> None:
            heard.append(text)
            if on_text is not None:
                on_text(text)

        paid: Cost | None = None
        try:
            reply = _counted(await self._door.ask(request, hear, on_wait), request, price)
            paid = Cost(reply.usd or 0.0, reply.input_tokens + reply.output_tokens)
            return reply
        except ModelFailure as failure:
            if failure.code in PAID_IN_VAIN:
                paid = _told(failure, request, price, "".join(heard))
            raise
        except asyncio.CancelledError:  # given up on our side; the provider goes on and will charge it
            paid = _estimated(request, price, "".join(heard))[1]
            raise
        finally:
            self._ledger.settle(hold, paid)

    async def _price(self, request: ModelRequest | EmbedRequest) -> Price:
        """The dearest of all that may answer: the provider, and those that are asked in its place."""
        targets = [Target(request.provider, request.model)]
        if isinstance(request, ModelRequest) and not self._mock:
            targets += fallbacks(request.provider, self._providers)
        prices = [await self._price_of(target, request) for target in targets]
        return Price(max(price.input for price in prices), max(price.output for price in prices))

    async def _price_of(self, target: Target, request: ModelRequest | EmbedRequest) -> Price:
        args = (target.provider, target.model, self._providers, self._environ, self._mock)
        price = await asyncio.to_thread(price_of, *args)
        if price is not None:
            return price
        if self._ledger.caps.usd is None:
            return Price(0.0, 0.0)  # tokens are counted whatever they cost
        raise ModelFailure(
            "unknown_price",
            f"nobody knows what `{target.model}` of `{target.provider}` costs, so `budgetUsd` could not hold",
            f"Give `providers.{target.provider}.price`, such as {{input: 3, output: 15}}.",
            provider=request.provider,
            model=request.model,
        )


def _counted(reply: ModelReply, request: ModelRequest, price: Price) -> ModelReply:
    """A provider that does not count tokens is counted for: a cap must not hang on its kindness."""
    if not reply.input_tokens and not reply.output_tokens:
        sent, got = sum(map(tokens_at_most, request.texts)) // 2, tokens_at_most(reply.text) // 2
        reply = replace(reply, input_tokens=sent, output_tokens=got)
    usd = price.usd(reply.input_tokens, reply.output_tokens)
    return replace(reply, usd=usd) if reply.usd is None else reply


def _told(failure: ModelFailure, request: ModelRequest, price: Price, heard: str) -> Cost:
    """The call was lost and will be charged all the same: about what was sent and heard, in its record."""
    spent, cost = _estimated(request, price, heard)
    failure.details["spent"] = spent
    return cost


def _estimated(request: ModelRequest, price: Price, heard: str) -> tuple[dict[str, Any], Cost]:
    sent, got = sum(map(tokens_at_most, request.texts)) // 2, tokens_at_most(heard) // 2 if heard else 0
    usd = price.usd(sent, got)
    return {"tokens": {"input": sent, "output": got}, "usd": usd}, Cost(usd, sent + got)
