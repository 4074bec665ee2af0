"""Durations, lists and excerpts as sentences of documentation say them; amounts of runs are `contract.amounts`.

Only for reading: nothing here is parsed again.
"""

from __future__ import annotations

from loop_ls.contract.amounts import count

_UNITS = ((3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


def duration(seconds: float) -> str:
    """`1 minute 30 seconds`; parts below a second only where there is nothing larger."""
    if seconds < 0:
        return f"minus {duration(-seconds)}"
    if seconds < 1:
        return _below_a_second(seconds)
    parts: list[str] = []
    rest = seconds
    for size, noun in _UNITS:
        if size == 1.0:
            amount = round(rest, 3)
            if amount:
                parts.append(f"{amount:g} {noun if amount == 1 else noun + 's'}")
        elif whole := int(rest // size):
            parts.append(count(whole, noun))
            rest -= whole * size
    return " ".join(parts)


def _below_a_second(seconds: float) -> str:
    if seconds == 0:
        return "no time"
    for factor, noun in ((1e3, "millisecond"), (1e6, "microsecond"), (1e9, "nanosecond")):
        amount = round(seconds * factor, 3)
        if amount >= 1:
            return f"{amount:g} {noun if amount == 1 else noun + 's'}"
    return f"{seconds * 1e9:g} nanoseconds"


def listed(names: list[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def excerpt(text: str, limit: int = 80) -> str:
    """The start of a text as one line, with an ellipsis where it goes on."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    return line[: limit - 1].rstrip() + "…"
