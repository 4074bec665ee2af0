"""What to tell about an assistant and its loop, in Markdown."""

from __future__ import annotations

from loop_ls.contract.amounts import count, money
from loop_ls.features.text.humanize import excerpt
from loop_ls.formats.assistant.keys import CAP_ONLY, MANUAL, REGEX, TEST_PASS
from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.settings.model import Settings
from loop_ls.text.markdown import code, escaped

#: What each type of criterion does, in a sentence or two.
CRITERIA = {
    REGEX: "The loop ends when the pattern matches anywhere in the output of an iteration. Case is ignored; `^` and "
    "`$` match the start and end of the whole output.",
    TEST_PASS: "The command runs after every iteration; exit status 0 ends the loop. It runs without a shell.",
    MANUAL: "A person reviews the output of the iteration. Approve completes the loop, reject fails it.",
    CAP_ONLY: "Nothing ends the loop early: every iteration runs.",
}

#: The same in a few words, for lists.
CRITERIA_DETAILS = {
    REGEX: "a pattern in the output",
    TEST_PASS: "a command that succeeds",
    MANUAL: "a person",
    CAP_ONLY: "only the limit",
}


def most_iterations(one: AssistantParts, settings: Settings) -> int | None:
    """The most iterations that an assistant and its project allow."""
    return settings.limits.iterations(one.max_iterations)


def ceiling(one: AssistantParts, settings: Settings) -> float | None:
    """The most that all iterations together may cost."""
    each = _ceiling_of_each(one, settings)
    return min((total for total in (each, one.total_budget) if total is not None), default=None)


def _ceiling_of_each(one: AssistantParts, settings: Settings) -> float | None:
    """As the budget of each iteration says it."""
    limit, budget = most_iterations(one, settings), one.budget
    return None if limit is None or budget is None else limit * budget


def ceiling_text(one: AssistantParts, settings: Settings) -> str | None:
    """`at most 10 iterations × $0.50 = $5.00`, or where that is less, `at most $2.00 in total (maxTotalBudgetUsd)`."""
    total, limit, budget = ceiling(one, settings), most_iterations(one, settings), one.budget
    if total is None:
        return None
    more = ", without the calls that keep its memory" if one.has("memory") else ""
    if limit is not None and budget is not None and total == _ceiling_of_each(one, settings):
        return f"at most {count(limit, 'iteration')} × {money(budget)} = {money(total)}{more}"
    return f"at most {money(total)} in total (`maxTotalBudgetUsd`){more}"


def loop_in_words(one: AssistantParts, limit: int | None) -> str:
    """`≤ 10 iterations · regex`."""
    parts = [f"≤ {count(limit, 'iteration')}"] if limit is not None else []
    parts.append(one.criteria_type or CAP_ONLY)
    return " · ".join(parts)


def assistant_text(one: AssistantParts, settings: Settings) -> str:
    """An assistant as a whole."""
    parts = [f"**{code(one.name or '?')}** — assistant, found as {code(one.key)}"]
    parts.append(escaped(text_of(one.node("description")) or excerpt(text_of(one.node("persona")) or "", 160)))
    parts.append(
        f"Loop: {escaped(loop_in_words(one, most_iterations(one, settings)))}."
        if one.enabled
        else "Cannot be started as a loop: it is not enabled."
    )
    total = ceiling_text(one, settings)
    if one.enabled and total is not None:
        parts.append(f"Cost: {total}.")
    return "\n\n".join(part for part in parts if part)
