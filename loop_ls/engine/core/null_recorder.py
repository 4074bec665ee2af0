"""The half of the `Recorder` port that does nothing, for programs that leave no record: nobody pauses or
stops them, nobody is asked, and time and money do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from typing import Literal

from loop_ls.contract.facts.kinds import ManualApprovalRequired
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Allowance, Approval, Bill, Recordable, Skipped, Stopped
from loop_ls.text.json_value import Json


class NullRecorder:
    async def approval(self, place: Place, asked: ManualApprovalRequired) -> Approval:
        raise Stopped

    async def outside(self, key: str, asked: Sequence[Fact], seconds: float | None, late: Recordable) -> Recordable:
        raise Stopped

    def skipped(self, loop: str, place: Place) -> Skipped:
        return Skipped()

    async def gate(self) -> None:
        return

    def changed(self) -> Mapping[str, Json]:
        return {}

    async def notes(self, place: Place, key: str) -> tuple[str, ...]:
        return ()

    async def changed_prompt(self, place: Place) -> str | None:
        return None

    async def iterated(self, place: Place, loop: str, number: int, verdict: str | None) -> None:
        return

    async def hold(self, key: str, reason: Literal["stalled"]) -> None:
        return

    async def park(self, key: str, until: float, because: str) -> None:
        return

    def undivided(self) -> AbstractContextManager[None]:
        return nullcontext()

    def stream(self, text: str, **place: Json) -> None:
        return

    def streamed(self, **place: Json) -> None:
        return

    def unbounded(self, bill: Bill) -> AbstractAsyncContextManager[Allowance]:
        return nullcontext(Allowance(None, bill))

    def active(self) -> float:
        return 0.0
