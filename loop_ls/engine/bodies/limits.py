"""The limits of a workflow loop, as it is written and as it was started."""

from __future__ import annotations

from loop_ls.engine.bodies.context import Frame
from loop_ls.engine.core.loop_driver import Limits
from loop_ls.formats.workflow.model import Loop

#: Further tries under `on_failure: retry` when no number is written (D11, D31).
DEFAULT_RETRIES = 3


def limits_of(frame: Frame, loop: Loop) -> Limits:
    """What bounds a loop here."""
    return Limits(
        max_iterations=most_iterations(frame, loop),
        on_failure=loop.on_failure or "halt",
        max_retries=further_tries(loop.max_retries),
        retry_delay=loop.retry_delay or 0.0,
        per_iteration=loop.timeout_per_item,
        total=loop.total_timeout,
        unchanged=frame.context.unchanged,
    )


def most_iterations(frame: Frame, loop: Loop) -> int:
    """A number given at the start counts for the loops of the started workflow only; the project's
    `limits.maxIterations` bounds every loop, whatever file or start say."""
    asked = frame.context.max_iterations if frame.place.depth == 0 else None
    wanted, ceiling = asked or loop.max_iterations, frame.context.ceiling
    return wanted if ceiling is None else min(wanted, ceiling)


def further_tries(written: int | None) -> int:
    """How often a failed try is repeated."""
    return DEFAULT_RETRIES if written is None else max(0, written)
