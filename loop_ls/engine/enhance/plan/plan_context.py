"""What a plan may build on: other workflows, skills, fallbacks, and what the first round had."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from loop_ls.formats.common.target import Target
from loop_ls.index.document import Document
from loop_ls.index.effective import Models, effective, execution_models


@dataclass(frozen=True, slots=True)
class PlanContext:
    """`pool` are the fallbacks that the user offers, `skills` those that have a folder, `first_maxima` the
    `max_iterations` of round 1. `checked` are the steps that a plan has added a check for. `workflow_exists`
    answers whether a reference from this file means another one."""

    pool: tuple[Target, ...] = ()
    skills: frozenset[str] = frozenset()
    first_maxima: Mapping[str, int] = field(default_factory=dict)
    checked: frozenset[str] = frozenset()
    workflow_exists: Callable[[str], bool] = lambda reference: False


Primaries = dict[str, tuple[str | None, str | None]]


def primaries(document: Document) -> Primaries:
    """Whom each step asks first; under the empty name whom the workflow itself asks."""
    found: Primaries = {"": _first(execution_models(document))}
    for element in document.steps:
        found[element.name] = _first(effective(document, element).models)
        block = element.block.block("consensus")
        for number, one in enumerate(() if block is None else block.blocks("executions")):
            found[f"{element.name}/{number}"] = (one.text("provider"), one.text("model"))
    return found


def _first(models: Models) -> tuple[str | None, str | None]:
    if models.chain:
        return models.chain[0].provider, models.chain[0].model
    return models.provider, models.model


def primaries_kept(before: Primaries, after: Primaries) -> str | None:
    """The step whose primary changed; None where all that were there are as they were."""
    return next((name or "execution" for name, first in before.items() if after.get(name) != first), None)


def maxima(document: Document) -> dict[str, int]:
    """`max_iterations` of every loop."""
    found = {}
    for element in document.elements:
        most = None if element.loop is None else element.loop.integer("max_iterations")
        if most is not None:
            found[element.name] = most
    return found
