"""The engine dies at each point of a run in a worktree: the next one goes on there, and what is the user's stays.

No process is killed here: the journal stops taking anything, or nothing follows after a command of Git, as it is with
a dead engine. That is quick enough to try every point.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from loop_ls.app.engine import validate
from loop_ls.engine.assistants.program import AssistantProgram
from loop_ls.engine.journal import Entry, JournalRefused, Row, SqliteStorage
from loop_ls.engine.runs.isolation.git import Git, Said
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.assistant import AssistantPreparer
from loop_ls.engine.starting.by_format import ByFormat
from tests.engine.isolation.kinds import git
from tests.engine.isolation.project import Isolated, files_of


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


class Mortal(Isolated):
    """Its journal takes so many transactions."""

    life = 1_000_000

    async def open(self) -> Engine:
        preparer = ByFormat({"assistant": AssistantPreparer(self.data, validate, {})})
        programs = {"assistant": AssistantProgram(self.environ, self.pattern_limit)}
        storage = lambda: DyingStorage(self.data / "journal.db", self.life)  # noqa: E731
        self.engine = Engine(self.data, programs, lambda plan: self.models, preparer, storage, home=self.root)
        await self.engine.open()
        return self.engine

    async def until_dead_or_ended(self, run_id: str) -> None:
        assert self.engine is not None
        run = self.engine._runs.live.get(run_id)
        if run is not None and run.task is not None:
            await run.task

    async def whole_and_applied(self, run_id: str, before: dict[str, object]) -> None:
        """The run that goes on in the next engine ends well, and what it made is applied."""
        await self.close()
        self.life = 1_000_000
        await self.open()
        facts = await self.ended(run_id)
        assert (facts.end["kind"], facts.end["reason"]) == ("completed", "condition_met"), facts.end
        assert self.users() == before
        (made,) = facts.of("worktree_made")
        assert files_of(self.root, made["branch"]) == {"a.py": "new\n", "one": "", "done": ""}
        assert [one["commit"] for one in facts.of("worktree_committed")][-1] == git(
            self.root, "rev-parse", made["branch"]
        ).strip()
        titles = git(self.root, "log", "--format=%s", f"main..{made['branch']}").splitlines()
        assert len(titles) == len(set(titles)) and titles[0].endswith(": yes")
        assert len(git(self.root, "worktree", "list").splitlines()) == 2
        assert (await self.decide(run_id, "apply"))["ok"]
        assert (self.root / "done").exists()
        assert self.branches() == [made["branch"], "main"]


async def dies(folder: Path, life: int) -> bool:
    """Whether it died before its end."""
    project = Mortal(folder)
    project.prepare()
    before = project.users()
    await project.start(consent=False)  # the question and the answer to it are no part of the run
    assert project.engine is not None
    run_id = await project.started()
    storage = project.engine.journal.storage
    assert isinstance(storage, DyingStorage)
    storage.life = life
    await project.until_dead_or_ended(run_id)
    died = storage.life <= 0
    await project.whole_and_applied(run_id, before)
    await project.close()
    return died


#: Transactions of a run of two iterations, and a few more.
POINTS = 40


@pytest.mark.parametrize(
    "life", [point if point % 10 == 3 else pytest.param(point, marks=pytest.mark.long) for point in range(POINTS)]
)
async def test_a_run_goes_on_in_its_worktree_after_any_transaction(life: int, tmp_path: Path) -> None:
    await dies(tmp_path, life)


@pytest.mark.parametrize(
    "number", [point if point % 10 == 2 else pytest.param(point, marks=pytest.mark.long) for point in range(1, 32)]
)
async def test_a_run_goes_on_in_its_worktree_after_any_command_of_git(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Mortal(tmp_path)
    project.prepare()
    before = project.users()
    done = 0
    ran = Git.run

    async def dying(self: Git, *words: str, text: str | None = None) -> Said:
        nonlocal done
        done += 1
        if done > number:
            raise JournalRefused("closed", "The engine is dead.")
        said = await ran(self, *words, text=text)
        if done == number:
            done += 1
            raise JournalRefused("closed", "The engine is dead.")
        return said

    monkeypatch.setattr(Git, "run", dying)
    run_id = await project.started()
    await project.until_dead_or_ended(run_id)
    monkeypatch.setattr(Git, "run", ran)
    await project.whole_and_applied(run_id, before)
    await project.close()
