"""What somebody missed is read from its newest end: an old journal is not read from its beginning for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.engine import service
from loop_ls.engine.runs.inbox import TOLD
from tests.engine.runs.test_workflow_runs import SCRIPT, EngineProject


async def test_what_was_missed_is_the_newest_in_its_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = EngineProject(tmp_path)
    engine = await project.open()
    try:
        ran = []
        for _ in range(3):
            project.models = type(project.models)(SCRIPT)
            ran.append(str((await project.start())["runId"]))
            await project.facts(ran[-1])
        read: list[int] = []

        def counted(kinds: list[str], position: int, limit: int) -> list[object]:
            found = newest(kinds, position, limit)
            assert {row.kind for row in found} <= TOLD
            read.append(len(found))
            return list(found)

        newest = engine.journal.storage.newest
        monkeypatch.setattr(engine.journal.storage, "newest", counted)
        monkeypatch.setattr(engine.journal.storage, "since", None)  # reading all would fail
        whole = await engine.inbox(0)
        assert whole["ok"] and "cut" not in whole
        told = [(one["runId"], one["text"].partition(":")[0]) for one in whole["missed"]]
        assert told == [pair for run in ran for pair in ((run, "It was started."), (run, "It ended"))]
        monkeypatch.setattr(service, "MOST_MISSED", 2)
        cut = await engine.inbox(0)
        assert cut["ok"] and cut["cut"]
        assert cut["missed"] == whole["missed"][-2:]
        after = whole["missed"][3]["position"]
        rest = await engine.inbox(after)
        assert rest["ok"] and rest["missed"] == whole["missed"][4:]
        assert read == [6, 4, 2], "as many as can be told, and no more"
    finally:
        await engine.close()
