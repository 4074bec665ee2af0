"""What a call costs: one function books every attempt, from what was heard, what was asked and the price.

Prices are those of the settings, else of the offline table of genai-prices, which is loaded on first use
(a tenth of a second), never at start. A price that nobody knows is None, and is shown as unknown rather
than as nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from loop_ls.formats.settings.price import price_faults
from loop_ls.text.json_value import as_object, float_field
from loop_ls.text.record import equal_record

MILLION = 1_000_000
#: No call has more tokens, and no call costs more dollars: what says so is no count and no bill.
MOST_TOKENS, MOST_USD = 100 * MILLION, MILLION
#: Tokens that a service may put around each text: who says it, where it begins and ends.
FRAME = 20
#: What a cached token costs, in prices of an input token, where only that price is known. Reading one is
#: cheaper in truth, but how much differs between services.
CACHE_READ, CACHE_WRITE = 1.0, 1.25
#: The same for a token that is kept for an hour, which no table tells apart.
CACHE_WRITE_HOUR = 2.0


@equal_record
class Usage:
    """What a provider says that one answer took. None: it did not say. `input` holds the cached tokens
    too, `output` the reasoning; `cache_hour` is the part of `cache_write` that is kept for an hour.
    `billed`: dollars, from services that charge what they say."""

    input: int | None = None
    output: int | None = None
    cache_read: int = 0
    cache_write: int = 0
    billed: float | None = None
    cache_hour: int = 0

    def joined(self, other: Usage) -> Usage:
        """With a later report of the same answer: counts only grow, and some reports leave some out."""
        return Usage(
            _larger(self.input, other.input),
            _larger(self.output, other.output),
            max(self.cache_read, other.cache_read),
            max(self.cache_write, other.cache_write),
            other.billed if self.billed is None else self.billed,
            max(self.cache_hour, other.cache_hour),
        )


@equal_record
class Price:
    """US dollars for a million tokens, as written in settings: `price: {input: 3, output: 15}`.

    With `table` and `model`, what the price table says of a call: long prompts and cached tokens have
    prices of their own there. `call`: nobody knows the price, and each call counts for so much."""

    input: float
    output: float
    table: str = ""
    model: str = ""
    call: float | None = None

    @staticmethod
    def read(value: object) -> Price | None:
        """None for everything but two amounts: half a price would make the rest free."""
        told = as_object(value)
        sent, got = float_field(told, "input"), float_field(told, "output")
        return None if any(price_faults(value)) or sent is None or got is None else Price(sent, got)

    def usd(
        self, input_tokens: int, output_tokens: int, cache_read: int = 0, cache_write: int = 0, cache_hour: int = 0
    ) -> float:
        if self.call is not None:
            return self.call
        input_tokens = max(input_tokens, cache_read + cache_write)  # what came from a cache was sent, whatever is told
        for_an_hour = self.input * (CACHE_WRITE_HOUR - CACHE_WRITE) * cache_hour / MILLION
        if self.table:
            told = _by_table(self.table, self.model, input_tokens, output_tokens, cache_read, cache_write)
            return told + for_an_hour
        plain = input_tokens - cache_read - cache_write
        sent = plain + CACHE_READ * cache_read + CACHE_WRITE * cache_write
        return (self.input * sent + self.output * output_tokens) / MILLION + for_an_hour


@equal_record
class AttemptCost:
    """What one attempt goes into the account with. `usd` is None where no price is known."""

    input: int
    output: int
    usd: float | None


def booked(
    usage: Usage, price: Price | None, sent: Iterable[str], heard: Iterable[str], whole: bool = True
) -> AttemptCost:
    """The cost of one attempt: reported tokens, else an estimate of each side that was not reported.

    `sent` and `heard` are all texts of both sides, thoughts and calls of tools included. Not `whole`: the
    provider's count of its output is from before its end."""
    got = usage.output or 0
    if not got or not whole:
        got = max(got, sum(map(estimated, heard)))
    read, written = max(0, usage.cache_read), max(0, usage.cache_write)
    hour = min(max(0, usage.cache_hour), written)
    asked = max(usage.input or sum(map(estimated, sent)), read + written)
    if usage.billed is not None:
        return AttemptCost(asked, got, usage.billed)
    return AttemptCost(asked, got, None if price is None else price.usd(asked, got, read, written, hour))


def amounts(price: Price | None) -> tuple[float, float] | None:
    return None if price is None else (price.input, price.output)


def tokens_at_most(text: str) -> int:
    """A bound of a prompt's tokens, whatever it holds and whichever model reads it: a token is a byte at least. Words
    have four, but digits, rare scripts and noise do not, and what is set aside for a call has to hold for them."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return size + FRAME


def estimated(text: str) -> int:
    """About the tokens of a text that nobody has counted."""
    if not text:
        return 0
    plain = len(text) if text.isascii() else sum(map(str.isascii, text))
    return (plain // 2 + 2 * (len(text) - plain) + FRAME) // 2


def tokens(value: object) -> int | None:
    """A count of tokens as providers write it: a number of any type, or its digits. None: it is none."""
    match value:
        case bool():
            return None
        case int():
            return value if 0 <= value <= MOST_TOKENS else None
        case float():
            return math.ceil(value) if 0 <= value <= MOST_TOKENS else None
        case str():
            digits = value.strip()
            return tokens(float(digits)) if digits.isascii() and digits.replace(".", "", 1).isdigit() else None
        case _:
            return None


def dollars(value: object) -> float | None:
    """What a service says that it charges; None where that is no amount of money above zero."""
    match value:
        case bool():
            return None
        case int() | float():
            return float(value) if 0 < value <= MOST_USD else None
        case _:
            return None


def known_price(table_name: str, model: str) -> Price | None:
    """The price of a model by the table; None where the table does not know it."""
    per_million = _per_million(table_name, model)
    return Price(*per_million, table=table_name, model=model) if per_million else None


def _larger(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _by_table(table: str, model: str, sent: int, got: int, read: int, written: int) -> float:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    found = calc_price(
        Tokens(input_tokens=sent, output_tokens=got, cache_read_tokens=read, cache_write_tokens=written),
        model,
        provider_id=table,
    )
    return float((found.input_price or Decimal(0)) + (found.output_price or Decimal(0)))


@lru_cache(maxsize=512)
def _per_million(table_name: str, model: str) -> tuple[float, float] | None:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    try:
        found = calc_price(Tokens(input_tokens=1000, output_tokens=1000), model, provider_id=table_name)
    except LookupError:
        return None
    if found.input_price is None or found.output_price is None:
        return None
    return float(found.input_price) * 1000, float(found.output_price) * 1000
