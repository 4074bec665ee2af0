"""Attempts that were paid and gave no answer, written into the record of a run when each of them ends.

A crash, a stop or a time limit right afterwards does not undo what was paid. So these facts wait for no
answer: each has a key of its own.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from loop_ls.contract.facts.kinds import Call, Tokens
from loop_ls.contract.facts.payload import Error
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import LostAttempt, Recorder


class RecordedBill:
    """`ports.Bill` of one recorded call. Use `recorded_bill`."""

    def __init__(self, recorder: Recorder, key: str, place: Place, purpose: str) -> None:
        self._recorder, self._key, self._place, self._purpose = recorder, key, place, purpose
        self.written: list[asyncio.Future[None]] = []

    def lost(self, attempt: LostAttempt) -> None:
        fact = Call(
            provider=attempt.provider,
            model=attempt.model,
            purpose=self._purpose,
            tokens=Tokens(input=attempt.input_tokens, output=attempt.output_tokens),
            usd=attempt.usd,
            duration=attempt.duration,
            error=Error(code=attempt.code, message=attempt.message, hint=attempt.hint),
        ).fact(self._place)
        key = f"{self._key}:lost-{uuid.uuid4().hex[:12]}"
        self.written.append(asyncio.ensure_future(self._recorder.record(key, [fact])))

    async def again(self) -> None:
        return


@asynccontextmanager
async def recorded_bill(recorder: Recorder, key: str, place: Place, purpose: str) -> AsyncIterator[RecordedBill]:
    """The bill of a call; what was booked on it is in the record afterwards."""
    bill = RecordedBill(recorder, key, place, purpose)
    try:
        yield bill
    finally:
        await asyncio.gather(*bill.written, return_exceptions=True)
