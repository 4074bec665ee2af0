"""The caps of one run: dollars, tokens, working time, and how often an output may repeat itself.

The project's settings and whoever starts the run both may name one; the narrower holds.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping
from typing import TypeVar

from loop_ls.engine.core.ports import Failure, Recorder, Stopped
from loop_ls.engine.core.time_limit import OVER_TIME, within
from loop_ls.formats.common.duration import parse_duration
from loop_ls.text.json_value import JsonObject
from loop_ls.text.record import equal_record

T = TypeVar("T")


class CapReached(Stopped):
    """The run ends here and keeps what it has. Like a stop, it is no failure of any step."""

    def __init__(self, reason: str, told: str) -> None:
        super().__init__(told)
        self.reason, self.told = reason, told


@equal_record
class Caps:
    """None: no cap. `seconds` are those of work: a pause brings none of them nearer."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    unchanged: int | None = None

    @staticmethod
    def of(*limits: object) -> Caps:
        """The narrowest of sections such as `limits` of the settings, each with the same keys."""
        sections = [each for each in limits if isinstance(each, Mapping)]
        tokens = _least(_number(each.get("maxTokens")) for each in sections)
        unchanged = _least(_number(each.get("unchanged")) for each in sections)
        return Caps(
            usd=_least(_number(each.get("budgetUsd")) for each in sections),
            tokens=None if tokens is None else int(tokens),
            seconds=_least(_seconds(each.get("wallClock")) for each in sections),
            unchanged=None if unchanged is None else int(unchanged),
        )

    @staticmethod
    def over(limits: object, span: str) -> Caps:
        """Those that all runs of a project share: `perDay` or `perProject` of a section such as `limits`."""
        section = limits.get(span) if isinstance(limits, Mapping) else None
        found = Caps.of(section)
        return Caps(usd=found.usd, tokens=found.tokens)

    def wire(self) -> JsonObject:
        """As they stand in `run_started`."""
        found = {
            "budgetUsd": self.usd,
            "maxTokens": self.tokens,
            "wallClock": self.seconds,
            "unchanged": self.unchanged,
        }
        return {name: value for name, value in found.items() if value is not None}


def in_dollars(*limits: object) -> bool:
    """Whether any of these sections caps dollars, of a run or of all runs: then every price has to be known."""
    shared = (Caps.over(each, span).usd for each in limits for span in ("perDay", "perProject"))
    return Caps.of(*limits).usd is not None or any(usd is not None for usd in shared)


async def in_time(recorder: Recorder, seconds: float | None, work: Coroutine[object, object, T]) -> T:
    """The result of a run's work, as long as it stays within its time. Raises `CapReached`."""
    if seconds is None:
        return await work
    try:
        return await within(recorder, seconds, work)
    except Failure as failure:
        if failure.code != OVER_TIME:
            raise
        raise CapReached("time_limit", f"The run reached its `wallClock` of {seconds:g} s.") from None


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _seconds(value: object) -> float | None:
    return parse_duration(value) if isinstance(value, str) else _number(value)
