"""What is said where a limit ends an enhance loop: which one, how much of it, and what to change."""

from __future__ import annotations

from loop_ls.contract.amounts import count, money
from loop_ls.formats.settings.enhance import Knobs


def told_of_limit(reason: str, knobs: Knobs, spent: float) -> str:
    """Empty where no limit of the settings ended it. `spent` are US dollars."""
    match reason:
        case "max_rounds":
            return f"`enhance.maxRounds` allows {count(knobs.max_rounds, 'round')}."
        case "budget":
            return _told_of_budget(knobs.budget_cap_usd, spent)
        case "fixation":
            return "The last two rounds failed in the same way; `enhance.onFixation: warn` continues anyway."
        case _:
            return ""


def told_of_trials(knobs: Knobs) -> str:
    return f"All {count(knobs.max_trials, 'trial')} that `enhance.maxTrials` allows were used."


def _told_of_budget(cap: float, spent: float) -> str:
    if spent >= cap:
        return f"`enhance.budgetCapUsd` is {money(cap)}, and {money(spent)} were spent."
    return (
        f"{money(spent)} of the {money(cap)} of `enhance.budgetCapUsd` were spent, and the next call may cost more "
        "than what is left: set a higher cap."
    )
