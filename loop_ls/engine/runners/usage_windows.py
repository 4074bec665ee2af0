"""Usage windows of agents: how much of one is used, as the agent said last, and when it is reset.

They belong to an account, so all loops of one engine share what one of them hears.
"""

from __future__ import annotations

import time

from loop_ls.text.record import equal_record


@equal_record
class Window:
    """`until`: Unix time of its reset."""

    percent: float
    until: float


_WINDOWS: dict[str, Window] = {}


def heard(provider: str, percent: float | None, until: float | None) -> None:
    """An agent of this provider said how much of its window is used."""
    if percent is not None and until is not None:
        _WINDOWS[provider] = Window(percent, until)


def used_up(provider: str, cap: float) -> Window | None:
    """The window of which at least `cap` percent are used. It is told once: whoever goes on all the same, because a
    person resumed the run, hears anew how much is used."""
    found = _WINDOWS.get(provider)
    if found is None or found.percent < cap or found.until <= time.time():
        return None
    return _WINDOWS.pop(provider)
