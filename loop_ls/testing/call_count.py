"""How much a piece of code does, counted in calls of functions: a figure that no other work on the machine changes.

A time says as much about the machine as about the code, and the tests run beside each other on busy ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_in(work: Callable[[], object]) -> int:
    """Calls of functions, those of C included, that `work` makes in this thread."""
    count = 0

    def counted(frame: FrameType, event: str, given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
