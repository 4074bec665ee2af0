"""`engine repair`: what a damaged journal has lost, and going on with what it holds.

No engine may have the folder meanwhile (the caller holds its lock).
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from loop_ls.contract.facts.kinds import Interrupted
from loop_ls.engine.journal import Journal, SqliteStorage
from loop_ls.engine.journal.repair import accept, copied, counted, damaged_runs, problem
from loop_ls.engine.runs.registry import REPAIRED, Runs
from loop_ls.engine.runs.unrecorded_spending import FILE_NAME, damage
from loop_ls.text.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class Examined:
    """`problem` is one sentence, empty where the journal as a whole is sound; `spending` one about what is kept beside
    it; `damaged`: run -> what is wrong with it. `runs` and `facts` are those that can be read."""

    problem: str
    damaged: dict[str, str]
    runs: int
    facts: int
    spending: str = ""

    @property
    def whole(self) -> bool:
        return not self.problem and not self.damaged and not self.spending

    def wire(self) -> JsonObject:
        return {"whole": self.whole, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Repaired:
    """`copy`: the folder with all files as they were; `waiting`: runs that stand until a person resumes them;
    `given_up`: runs that are shown as failed, because part of their record is missing."""

    copy: str
    waiting: list[str]
    given_up: list[str]


def examined(path: Path) -> Examined:
    """Of the journal at `path`; changes nothing."""
    found = problem(path)
    runs, facts = counted(path)
    return Examined(found.message if found else "", damaged_runs(path), runs, facts, damage(path.parent))


async def repaired(path: Path, found: Examined) -> Repaired:
    """Take what the journal holds for all there is. Raises `JournalRefused` or `OSError`."""
    copy = copied(path)
    if found.spending:
        shutil.move(path.with_name(FILE_NAME), copy / FILE_NAME)
    if found.problem:
        accept(path)
    journal = Journal(SqliteStorage(path))
    try:
        runs = Runs(journal)
        await runs.load()
        waiting = sorted(runs.live) if found.problem else []
        for run_id in waiting:
            said = Interrupted(found_in=runs.live[run_id].state.status, reason=REPAIRED)
            await journal.append(run_id, facts=[said.fact()])
        for run_id, state in runs.damaged.items():
            await journal.keep_snapshot(run_id, state._asdict())
        return Repaired(str(copy), waiting, sorted(runs.damaged))
    finally:
        await journal.close()
