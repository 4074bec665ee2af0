"""A client that lists runs: states of all runs of its folder, whoever started them; engine and record come and go."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest_asyncio

from tests.processes import forked
from tests.server.support.editor import Editor
from tests.server.support.engine import ANSWERS, stop_engine
from tests.server.support.flows import LOOP
from tests.server.support.raw import RawClient
from tests.server.support.session import Session

Json = dict[str, Any]
Start = Callable[..., RawClient]
LISTS = {"listsRuns": True, "asksPeople": True}


@pytest_asyncio.fixture
async def session(folder: Path, tmp_path: Path) -> AsyncIterator[Session]:
    (folder / "flow.answers.yaml").write_text(ANSWERS)
    data = tmp_path / "data"
    session = Session("vscode", folder, data)
    await session.begin(LISTS)
    yield session
    await session.end()
    stop_engine(data)


async def in_terminal(session: Session, *words: str) -> Json:
    done = await asyncio.to_thread(
        forked.run,
        [sys.executable, "-m", "loop_ls", *words],
        60,
        cwd=session.folder,
        env={**os.environ, "LOOP_LS_DATA_DIR": str(session.data)},
        stdout=subprocess.PIPE,
        text=True,
    )
    return {"exit": done.returncode, "printed": done.stdout}


RUN = ("run", "flow.yaml", "--loop", "refine", "--input", "trains", "--mock", "--yes", "--json")


async def test_UP_73_a_run_of_a_file_that_nobody_has_open_is_in_the_list(session: Session) -> None:
    assert (await session.command("loopLs.runs", {}))["runs"] == []
    assert not session.data.exists()  # nobody starts an engine to read an empty record
    assert (await in_terminal(session, *RUN))["exit"] == 0
    await session.until(lambda: session.engines != [])
    [state] = (await session.command("loopLs.runs", {}))["runs"]
    assert state["said"] == {"sign": "✓", "line": "condition met in iteration 3", "spent": state["said"]["spent"]}
    # one that starts now is told of by its states, and by none of its facts
    (session.folder / "flow.answers.yaml").write_text("delay: 60\n" + ANSWERS)
    started = json.loads((await in_terminal(session, *RUN, "--detach"))["printed"])
    mine = lambda: [one["status"] for one in session.states if one["runId"] == started["runId"]]  # noqa: E731
    await session.until(lambda: mine()[-1:] == ["running"])
    assert (await in_terminal(session, "runs", "stop", started["runId"]))["exit"] == 0
    await session.until(lambda: mine()[-1:] == ["cancelled"])
    assert session.events == []


async def test_what_the_terminal_deletes_leaves_the_list(session: Session) -> None:
    session.open((session.folder / "flow.yaml").as_uri(), LOOP)
    argument = {"uri": (session.folder / "flow.yaml").as_uri(), "target": {"kind": "loop", "name": "refine"}}
    run_id = (await session.command("loopLs.run", {**argument, "input": "trains", "mock": True}))["runId"]
    await session.until_event("completed", run_id)
    assert (await in_terminal(session, "runs", "delete", run_id))["exit"] == 0
    await session.until_event("deleted", run_id)
    assert (await session.command("loopLs.runs", {}))["runs"] == []


async def test_a_client_hears_that_the_engine_was_stopped_and_that_it_is_back(session: Session) -> None:
    session.open((session.folder / "flow.yaml").as_uri(), LOOP)
    assert (await session.command("loopLs.engine.restart", {}))["ok"] is True
    await session.until(lambda: session.engines[-1:] == [True])
    stop_engine(session.data)
    await session.until(lambda: session.engines[-1:] == [False])
    assert (await session.command("loopLs.engine.restart", {}))["ok"] is True
    await session.until(lambda: session.engines[-1:] == [True])


def test_a_client_that_asks_people_itself_gets_no_question(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder, options=LISTS)
    run_id = editor.run({"iterations": 1, "asks": 1})["runId"]
    state = editor.wait_state(status="waiting_approval")
    assert state["said"]["line"] == "waiting for approval · iteration 1/1"
    assert editor.command("loopLs.approve", {"runId": run_id, "approved": True})["ok"] is True
    editor.wait_event("completed")
    assert not [m for m in client.received if m.get("method") == "window/showMessageRequest"]


def test_a_client_that_does_not_list_runs_hears_only_of_its_own(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    run_id = editor.run({"iterations": 1})["runId"]
    editor.wait_event("completed")
    assert not [m for m in client.received if m.get("method") == "loopLs/engine"]
    assert {m["params"]["runId"] for m in client.received if m.get("method") == "loopLs/run"} == {run_id}


async def test_a_run_can_be_exported(session: Session) -> None:
    session.open((session.folder / "flow.yaml").as_uri(), LOOP)
    argument = {"uri": (session.folder / "flow.yaml").as_uri(), "target": {"kind": "loop", "name": "refine"}}
    run_id = (await session.command("loopLs.run", {**argument, "input": "trains", "mock": True}))["runId"]
    await session.until_event("completed", run_id)
    answer = await session.command("loopLs.export", {"runId": run_id})
    assert (answer["ok"], answer["run"]["runId"]) == (True, run_id)
    assert (await session.command("loopLs.export", {"runId": "nobody"}))["code"] == "not_found"

    known = await session.command("loopLs.import", {"run": answer["run"]})
    assert (known["ok"], known["known"], known["runId"]) == (True, True, run_id)
    assert (await session.command("loopLs.delete", {"runId": run_id}))["ok"]
    taken = await session.command("loopLs.import", {"run": answer["run"]})
    assert (taken["ok"], taken["known"], taken["runId"]) == (True, False, run_id)
    listed = (await session.command("loopLs.runs", {}))["runs"]
    assert [(state["runId"], state["status"], state["imported"]) for state in listed] == [(run_id, "completed", True)]
    refused = await session.command("loopLs.import", {"run": {"say": "no run"}})
    assert not refused["ok"] and refused["message"]


async def test_everything_that_can_be_started_is_listed_as_it_is_in_the_editor(session: Session) -> None:
    uri = (session.folder / "flow.yaml").as_uri()
    session.open(uri, "# one line more\n" + LOOP)
    answer = await session.command("loopLs.definitions", {"runnables": True})
    found = {one["label"]: one for one in answer["runnables"]}
    assert list(found) == ["draft", "flow"]
    [loop] = found["flow"]["inner"]
    assert (loop["kind"], loop["name"], loop["range"]["start"]["line"]) == ("loop", "refine", 7)
    assert loop["judged"]["start"]["line"] == 11
    assert "runnables" not in await session.command("loopLs.definitions", {})
    assert json.dumps(answer)
