"""An event loop whose clock jumps: a wait of two hours is over at once, and in the right order.

For tests of time limits and pauses. Only for code that waits for nothing outside of the process: when
no timer is left and nothing can happen any more, it says so instead of hanging.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any


class _JumpingSelector(selectors.DefaultSelector):
    """Never sleeps: what would be slept is added to the clock of the loop."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            ready: list[Any] = super().select(0.5)
            if not ready:
                raise RuntimeError("nothing is left to wait for: the test would hang")
            return ready
        self.loop.passed += max(0.0, timeout)
        return list(super().select(0))


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop that starts at time 0. `passed` is the time now."""

    def __init__(self) -> None:
        self.passed = 0.0
        selector = _JumpingSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.passed


def made_to_jump(loop: asyncio.AbstractEventLoop) -> Callable[[float], None]:
    """Puts the clock of a loop ahead by so many seconds, each time it is called: for tests that have to wait for
    programs, and must not depend on how long these take."""
    clock, ahead = loop.time, 0.0

    def jump(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    loop.time = lambda: clock() + ahead  # type: ignore[method-assign]
    return jump
