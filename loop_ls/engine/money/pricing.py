"""What a call may cost at most, before it is made: a price, and bounds for its prompt and its answer.

Bounds are for tokens that nobody has counted yet: they err on the dear side, and the account is put right
by what the provider says afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loop_ls.engine.core.ports import Failure, ModelFailure, ModelRequest
from loop_ls.engine.core.price_table import Price, known_price, tokens_at_most
from loop_ls.engine.money.ledger import Cost
from loop_ls.engine.providers.config import configured
from loop_ls.engine.runners.resolve import is_agent, price_table, tells_cost
from loop_ls.text.json_value import Json

FREE = Price(0.0, 0.0)
#: Tokens that an answer has at most where nothing bounds it: as many as the longest that models give, their thoughts
#: included.
UNBOUNDED = 131_072
#: Where those do not fit any more, an answer may still be asked for with one of these as `max_tokens`, the largest that
#: fits: most answers are shorter, and one that is cut says so.
BOUNDED = (16_384, 4_096, 1_024)
BOUNDED_VERDICT = (16_384, 2_048, 512, 64)


def price_of(
    name: str, model: str, providers: Mapping[str, Json], environ: Mapping[str, str], mock: bool = False
) -> Price | None:
    """Dollars for a million tokens: of the settings, else of the table; what runs here is free. None:
    nobody knows. The table takes a tenth of a second to load the first time."""
    if mock:
        return FREE
    if is_agent(name, providers):
        return _price_of_agent(name, model, providers)
    try:
        provider = configured(name, providers, environ)
    except ModelFailure:
        return FREE  # it cannot be asked
    if provider.price is not None or provider.options.get("price") is not None:
        return provider.price  # a faulty one is unknown, wherever the provider is
    if provider.on_this_machine or provider.kind in ("local", "scripted"):
        return FREE
    return known_price(provider.prices, model or provider.default_model) if provider.prices else None


def _price_of_agent(name: str, model: str, providers: Mapping[str, Json]) -> Price | None:
    """Most agents say themselves what they have cost; of the others the table knows it, where their model is named."""
    own = providers.get(name)
    said = own.get("price") if isinstance(own, Mapping) else None
    written = Price.read(said)
    if said is not None and written is None:
        return None
    try:
        if written is not None or tells_cost(name, providers):
            return written or FREE
        table = price_table(name, providers)
    except Failure:
        return FREE  # it cannot be asked
    return known_price(table, model) if table and model else None


def offers(request: ModelRequest, prices: Sequence[Price]) -> list[tuple[int | None, Cost]]:
    """With which `max_tokens` the call may be made (None: as it is), and what it may cost then, whoever
    answers."""
    sent = sum(map(tokens_at_most, request.texts))
    bounds: list[tuple[int | None, int]]
    if request.max_tokens is not None:
        bounds = [(None, request.max_tokens)]
    else:
        limits = BOUNDED_VERDICT if request.purpose == "judge" else BOUNDED
        bounds = [(None, UNBOUNDED), *((limit, limit) for limit in limits)]
    return [(limit, Cost(max(price.usd(sent, most) for price in prices), sent + most)) for limit, most in bounds]
