"""What makes a `price` one: two amounts, and nothing else. Half a price, or an odd one, would make calls free.

One check for the rule, the start of a run, the engine's account and the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from loop_ls.formats.common.did_you_mean import nearest

NAMES = ("input", "output")


class PriceFault(NamedTuple):
    """`key` is the one that is wrong; empty where one is missing or the whole is no mapping. `message` is the
    end of a sentence about `price`; `meant` is the key that was probably meant."""

    key: str
    message: str
    meant: str = ""


def price_faults(value: object) -> Iterator[PriceFault]:
    """Why a written price cannot be used; nothing where it can."""
    if not isinstance(value, Mapping):
        yield PriceFault("", "must be a mapping such as `{input: 3, output: 15}`")
        return
    missing = [name for name in NAMES if name not in value]
    for name, amount in value.items():
        if name not in NAMES:
            meant = nearest(str(name), missing) or ""
            hint = f"; did you mean `{meant}`?" if meant else "; expected `input` and `output`"
            yield PriceFault(str(name), f"has an unknown key `{name}`{hint}", meant)
        elif isinstance(amount, bool) or not isinstance(amount, int | float) or not math.isfinite(amount):
            yield PriceFault(name, f"needs an amount in dollars for `{name}`")
        elif amount < 0:
            yield PriceFault(name, f"has a negative `{name}`; prices must be 0 or more")
    if missing:
        names = " and ".join(f"`{name}`" for name in missing)
        yield PriceFault("", f"needs {names} too; without it those tokens would count as free")
