"""Checks of a loop before its judge: while one fails, the loop is not done and nobody is asked."""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.engine.checks.run_checks import RunChecks
from loop_ls.engine.core.loop_driver import Judge, Turn, Verdict


class FailedChecks:
    """What the last iteration failed, for the next one: the judge writes it, the body hands it on."""

    def __init__(self) -> None:
        self.lines: tuple[str, ...] = ()

    def text(self) -> str:
        """Empty where nothing failed."""
        if not self.lines:
            return ""
        return "\n".join(("The previous iteration failed these checks:", *(f"- {line}" for line in self.lines)))


@dataclass(frozen=True, slots=True)
class ChecksThenJudge:
    loop: str
    checks: RunChecks
    judge_after: Judge
    failed: FailedChecks

    async def judge(self, turn: Turn, output: str) -> Verdict:
        self.failed.lines = await self.checks.after_iteration(turn.place, self.loop, turn.number, output)
        if self.failed.lines:
            return Verdict("no", answer="; ".join(self.failed.lines))
        return await self.judge_after.judge(turn, output)
