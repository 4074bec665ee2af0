"""An engine in a process of its own, for tests that kill it.

`python -m tests.engine.assistants.support.engine_process FOLDER [approve] [KIND WHEN]`: starts the assistant of
FOLDER/project, or goes on with the run of FOLDER/data; with `approve` it says yes to what is asked. With KIND it
kills itself (SIGKILL) `before` or `after` the first transaction with such a fact, or under such a part of a place.
Ends with the run, and writes its facts to FOLDER/facts.json.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from loop_ls.client.consent import agreed
from loop_ls.engine.assistants.program import AssistantProgram
from loop_ls.engine.journal import Entry, Row, SqliteStorage
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.assistant import AssistantPreparer
from tests.engine.assistants.support.project import ENDS, PATH, ScriptedModels


class DyingStorage(SqliteStorage):
    kind, when = "", ""

    def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
        kinds = (kind for entry in batch for kind in (entry.key.rpartition(":")[2], *(kind for kind, _ in entry.facts)))
        there = bool(self.kind) and self.kind in kinds
        if there and self.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        rows = super().write(batch)
        if there:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows


async def main(folder: Path, approve: bool) -> None:
    data, root = folder / "data", folder / "project"
    preparer = AssistantPreparer(data, lambda workspace, documents: [[] for _ in documents], {})
    storage = DyingStorage if DyingStorage.kind else SqliteStorage
    engine = Engine(
        data,
        {"assistant": AssistantProgram()},
        lambda plan: ScriptedModels({}),
        preparer,
        storage=lambda: storage(data / "journal.db"),
    )
    await engine.open()
    runs = (await engine.runs())["runs"]
    run_id = runs[0]["runId"] if runs else await start(engine, root)
    async for _, event in engine.subscribe(after=0, run_id=run_id):
        if event["kind"] == "manual_approval_required":
            (folder / "asked").write_text(event["loopId"])
            if approve:
                await engine.approve(run_id, event["loopId"], True)
        if event["kind"] in ENDS:
            break
    (folder / "facts.json").write_text(json.dumps((await engine.events(run_id, limit=1000))["events"]))
    await engine.close()


async def start(engine: Engine, root: Path) -> str:
    request = {"root": str(root), "path": str(root / PATH), "target": {"kind": "assistant"}, "message": "do it"}
    refused = await engine.start(request)
    answer = await engine.start({**request, "consent": agreed(engine.folder, refused)})
    assert answer["ok"], answer
    return str(answer["runId"])


if __name__ == "__main__":
    if sys.argv[-1] in ("before", "after"):
        DyingStorage.kind, DyingStorage.when = sys.argv[-2:]
    asyncio.run(main(Path(sys.argv[1]), "approve" in sys.argv))
    os._exit(0)
