"""Formats of amounts: money, times and counts as every surface shows them.

`vscode-client/src/runs/amounts.ts` says the same where the editor counts by itself (a clock that ticks, a sum of runs);
`tests/contract/amounts.json` holds the examples that both are tested with. Plain Python: the language server imports
it at its start.
"""

from __future__ import annotations

import math
import time
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loop_ls.contract.run_state import RunStateView

_DAY, _HOUR, _MINUTE = 86_400, 3600, 60


def money(usd: float | None) -> str:
    """US dollars with as many digits as a cheap loop needs, and at least cents: `$0.0012`, `$0.031`, `$0.50`,
    `$1,234.50`. Nothing where no price is known."""
    if usd is None or not math.isfinite(usd):
        return ""
    if usd == 0:
        return "$0"
    if usd < 0.0001:
        return "<$0.0001"
    digits = 4 if usd < 0.01 else 3 if usd < 1 else 2
    whole, part = _rounded(usd, digits)
    return f"${whole:,}.{part.rstrip('0'):0<2}"


def cost_of(state: RunStateView) -> str:
    """Of a run: `$0.031`, or `$0.009 (simulated)` where scripts gave all answers and nobody is paid."""
    cost = money(state.get("costUsd"))
    return f"{cost} (simulated)" if cost and state.get("simulated") else cost


def _rounded(number: float, digits: int) -> tuple[int, str]:
    """Half is rounded up, as JavaScript does: `format` rounds 1.125 to 1.12."""
    above, below = number.as_integer_ratio()
    whole, part = divmod((2 * above * 10**digits + below) // (2 * below), 10**digits)
    return whole, f"{part:0{digits}}"


def rounds_spent(number: int, most: int, spent: float, cap: float | None) -> str:
    """`Round 2 of 3 · $1.09 of $5.00`: how far an enhance loop is and what it has spent of its budget."""
    return f"Round {max(number, 1)} of {most} · {money(spent)} of {money(cap or 0.0)}"


def clock(milliseconds: float) -> str:
    """`00:41`, `1:02:03`: the time that a run has taken."""
    total = max(0, int(milliseconds // 1000))
    hours, minutes, seconds = total // _HOUR, total // _MINUTE % 60, total % 60
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def time_taken(active: float, total: float) -> str:
    """Milliseconds of work, and all time from the start on where that is more: `00:41 at work, 12:03 in all`."""
    worked = clock(active)
    return worked if total - active < 1000 else f"{worked} at work, {clock(total)} in all"


def ago(seconds: float, full: bool = False) -> str:
    """How long ago: `just now`, `3 min ago`, `2 d ago`; `full`: `3 minutes ago`, `2 days ago`."""
    for size, noun, short in ((_DAY, "day", "d"), (_HOUR, "hour", "h"), (_MINUTE, "minute", "min")):
        number = int(seconds // size)
        if number >= 1:
            return f"{count(number, noun) if full else f'{number} {short}'} ago"
    return "just now"


def tokens_used(state: RunStateView) -> int:
    """Input and output of all calls of a run."""
    tokens = state.get("tokens")
    return tokens["input"] + tokens["output"] if tokens else 0


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 iteration`, `3 iterations`, `1,200 calls`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def clock_time(at: float) -> str:
    """`17:14`, with the day where it is not today; in the time of this machine."""
    moment, now = time.localtime(at), time.localtime()
    return time.strftime("%H:%M" if moment[:3] == now[:3] else "%Y-%m-%d %H:%M", moment)


def waiting_until(resumes_at: object) -> str:
    """`waiting until 11:00`, for a paused run that goes on by itself then (ISO 8601); else nothing."""
    try:
        return f"waiting until {clock_time(datetime.fromisoformat(str(resumes_at)).timestamp())}" if resumes_at else ""
    except ValueError:
        return ""
