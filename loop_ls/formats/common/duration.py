"""Durations as workflow files write them: Go's notation, `90s`, `1h30m`, `1.5s`."""

from __future__ import annotations

import re
from functools import lru_cache

from loop_ls.text.pattern import pattern

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = pattern(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)

#: Go counts nanoseconds in 63 bits; anything longer is no duration there.
_LONGEST = 9223372036.0


@lru_cache(maxsize=1024)
def parse_duration(text: str) -> float | None:
    """Seconds, or None where `text` is no duration. `0` alone is one; a sign in front is allowed."""
    sign = -1.0 if text.startswith("-") else 1.0
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0.0
    total, at = 0.0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            return None
        total += float(part[1]) * _UNITS[part[2]]
        at = part.end()
    return sign * total if rest and total <= _LONGEST else None


def show_duration(seconds: float) -> str:
    """The shortest usual way to write a duration: `90` becomes `1m30s`."""
    if seconds < 0:
        return f"-{show_duration(-seconds)}"
    if seconds < 1:
        return f"{seconds * 1000:g}ms" if seconds else "0s"
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    parts = [f"{hours:g}h" if hours else "", f"{minutes:g}m" if minutes else "", f"{left:g}s" if left else ""]
    return "".join(parts)
