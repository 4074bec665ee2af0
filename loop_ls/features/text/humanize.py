"""Numbers as people say them: durations, money, counts.

Only for reading: nothing here is parsed again.
"""

from __future__ import annotations

_UNITS = ((3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 iteration`, `3 iterations`, `1,200 calls`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


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


def clock(milliseconds: int) -> str:
    """`00:41`, `1:02:03`: the time a run has taken."""
    total = max(0, milliseconds) // 1000
    hours, minutes, seconds = total // 3600, total // 60 % 60, total % 60
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def money(usd: float) -> str:
    """Cents matter while a loop is cheap: `$0.031`, `$0.0004`, `$12.50`."""
    if usd == 0:
        return "$0"
    if usd < 0.001:
        return f"${usd:.2g}" if usd >= 0.0001 else "<$0.0001"
    return f"${usd:.3f}" if usd < 1 else f"${usd:,.2f}"


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
