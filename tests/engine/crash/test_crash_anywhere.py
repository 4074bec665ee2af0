"""The engine dies after every single transaction of a run with parallel branches, one run for each.

No process is killed here (see `crash/`): the storage stops taking anything, as a dead engine would, which
is quick enough to try every point. Whatever the point and the order of branches, the run ends the same.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from loop_ls.contract.facts.kinds import Judged, StepCompleted, StepStarted
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Limits, LoopParts, Outcome, Turn, Verdict, drive
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.journal import Entry, Journal, JournalRefused, Row, SqliteStorage
from loop_ls.engine.runs.journal_recorder import JournalRecorder

#: A little more than the transactions of a whole run, so that the last one lives to its end.
POINTS = 44


class DyingStorage(SqliteStorage):
    """Takes `life` transactions and then nothing."""

    def __init__(self, path: Path, life: int) -> None:
        super().__init__(path)
        self.life = life

    def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
        if self.life <= 0:
            raise JournalRefused("closed", "The engine is dead.")
        self.life -= 1
        return super().write(batch)


class BranchWork:
    """Three iterations of two branches with two calls each; branch 1 fails in iteration 2 at first."""

    def __init__(self) -> None:
        self.paid: Counter[str] = Counter()
        self.answered: set[str] = set()

    async def drive(self, path: Path, life: int) -> Outcome | None:
        storage = DyingStorage(path, life)
        journal = Journal(storage)
        control = Control()
        recorder = JournalRecorder("r", journal, control, storage.keys("r")[0])
        work = self

        class Parts:
            async def run(self, turn: Turn) -> str:
                return "+".join(await asyncio.gather(*(self.branch(turn, b) for b in (0, 1))))

            async def branch(self, turn: Turn, branch: int) -> str:
                last = ""
                for step in ("write", "review"):
                    place = turn.place.element(f"{step} {branch}")
                    await asyncio.sleep(0.001 * ((branch + turn.number) % 2))
                    last = await recorder.call(
                        place.key,
                        lambda place=place: work.pay(place.key, turn),  # type: ignore[misc]
                        lambda said, step=step, place=place: [  # type: ignore[misc]
                            StepCompleted(step=step, output=said).fact(place)
                        ],
                        [StepStarted(step=step).fact(place)],
                    )
                return last

            async def judge(self, turn: Turn, output: str) -> Verdict:
                judged = Judged(criterion="until", verdict="no", output_ref=turn.place.key)
                key = turn.place.part("judge")
                await recorder.call(key, lambda: work.pay(key, turn), lambda said: [judged.fact(turn.place)])
                return Verdict("yes", "condition_met") if turn.number == 3 else Verdict("no")

        parts = Parts()
        loop = LoopParts("develop", Place().element("develop"), parts, History(), Limits(5, "retry"), parts)
        try:
            return await drive(loop, recorder)
        except JournalRefused:
            return None
        finally:
            control.leaving = True
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await journal.close()

    async def pay(self, key: str, turn: Turn) -> str:
        self.paid[key] += 1
        if key == "develop/2/review 1":
            raise ModelFailure("server", "out of order")
        return f"answer of {key}"


@pytest.mark.parametrize("life", range(1, POINTS, 3))
async def test_a_run_ends_the_same_whatever_was_written_when_it_died(tmp_path: Path, life: int) -> None:
    path, work = tmp_path / "journal.db", BranchWork()
    first = await work.drive(path, life)
    before = SqliteStorage(path)
    answered, begun = before.keys("r")
    before.close()
    outcome = first or await work.drive(path, 10_000)
    assert outcome is not None
    assert (outcome.reason, outcome.iterations) == ("condition_met", 3)
    assert outcome.output == "answer of develop/3/review 0+answer of develop/3/review 1"
    repeated = {key for key, count in work.paid.items() if count > 1}
    assert repeated <= set(begun)
    assert not repeated & answered
    storage = SqliteStorage(path)
    facts = storage.facts("r", 0, 1000)
    assert [row.seq for row in facts] == list(range(1, len(facts) + 1))
    kinds = Counter(row.kind for row in facts)
    assert (kinds["iteration"], kinds["judged"], kinds["iteration_failed"]) == (3, 3, 1)
    assert kinds["step_started"] == 16
    assert kinds["step_completed"] == 15
    storage.close()
