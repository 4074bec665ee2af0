"""The recorder of a way that was gone already: it hears what would be asked, and answers from the record.

No work is done and nothing is written. At the first call that the record has no answer for, the way ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import cast

from loop_ls.contract.facts.kinds import ManualApprovalRequired
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import Place, lies_at
from loop_ls.engine.core.null_recorder import NullRecorder
from loop_ls.engine.core.ports import NOTES, PROMPT, Approval, Recordable, Recorded, Skipped, Stopped, read_notes
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.journal import Journal
from loop_ls.engine.projections.recorded_outputs import Recordings, number_in, whole_number
from loop_ls.engine.runs.journal_recorder import replayed
from loop_ls.text.json_value import Json

#: After so many calls others get their turn.
BREATH = 20
#: The last thing that is recorded of a loop.
ENDS = frozenset({"completed", "failed"})
#: The fact that follows from the last call of a step.
DONE = "step_completed"
#: What people and the engine do between two steps of a program.
_BETWEEN = frozenset({"loop_updated", "paused", "resumed", "recovered", "interrupted", "stopping", "note_added"})

Work = Callable[[], Awaitable[object]]


class Way(Enum):
    """What is gone through to come to the calls at one place."""

    WHOLE = "whole"  # all of the run
    IN_TURN = "in turn"  # one iteration of the loop of the run after the other, up to that place
    OUTPUTS = "outputs"  # of other iterations only what they leave, when somebody asks for it


class ReplayRecorder(NullRecorder):
    """`hear` gets the work of each call in its order, with what is recorded of it, and says whether it wants more.
    `facts` are those of the run, where people have changed something meanwhile. `wanted` is the place where they
    matter, all of the run where it is empty; `way` says what of the rest is gone through."""

    def __init__(
        self,
        run_id: str,
        journal: Journal,
        hear: Callable[[Work, Recorded | None], bool],
        facts: Sequence[Event] = (),
        wanted: str = "",
        way: Way = Way.WHOLE,
    ) -> None:
        self.run_id, self.wanted, self._way = run_id, wanted, way if wanted else Way.WHOLE
        self._journal, self._hear, self._calls = journal, hear, 0
        self._noted: dict[str, Json] = {}
        self._changes = Changes(facts)

    async def call(
        self,
        key: str,
        work: Callable[[], Awaitable[Recordable]],
        facts: Callable[[Recordable], Iterable[Fact]] = lambda answer: (),
        before: Sequence[Fact] = (),
    ) -> Recordable:
        """`work` is never done; only what it would ask is read."""
        self._calls += 1
        if self._calls % BREATH == 0:
            await asyncio.sleep(0)
        recorded = self._journal.recall(self.run_id, key)
        if not self._hear(work, recorded) or recorded is None:
            raise Stopped
        answer = cast("Recordable", replayed(recorded))
        if self._way is Way.OUTPUTS and _parted(key)[0] == self.wanted and DONE in dict(facts(answer)):
            raise Stopped
        return answer

    async def outside(self, key: str, asked: Sequence[Fact], seconds: float | None, late: Recordable) -> Recordable:
        return cast("Recordable", self._answer(key).get("value"))

    async def approval(self, place: Place, asked: ManualApprovalRequired) -> Approval:
        return Approval.of_fact(self._answer(place.part("approval")).get("value"))

    def _answer(self, key: str) -> Recorded:
        answer = self._journal.recall(self.run_id, key)
        if answer is None:
            raise Stopped
        return answer

    def recall(self, key: str) -> object:
        """Only what was noted on this way: a short cut past a finished iteration would lead past its prompts."""
        return self._noted.get(key)

    async def notes(self, place: Place, key: str) -> tuple[str, ...]:
        known = self._journal.recall(self.run_id, place.part(NOTES))
        return read_notes(known.get("value")) if known else ()

    async def changed_prompt(self, place: Place) -> str | None:
        known = self._journal.recall(self.run_id, place.part(PROMPT))
        return None if known is None else str(known.get("value"))

    async def record(self, key: str, facts: Sequence[Fact] = (), answer: object = None) -> None:
        self._noted.setdefault(key, cast("Json", answer))
        self._changes.hear(facts)
        if self._is_past(key):
            raise Stopped

    def _is_past(self, key: str) -> bool:
        """Whether the loop around what is wanted has ended, or goes on with a later iteration."""
        home, part = _parted(key)
        if self._way is Way.OUTPUTS:
            return part in ENDS and f"{self.wanted}/".startswith(f"{home}/")
        loop, _, number = home.rpartition("/")
        if self._way is Way.WHOLE or part != "started" or "/" in loop:
            return False
        wanted = number_in(self.wanted, loop)
        return wanted is not None and wanted < (whole_number(number) or 0)

    def skipped(self, loop: str, place: Place) -> Skipped:
        if self._way is not Way.OUTPUTS or lies_at(place.key, self.wanted):
            return Skipped()
        recorded = Recordings(loop, place, lambda key: self._journal.recall(self.run_id, key))
        wanted = number_in(self.wanted, place.key)
        if wanted is not None:
            return recorded.before(wanted)
        over = self._journal.recall(self.run_id, place.part("completed")) is not None
        return recorded.over() if over else Skipped()

    async def now(self, key: str) -> float:
        known = self._journal.recall(self.run_id, key)
        return cast("float", known.get("value") or 0.0) if known else 0.0

    async def sleep(self, key: str, seconds: float) -> None:
        return

    def changed(self) -> Mapping[str, Json]:
        return self._changes.now()


def _parted(key: str) -> tuple[str, str]:
    """The place of a key, and the part of it. A further try of a step is a part that places lie in (`s:2/1/write`)."""
    home, _, part = key.rpartition(":")
    return (key, "") if not home or "/" in part else (home, part)


class Changes:
    """What people had changed of a loop at each moment of it: a stage is told the goal that held when it began."""

    def __init__(self, facts: Sequence[Event]) -> None:
        self._facts, self._at = facts, 0
        self._state = RunState()

    def hear(self, facts: Sequence[Fact]) -> None:
        """The program has come to these of its facts."""
        for kind, body in facts:
            self._come_to(kind, body.get("place"))

    def now(self) -> Mapping[str, Json]:
        while self._at < len(self._facts) and self._facts[self._at].kind in _BETWEEN:
            self._pass()
        return self._state.changed or {}

    def _come_to(self, kind: str, place: object) -> None:
        """Facts that the record has not, such as a warning that nobody gave then, lead nowhere."""
        for number in range(self._at, len(self._facts)):
            fact = self._facts[number]
            if fact.kind == kind and fact.body.get("place") == place:
                while self._at <= number:
                    self._pass()
                return

    def _pass(self) -> None:
        fact = self._facts[self._at]
        self._at += 1
        if fact.kind == "loop_updated":
            self._state = self._state.after(fact)
