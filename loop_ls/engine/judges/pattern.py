"""Judging by a pattern: whether it is found anywhere in what an iteration put out.

Letter case does not count, and nothing else is switched on. A pattern that no engine can read, or that takes
too long, never ends a loop; the run says so.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from loop_ls.formats.common.regex_check import compiled, found_in

#: Seconds for one search. A runaway pattern must not hold up anybody.
LIMIT = 5.0


@dataclass(frozen=True, slots=True)
class Found:
    verdict: Literal["yes", "no", "error"]
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Not trimmed; slashes around it are part of it. `limit` in seconds."""

    written: str
    limit: float = LIMIT

    @property
    def problem(self) -> str:
        """Why it can never match; empty: it can."""
        return compiled(self.written).problem

    async def judge(self, output: str) -> Found:
        source = compiled(self.written).source
        if source is None:
            return Found("error", f"Invalid pattern: {self.problem}")
        found = await asyncio.to_thread(found_in, source, output, self.limit)
        if found is None:
            return Found("error", f"the pattern took longer than {self.limit:g} s")
        return Found("yes" if found else "no")
