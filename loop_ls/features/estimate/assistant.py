"""What a loop of an assistant may cost: one agent for each iteration, each with its own budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loop_ls.contract.amounts import count
from loop_ls.features.docs.assistant import ceiling, ceiling_text, most_iterations
from loop_ls.formats.assistant.keys import CAP_ONLY
from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.role_loop.roles import STEPS
from loop_ls.formats.settings.model import Settings
from loop_ls.index.calls import Calls
from loop_ls.index.document import Document

Cost = tuple[Calls, tuple[float, float] | None, list[str]]


def estimate_of(document: Document, settings: Settings, name: str | None = None) -> Cost:
    """Of one assistant by its id or name, else of all in the file that may loop. Dollars are None where one
    has no budget: nobody knows what an agent does in an iteration."""
    chosen = [one for one in document.whole.assistants if name in (one.key, one.name) or (name is None and one.enabled)]
    calls = Calls(sum(_least(one, settings) * (1 + _memory(one)) for one in chosen), _most(chosen, settings))
    totals = [ceiling(one, settings) for one in chosen]
    known = [total for total in totals if total is not None]
    bounded = chosen and len(known) == len(totals) and not any(map(_memory, chosen))
    usd = (0.0, sum(known)) if bounded else None
    return calls, usd, [sentence for one in chosen for sentence in _why(one, settings)]


def _least(one: AssistantParts, settings: Settings) -> int:
    """Whatever judges may be content at once."""
    ends_early = (one.criteria_type or CAP_ONLY) != CAP_ONLY
    return 1 if ends_early else most_iterations(one, settings) or 1


def _most(chosen: Sequence[AssistantParts], settings: Settings) -> int | None:
    limits = [(most_iterations(one, settings), _each(one, settings)) for one in chosen]
    known = [limit * each for limit, each in limits if limit is not None]
    return sum(known) if len(known) == len(limits) else None


def _memory(one: AssistantParts) -> int:
    """Calls that keep its memory, for each iteration."""
    return int(one.has("memory"))


def _each(one: AssistantParts, settings: Settings) -> int:
    """The most calls of an iteration: a model is asked again after each round of tools, an agent asks by itself."""
    provider = text_of(one.node("provider")) or "claude-code"
    known = settings.providers.get(provider)
    kind = known.kind if known is not None else None
    agent = kind == "agent-cli" or (kind is None and provider == "claude-code")
    return (STEPS if one.has("servers") and not agent else 1) + _memory(one)


def _why(one: AssistantParts, settings: Settings) -> Iterator[str]:
    limit = most_iterations(one, settings)
    if (text := ceiling_text(one, settings)) is not None:
        yield f"`{one.name}`: {text}."
    elif limit is not None:
        yield f"`{one.name}`: at most {count(limit, 'iteration')}; the cost is unknown without `maxBudgetUsd`."
