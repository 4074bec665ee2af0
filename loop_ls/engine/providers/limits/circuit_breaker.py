"""A provider that keeps failing is left alone for a while, so that nobody waits for it again and again.

After the pause one call is let through to see; only when it succeeds do the others follow.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers.config import Provider

#: Failures in a row after which the provider is left alone, and for how long (seconds).
IN_A_ROW = 5
PAUSE = 30.0
#: A server on this machine is often only just being started.
PAUSE_NEAR = 2.0

#: What says that a provider is not there. A refused key or a rate limit says that it is.
COUNTED = frozenset({"server", "unreachable", "timeout"})


class Breaker:
    """One for each provider of the engine, over all runs."""

    def __init__(self, provider: Provider, clock: Callable[[], float] = time.monotonic) -> None:
        self._provider, self._clock = provider, clock
        self._failed = 0
        self._closed_until = 0.0

    @property
    def left(self) -> float:
        """Seconds for which the provider is still left alone; 0: it may be asked."""
        return max(0.0, self._closed_until - self._clock()) if self._failed >= IN_A_ROW else 0.0

    def check(self, model: str) -> None:
        """Raises `ModelFailure` while the provider is left alone."""
        if self._failed < IN_A_ROW:
            return
        now = self._clock()
        left = self._closed_until - now
        if left > 0:
            raise ModelFailure(
                "server",
                f"Provider `{self._provider.name}` failed {self._failed} times in a row; it is paused for another"
                f" {left:.0f} s.",
                "List a second provider under `providers` in the workflow, or wait.",
                provider=self._provider.name,
                model=model,
                retry_after=left,
            )
        self._closed_until = now + self._pause  # this call looks; the others wait for what it finds

    def heard(self, failure: ModelFailure | None) -> None:
        """How a call went; None: well."""
        if failure is None or failure.code not in COUNTED:
            self._failed, self._closed_until = 0, 0.0
            return
        self._failed += 1
        if self._failed >= IN_A_ROW:
            self._closed_until = self._clock() + self._pause

    @property
    def _pause(self) -> float:
        return PAUSE_NEAR if self._provider.on_this_machine else PAUSE
