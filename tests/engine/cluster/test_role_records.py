"""The records of role loops where several engines share a database: what a stage writes at one is seen at all."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.durable.workers import PostgresWorkers
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.roles.program import RoleLoopProgram
from loop_ls.engine.roles.records.ids import sprint_id
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.sprints import project_of
from loop_ls.engine.roles.records.stores import Unavailable
from loop_ls.engine.roles.stage_agents import stage_agents
from loop_ls.engine.roles.tools.notes import StageNotes, memory_tools, todo_tools
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.by_format import ByFormat
from loop_ls.engine.starting.role_loop import RoleLoopPreparer
from tests.engine.cluster.engine_processes import BEAT, LEASE
from tests.engine.roles.conftest import PAIR, SETTINGS, ScriptedModels

NOBODY = "postgresql://postgres@127.0.0.1:1/postgres"


@pytest.fixture
async def two(database: str, tmp_path: Path) -> AsyncIterator[tuple[Records, Records]]:
    made = [Records(tmp_path / name, time.time, database) for name in ("one", "other")]
    yield made[0], made[1]
    for each in made:
        each.close()


async def test_one_session_has_one_project_whichever_engine_is_asked(two: tuple[Records, Records]) -> None:
    asked = [each.do(lambda table: project_of(table, "pair", "Do it.", "mine")) for each in two * 4]
    projects = await asyncio.gather(*asked)
    assert len({project["id"] for project in projects}) == 1
    assert await two[1].do(lambda table: len(table.find("projects"))) == 1


async def test_todos_and_memory_of_a_stage_are_seen_by_the_stages_of_others(two: tuple[Records, Records]) -> None:
    one, other = (StageNotes(each, "mine", "run", "p", "s", "by", "/project") for each in two)
    add = next(tool for tool in todo_tools(one) if tool.name == "todo_add")
    await add.run({"title": "Write the docs"})
    listed, _, update = todo_tools(other)
    told = await listed.run({})
    assert "[open] Write the docs" in told
    await update.run({"id": told.split()[0], "status": "done"})
    assert "[done] Write the docs" in await todo_tools(one)[0].run({})
    store, _ = memory_tools(one)
    await store.run({"text": "The tests need\x00 a database."})
    assert await memory_tools(other)[1].run({"query": "database tests"}) == "- The tests need\ufffd a database."
    elsewhere = StageNotes(two[1], "mine", "run", "p", "s", "by", "/another")
    assert await memory_tools(elsewhere)[1].run({"query": "database"}) == "nothing found in memory"


async def test_a_database_that_is_away_is_said_as_what_it_is(tmp_path: Path) -> None:
    records = Records(tmp_path, time.time, NOBODY)
    with pytest.raises(Unavailable, match=r"database at 127\.0\.0\.1:1/postgres cannot be reached"):
        await asyncio.to_thread(records.do_now, lambda table: table.find("projects"))
    records.close()
    assert await records.beside(None, []) == {}


async def engine(
    folder: Path, root: Path, database: str, models: ScriptedModels, records: Records, takes: bool
) -> Engine:
    made = Engine(
        folder,
        {"role_loop": RoleLoopProgram(records, stage_agents(records, {"PATH": "/usr/bin:/bin"}))},
        lambda plan: models,
        ByFormat({"role_loop": RoleLoopPreparer(folder, {}, records)}),
        storage=lambda: PostgresStorage(database),
        home=root,
        workers=lambda storage: PostgresWorkers(storage, takes=takes, beat=BEAT, lease=LEASE),
    )
    made.records = records
    made.forgotten.append(records.forget)
    await made.open()
    return made


async def test_what_a_worker_writes_of_a_loop_is_shown_where_it_was_started(
    database: str, tmp_path: Path, two: tuple[Records, Records]
) -> None:
    root, models = (
        tmp_path / "project",
        ScriptedModels({"write": ["text"], "judge-it": ["NEEDS CHANGES: more", "APPROVED"]}),
    )
    (root / "loops").mkdir(parents=True)
    (root / "loops" / "pair.json").write_text(json.dumps(PAIR))
    (root / ".loop-ls.yaml").write_text(SETTINGS)
    first = await engine(tmp_path / "a", root, database, models, two[0], takes=False)
    worker = await engine(tmp_path / "b", root, database, models, two[1], takes=True)
    try:
        request: dict[str, Any] = {"definition": "pair", "goal": "Do it.", "root": str(root), "origin": "editor"}
        asked = await first.start(request)
        run_id = (await first.start({**request, "consent": agreed(first.folder, asked)}))["runId"]
        async with asyncio.timeout(60):
            async for _, event in first.subscribe(0, run_id):
                if event["kind"] in ("completed", "failed"):
                    break
        state = (await first.state(run_id))["state"]
        assert (state["status"], state["reason"], state["iteration"]) == ("completed", "approved", 2)
        shown = await first.beside(state["projectId"], [sprint_id(run_id, 1), sprint_id(run_id, 2)])
        assert shown["project"]["title"] == "Loop: pair"
        async with asyncio.timeout(60):  # the last sprint is moved when the verdict is out already
            while sorted(one["status"] for one in shown["sprints"].values()) != ["complete", "rejected"]:
                shown = await first.beside(state["projectId"], [sprint_id(run_id, 1), sprint_id(run_id, 2)])
        kept = await two[0].do(lambda table: table.find("artifacts", loop_id=run_id))
        assert [one["content"] for one in kept] == ["text", "NEEDS CHANGES: more", "text", "APPROVED"]
        assert {one["session_id"] for one in kept} == {state["sessionId"]}
        again = await first.start(request)
        assert again["projectId"] == state["projectId"]
        assert (await first.delete(run_id))["ok"]
        async with asyncio.timeout(60):
            while await two[1].do(lambda table: table.find("sprints", loop_id=run_id)):
                await asyncio.sleep(0.02)
    finally:
        await worker.close()
        await first.close()
