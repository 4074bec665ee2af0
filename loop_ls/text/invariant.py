"""Invariants of incremental data: what must hold where something is kept because "nothing changed".

Each place that keeps derived data states its condition here. Tests switch the checks on, because a check
costs as much as deriving the data again; in production nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable

_checked = False


class BrokenInvariant(AssertionError):
    """Derived data does not fit what it was derived from."""


def check_invariants(on: bool) -> None:
    """Switch the checks of this process on or off."""
    global _checked
    _checked = on


def invariant(holds: Callable[[], bool], sentence: str) -> None:
    """Raise `BrokenInvariant` with the sentence unless it holds; asks only while checks are on."""
    if _checked and not holds():
        raise BrokenInvariant(sentence)
