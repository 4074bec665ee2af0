"""What an estimate answers, and how prices are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from loop_ls.formats.common.target import Target
from loop_ls.index.calls import Calls

if TYPE_CHECKING:
    from loop_ls.contract.answers import FileEstimate

#: US dollars for a million tokens sent and answered; None where nobody knows.
Price = tuple[float, float] | None
PriceOf = Callable[[Target], Price]


class Dollars(NamedTuple):
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """`calls.most` is None where nothing bounds it; `why` are sentences, the important ones first."""

    calls: Calls
    usd: Dollars | None
    why: str

    def answer(self) -> FileEstimate:
        """As every surface answers it."""
        usd = self.usd
        return {
            "ok": True,
            "calls": {"min": self.calls.least, "max": self.calls.most},
            "usd": None if usd is None else {"min": round(usd.least, 6), "max": round(usd.most, 6)},
            "why": self.why,
        }
