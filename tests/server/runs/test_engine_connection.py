"""The engine is killed, started by somebody else, restarted: the editor misses nothing and sees nothing twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from lsprotocol import types as t

from tests.server.support.engine import ANSWERS, SLOW, engine_process, stop_engine
from tests.server.support.flows import LOOP
from tests.server.support.session import Session


@pytest_asyncio.fixture
async def session(folder: Path, tmp_path: Path) -> AsyncIterator[Session]:
    data = tmp_path / "data"
    session = Session("vscode", folder, data)
    await session.begin()
    yield session
    await session.end()
    stop_engine(data)


def argument(session: Session) -> dict[str, object]:
    uri = (session.folder / "flow.yaml").as_uri()
    return {"uri": uri, "target": {"kind": "loop", "name": "refine"}, "input": "trains", "mock": True}


async def test_a_killed_engine_is_started_again_and_no_fact_is_lost_or_doubled(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(SLOW)
    session.open((session.folder / "flow.yaml").as_uri(), LOOP)
    run_id = (await session.command("loopLs.run", argument(session)))["runId"]
    await session.until_event("judged", run_id, iteration=2)
    first = engine_process(session.data)
    os.kill(first, signal.SIGKILL)
    await session.until_event("completed", run_id)
    assert engine_process(session.data) != first
    events = session.events_of(run_id)
    numbers = [event["seq"] for event in events if "seq" in event]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [e["iteration"] for e in events if e["kind"] == "iteration"] == [1, 2, 3, 4, 5]
    assert [e["iteration"] for e in events if e["kind"] == "judged"] == [1, 2, 3, 4, 5]
    assert [e["kind"] for e in events].count("recovered") == 1
    await session.until(lambda: session.states[-1]["status"] == "completed")
    assert session.states[-1]["reason"] == "max_iterations"


async def test_an_engine_that_was_restarted_takes_the_next_run(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(ANSWERS)
    session.open((session.folder / "flow.yaml").as_uri(), LOOP)
    run_id = (await session.command("loopLs.run", argument(session)))["runId"]
    await session.until_event("completed", run_id)
    first = engine_process(session.data)
    answers = await asyncio.gather(*(session.command("loopLs.engine.restart", {}) for _ in range(2)))
    assert [answer["ok"] for answer in answers] == [True, True]
    assert engine_process(session.data) != first
    again = (await session.command("loopLs.run", argument(session)))["runId"]
    await session.until_event("completed", again)
    status = await session.command("loopLs.engine.status", {})
    assert status["engine"]["pid"] == engine_process(session.data)


async def test_UP_73_a_run_started_in_the_terminal_shows_in_the_editor(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(ANSWERS)
    uri = (session.folder / "flow.yaml").as_uri()
    session.open(uri, LOOP)
    await session.findings(uri, 1)
    command = ["run", "flow.yaml", "--loop", "refine", "--input", "trains", "--mock", "--json", "--yes"]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "loop_ls", *command),
        cwd=session.folder,
        env={**os.environ, "LOOP_LS_DATA_DIR": str(session.data), "PYTHONPATH": os.getcwd()},
        stdout=asyncio.subprocess.DEVNULL,
    )
    await session.until(lambda: any(event["kind"] == "completed" for event in session.events), limit=60)
    assert await asyncio.wait_for(process.wait(), 60) == 0
    [run_id] = {event["runId"] for event in session.events}
    numbers = [event["seq"] for event in session.events_of(run_id) if "seq" in event]
    assert numbers == list(range(1, len(numbers) + 1))
    await session.until(lambda: len(session.run_findings(uri)) == 1)


async def test_UP_74_the_last_result_is_shown_in_the_next_session(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(ANSWERS)
    uri = (session.folder / "flow.yaml").as_uri()
    session.open(uri, LOOP)
    run_id = (await session.command("loopLs.run", argument(session)))["runId"]
    await session.until_event("completed", run_id)
    # Through another name of the same folder, as it happens with links.
    link = session.folder.parent / "link"
    link.symlink_to(session.folder)
    uri = (link / "flow.yaml").as_uri()
    again = Session("vscode", link, session.data)
    await again.begin()
    try:
        again.open(uri, LOOP)
        await again.findings(uri, 1)
        await again.until(lambda: any("condition met" in d.message for d in again.run_findings(uri)))
        params = t.CodeLensParams(t.TextDocumentIdentifier(uri))
        titles = [
            lens.command.title
            for lens in await again.client.text_document_code_lens_async(params) or ()
            if lens.command
        ]
        assert any("condition met" in title for title in titles)
    finally:
        await again.end()


async def in_terminal(session: Session) -> str:
    """Start a run that goes on by itself; its id."""
    command = ["run", "flow.yaml", "--loop", "refine", "--input", "trains", "--mock", "--json", "--yes", "--detach"]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "loop_ls", *command),
        cwd=session.folder,
        env={**os.environ, "LOOP_LS_DATA_DIR": str(session.data), "PYTHONPATH": os.getcwd()},
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    return str(json.loads(printed)["runId"])


async def test_a_run_that_is_looked_at_is_heard_although_its_file_is_not_open(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(SLOW)
    run_id = await in_terminal(session)
    known = await session.command("loopLs.events", {"runId": run_id, "follow": True})
    assert known["events"][0]["kind"] == "run_started"
    await session.until_event("completed", run_id)
    numbers = [event["seq"] for event in session.events_of(run_id) if "seq" in event]
    assert numbers == list(range(1, len(numbers) + 1))


async def test_a_view_is_followed_from_where_it_was_read(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(SLOW)
    session.open((session.folder / "flow.yaml").as_uri(), LOOP)
    run_id = (await session.command("loopLs.run", argument(session)))["runId"]
    await session.until_event("judged", run_id, iteration=1)
    assert session.views == []  # nobody looks at it yet
    read = await session.command("loopLs.view", {"runId": run_id, "follow": True})
    assert read["state"]["runId"] == run_id
    seq, rows = read["seq"], {row["id"]: row for row in read["rows"]}
    await session.until_event("completed", run_id)
    last = session.events_of(run_id)[-1]["seq"]
    await session.until(lambda: session.views != [] and session.views[-1]["seq"] == last)
    for notice in session.views:
        assert notice["after"] <= seq
        seq = max(seq, notice["seq"])
        rows |= {row["id"]: row for row in notice["rows"]}
    whole = await session.command("loopLs.view", {"runId": run_id})
    assert whole["seq"] == seq
    assert rows == {row["id"]: row for row in whole["rows"]}
    assert [rows[f"refine/{number}"]["verdict"] for number in range(1, 6)] == ["no"] * 5
    assert (await session.command("loopLs.view", {"runId": run_id, "afterSeq": seq}))["rows"] == []
