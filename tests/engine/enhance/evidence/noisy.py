"""Noisy workflows: steps that pass by chance, as real models do, and planners that help or not."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from tests.engine.enhance.loops import HEAD, Loop, failing, instructions, plan_of

TEXT = HEAD + "steps:\n  - name: draft\n    run: Write about {{input}}\n"
CASES = tuple({"name": f"case-{n}", "input": f"thing {n}"} for n in range(1, 6))
HELD = tuple({"name": f"held-{n}", "input": f"other {n}", "held": True} for n in (1, 2))


def noisy(
    seed: int, rates: Callable[[str], float], plans: Mapping[int, str], knobs: dict[str, Any] | None = None, **more: Any
) -> Loop:
    """A loop whose only step passes with the rate that its prompt has; plan `n` writes the prompt `plans[n]`."""
    chance = random.Random(seed)

    def answer(request: ModelRequest) -> str | ModelFailure:
        return "good" if chance.random() < rates(request.prompt) else failing("bad_answer", "no JSON")

    planner = [plan_of(instructions("draft", prompt)) for _, prompt in sorted(plans.items())]
    return Loop(TEXT, {"draft": answer}, planner, knobs or {}, cases=more.pop("cases", (*CASES, *HELD)), **more)
