"""Whom to ask and how: what a step, its workflow's `execution` and the built-in values add up to.

Nothing is inherited from a calling workflow (WB_119).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from loop_ls.formats.workflow.model import Consensus, ConsensusExecution, Embeddings, Execution, Step, Target

N = TypeVar("N", int, float)

DEFAULT_TEMPERATURE = 0.7


@dataclass(frozen=True, slots=True)
class Asking:
    """Targets in order of preference and the parameters of one model call. `timeout` None: the
    provider's own limit counts; `max_tokens` None: the provider decides."""

    targets: tuple[Target, ...]
    temperature: float = DEFAULT_TEMPERATURE
    max_tokens: int | None = None
    timeout: float | None = None


def asking(step: Step, execution: Execution) -> Asking:
    """How the models of a `run` step are asked."""
    return Asking(
        targets=step_targets(step, execution),
        temperature=_first(step.temperature, execution.temperature, DEFAULT_TEMPERATURE),
        max_tokens=_optional(step.max_tokens, execution.max_tokens),
        timeout=_optional(step.timeout, execution.timeout),
    )


def vote_asking(own: ConsensusExecution, consensus: Consensus, step: Step, execution: Execution) -> Asking:
    """How one model of a consensus is asked: its own values count before those of step and `execution`."""
    timeout = _optional(own.timeout, consensus.timeout, step.timeout, execution.timeout)
    if consensus.timeout is not None and timeout is not None:
        timeout = min(timeout, consensus.timeout)
    return Asking(
        targets=(Target(own.provider, own.model),),
        temperature=_first(own.temperature, step.temperature, execution.temperature, DEFAULT_TEMPERATURE),
        max_tokens=_optional(own.max_tokens, step.max_tokens, execution.max_tokens),
        timeout=timeout,
    )


def step_targets(step: Step, execution: Execution) -> tuple[Target, ...]:
    """Step chain, then step pair, then the chain of `execution`, then its pair (D22 for a lone half)."""
    if step.providers:
        return step.providers
    if step.provider and step.model:
        return (Target(step.provider, step.model),)
    if execution.providers:
        return execution.providers
    provider, model = step.provider or execution.provider, step.model or execution.model
    return (Target(provider, model),) if provider and model else ()


def embedding_target(mode: Embeddings, step: Step, execution: Execution) -> Target | None:
    """Who makes the vectors of a step: provider and model each on its own, from the mode, the step, then
    `execution`. A chain of `execution` gives its first one; the others are no substitute: vectors of two
    models cannot be compared."""
    first = execution.providers[0] if execution.providers else None
    provider = mode.provider or step.provider or execution.provider or (first.provider if first else None)
    if not provider:
        return None
    inherited = execution.model or (first.model if first else None)
    return Target(provider, mode.model or step.model or inherited or "")


def execution_targets(execution: Execution) -> tuple[Target, ...]:
    """What a workflow's `execution` names by itself: its chain, else its pair."""
    if execution.providers:
        return execution.providers
    if execution.provider and execution.model:
        return (Target(execution.provider, execution.model),)
    return ()


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def _optional(*values: N | None) -> N | None:
    return next((value for value in values if value is not None), None)
