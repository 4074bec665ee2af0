"""The account of an enhance loop: every call that is made under it, its planner's too, against its `budgetCapUsd`.

One more account of its run (`money.accounts`). What it has of its own: a call without a known price counts what the
settings say, calls that a fork took over count as well, and when it is used up the loop says what became of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.contract.amounts import money
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.plan import ENHANCE, Plan
from loop_ls.engine.core.price_table import Price
from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.engine.money.ledger import Cost, Ledger, total
from loop_ls.formats.settings.enhance import knobs
from loop_ls.text.json_value import JsonObject, float_field


class LoopCap(CapReached):
    """The loop's own cap: the round ends here, and the loop says what became of it."""


class LoopLedger(Ledger):
    def __init__(self, cap: float, unknown_usd: float, facts: Iterable[Fact] = ()) -> None:
        """`facts` are those of the run so far."""
        self._unknown = unknown_usd
        super().__init__(Caps(usd=cap), total(self.cost_of(body) for kind, body in facts if kind == "call"))

    @property
    def unknown_price(self) -> Price:
        return Price(0.0, 0.0, call=self._unknown)

    def cost_of(self, call: JsonObject) -> Cost:
        return self.cost(counted_usd(call, self._unknown), 0)

    def cost(self, usd: float | None, tokens: int) -> Cost:
        return Cost(self._unknown if usd is None else usd)

    def open(self, taken: Cost) -> bool:
        """Nothing new begins once it is spent, not even what is free."""
        return self.caps.usd is None or taken.usd < self.caps.usd - 1e-12

    def reached(self, taken: Cost, least: Cost) -> CapReached:
        cap = money(self.caps.usd or 0.0)
        if not self.open(taken):
            return LoopCap("budget", f"The loop has spent its `budgetCapUsd` of {cap}.")
        told = f"the next call may cost {money(least.usd)}, and {money(taken.usd)} of {cap} are spent"
        return LoopCap("budget", f"The loop reached its `budgetCapUsd`: {told}.")


def counted_usd(call: JsonObject, unknown_usd: float) -> float:
    """What a `call` fact counts for in a loop. A lost attempt of which nobody knows the price counts nothing."""
    usd = float_field(call, "usd")
    if usd is None:
        return 0.0 if "error" in call else unknown_usd
    return usd


def loop_ledger(plan: Plan, facts: Iterable[Fact]) -> LoopLedger | None:
    """The account of the enhance loop that this plan is; None: it is none."""
    if plan.format != ENHANCE:
        return None
    found = knobs(plan.details["knobs"])[0]
    return LoopLedger(found.budget_cap_usd, found.unknown_price_usd_per_call, facts)
