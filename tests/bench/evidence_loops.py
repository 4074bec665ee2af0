"""Hundreds of enhance loops over noisy workflows, in the real engine with scripted models: how often is it wrong?

`python -m tests.bench.evidence_loops [loops]` prints how they end. "converged" is wrong where the text passes six
trials of ten and no plan helps: at most three loops of a hundred may say it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter

from tests.engine.enhance.evidence.noisy import noisy

#: Of each prompt: how often it passes. A plan adds its number.
HELPS = {"no plan helps": (0.6, 0.6), "the second plan helps": (0.6, 0.95)}


async def ends_of(rates: tuple[float, float], loops: int) -> Counter[str]:
    ends: Counter[str] = Counter()
    for seed in range(loops):
        plans = {number: f"Write about {{{{input}}}}, way {number}" for number in (1, 2)}
        outcome = await noisy(seed, lambda prompt: rates["way 2" in prompt], plans).run()
        ends[outcome.reason] += 1
    return ends


def main() -> int:
    loops, wrong = int(sys.argv[1]) if len(sys.argv) > 1 else 300, 0.0
    for name, rates in HELPS.items():
        began = time.process_time()
        ends = asyncio.run(ends_of(rates, loops))
        told = ", ".join(f"{reason} {number}" for reason, number in ends.most_common())
        print(f"{name}: {told} ({time.process_time() - began:.0f} s)")
        wrong = max(wrong, ends["converged"] / loops if rates[0] == rates[1] else 0.0)
    print(f"wrong: {wrong:.1%}, at most 3.0%")
    return int(wrong > 0.03)


if __name__ == "__main__":
    raise SystemExit(main())
