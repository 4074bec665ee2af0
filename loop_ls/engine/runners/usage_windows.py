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


_WINDOWS: dict[str, tuple[Window, ...]] = {}


def heard(provider: str, windows: tuple[Window, ...]) -> None:
    """An agent of this provider said how much of its windows is used; one that says nothing leaves what is known."""
    if windows:
        _WINDOWS[provider] = windows


def used_up(provider: str, cap: float) -> Window | None:
    """Of the windows of which at least `cap` percent are used, the one that is reset last. It is told once: whoever
    continues all the same, because a person resumed the run, hears anew how much is used."""
    now = time.time()
    over = [window for window in _WINDOWS.get(provider, ()) if window.percent >= cap and window.until > now]
    if not over:
        return None
    del _WINDOWS[provider]
    return max(over, key=lambda window: window.until)
