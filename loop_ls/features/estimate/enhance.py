"""What an enhance loop may cost: its rounds, and the plans between them.

Starts from what one run of the workflow costs; how long a plan gets is assumed like every other answer.
"""

from __future__ import annotations

from collections.abc import Callable

from loop_ls.contract.amounts import count, money
from loop_ls.formats.common.target import Target
from loop_ls.formats.settings.enhance import INHERIT, Knobs, is_enabled, knobs
from loop_ls.index.calls import Calls
from loop_ls.index.document import Document
from loop_ls.index.effective import execution_models
from loop_ls.index.workspace import Workspace

Usd = tuple[float, float] | None


def knobs_of(workspace: Workspace, document: Document) -> Knobs | None:
    """What holds for the rounds of a workflow; None where a run of it is a plain run."""
    section, key = workspace.settings.raw.get("enhance"), workspace.key(document)
    return knobs(section, key)[0] if is_enabled(section, key) else None


def planner_of(workspace: Workspace, document: Document, own: Knobs) -> Target | None:
    """Who plans: whom the settings name, else the interactive assistant, else whom the workflow asks first."""
    chain = execution_models(document).chain
    inherited = workspace.settings.assist or (chain[0] if chain else None)
    provider = own.planner_provider if own.planner_provider != INHERIT else inherited and inherited.provider
    model = own.planner_model if own.planner_model != INHERIT else inherited and inherited.model
    return Target(provider, model) if provider and model else None


def with_rounds(own: Knobs, calls: Calls, usd: Usd, plan: Callable[[], float | None]) -> tuple[Calls, Usd, str]:
    """From one round that converges to all of them; `plan` is what one answer of the planner costs."""
    answers = (own.max_rounds - 1) * own.planner_attempts
    most = None if calls.most is None else calls.most * own.max_rounds + answers
    cap = money(own.budget_cap_usd)
    told = f"An enhance loop: at most {count(own.max_rounds, 'round')} and {count(answers, 'answer')} of the planner"
    if usd is None:
        return Calls(calls.least, most), None, f"{told}; it ends at {cap} (`budgetCapUsd`)."
    one = plan()
    each = own.unknown_price_usd_per_call if one is None else one
    whole = usd[1] * own.max_rounds + each * answers
    return Calls(calls.least, most), (usd[0], min(whole, own.budget_cap_usd)), f"{told}, {cap} in total."
