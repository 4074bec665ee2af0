"""The money gate: all paid models behind it; nobody is asked before what the answer may cost is set aside.

Knows prices and the account of the run, no provider. A run without caps passes at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import replace

from loop_ls.engine.core.plan import ModelAccess
from loop_ls.engine.core.ports import (
    EmbedReply,
    EmbedRequest,
    ModelFailure,
    ModelReply,
    ModelRequest,
    Waiting,
)
from loop_ls.engine.core.price_table import Price, Usage, booked, tokens_at_most
from loop_ls.engine.money.accounts import Accounts, Paid, ReservationBill, SharedReservation
from loop_ls.engine.money.ledger import Cost, Ledger
from loop_ls.engine.money.pricing import offers, price_of
from loop_ls.engine.providers.config import fallbacks
from loop_ls.engine.providers.dialects.dialect import OUT_OF_BOUNDS
from loop_ls.engine.runners.resolve import is_agent
from loop_ls.formats.common.target import Target
from loop_ls.text.json_value import Json


class GatedModels:
    """`plan.ModelAccess` under the caps of a run. `providers` is that section of its settings."""

    def __init__(
        self,
        models: ModelAccess,
        ledger: Ledger | Accounts,
        providers: Mapping[str, Json],
        mock: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._ledger = Accounts(ledger) if isinstance(ledger, Ledger) else ledger
        self._models, self._providers, self._mock = models, providers, mock
        self._environ = os.environ if environ is None else environ

    def problem(self, name: str) -> ModelFailure | None:
        return self._models.problem(name)

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        """Raises `CapReached` where no answer fits into what is left."""
        if not self._ledger.capped:
            return await self._models.ask(request, on_text, on_wait)
        if not self._mock and is_agent(request.provider, self._providers):
            return await self._agent(request, on_text, on_wait)
        prices = await self._prices(request)
        choice = offers(request, prices)
        while True:
            number, hold = await self._ledger.hold([cost for _, cost in choice])
            limit, choice = choice[number][0], choice[number + 1 :]
            try:
                return await self._held(request, limit, hold, prices, on_text, on_wait)
            except ModelFailure as failure:
                if limit is None or not choice or not _too_long(failure):
                    raise

    async def _held(
        self,
        request: ModelRequest,
        limit: int | None,
        hold: SharedReservation,
        prices: list[Price],
        on_text: Callable[[str], None] | None,
        on_wait: Callable[[Waiting], None] | None,
    ) -> ModelReply:
        """The reply to a call for which something is set aside: it is bounded by `limit`, where that was not all."""
        asked = request if limit is None else replace(request, max_tokens=limit)
        paid: Paid | None = None
        try:
            reply = await self._models.ask(
                replace(asked, bill=ReservationBill(self._ledger, hold, prices, request.bill)), on_text, on_wait
            )
            reply = _counted(reply, request, prices)
            paid = reply.usd, reply.input_tokens + reply.output_tokens
            return reply
        finally:
            self._ledger.settle(hold, paid)

    async def embed(self, request: EmbedRequest, on_wait: Callable[[Waiting], None] | None = None) -> EmbedReply:
        """Vectors cost what is sent, and nothing more. Raises `CapReached`."""
        if not self._ledger.capped:
            return await self._models.embed(request, on_wait)
        prices = await self._prices(request)
        sent = sum(map(tokens_at_most, request.texts))
        _, hold = await self._ledger.hold([Cost(max(price.usd(sent, 0) for price in prices), sent)])
        paid: Paid | None = None
        try:
            reply = await self._models.embed(
                replace(request, bill=ReservationBill(self._ledger, hold, prices, request.bill)), on_wait
            )
            paid = reply.usd, reply.input_tokens
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
        async with self._ledger.unbounded(request.bill, await self._prices(request)) as allowed:
            asked = replace(request, budget_usd=allowed.usd, bill=allowed.bill)
            reply = await self._models.ask(asked, on_text, on_wait)
            return replace(reply, usd=allowed.told(reply.usd, reply.input_tokens + reply.output_tokens))

    async def _prices(self, request: ModelRequest | EmbedRequest) -> list[Price]:
        """Of all that may answer: the provider, and those that are asked in its place."""
        targets = [Target(request.provider, request.model)]
        if isinstance(request, ModelRequest) and not self._mock:
            targets += fallbacks(request.provider, self._providers)
        return [await self._price_of(target, request) for target in targets]

    async def _price_of(self, target: Target, request: ModelRequest | EmbedRequest) -> Price:
        args = (target.provider, target.model, self._providers, self._environ, self._mock)
        price = await asyncio.to_thread(price_of, *args)
        if price is not None:
            return price
        if self._ledger.unknown_price is not None:
            return self._ledger.unknown_price
        raise ModelFailure(
            "unknown_price",
            f"unknown price for `{target.model}` of `{target.provider}`, so `budgetUsd` cannot be enforced",
            f"Set `providers.{target.provider}.price`, e.g. {{input: 3, output: 15}}.",
            provider=request.provider,
            model=request.model,
        )


def _too_long(failure: ModelFailure) -> bool:
    """Whether a model gives shorter answers only than the limit that we set. One that used the limit up and says so
    has been paid: it is asked no second time."""
    said = str(failure.details.get("said", "")).lower()
    return failure.code == "bad_request" and "token" in said and OUT_OF_BOUNDS.search(said) is not None


def _counted(reply: ModelReply, request: ModelRequest, prices: list[Price]) -> ModelReply:
    """Whoever answers without a count or a price is counted for: a cap must not hang on its kindness. Where nobody
    knows its price, the account says what it counts for."""
    if reply.usd is not None or any(price.call is not None for price in prices):
        return reply
    usage = Usage(reply.input_tokens, reply.output_tokens)
    costs = [booked(usage, price, request.texts, [reply.text]) for price in prices]
    dearest = max(costs, key=lambda cost: cost.usd or 0.0)
    return replace(reply, input_tokens=dearest.input, output_tokens=dearest.output, usd=dearest.usd)
