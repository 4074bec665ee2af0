"""An engine with one enhance loop, in a process of its own that kills itself with SIGKILL before or after the
transaction with the first fact of a kind, and the editor that takes its edits.

`python enhance_child.py FOLDER KIND WHEN`: starts the loop of FOLDER/project, or resumes the interrupted one of
FOLDER/data. Requests go to FOLDER/requests.log; the buffer of the editor is FOLDER/buffer.yaml, and every edit
that it takes is a line of FOLDER/edits.log. Without KIND nobody dies.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loop_ls.app.engine import build
from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.journal import Entry, Row, SqliteStorage
from loop_ls.engine.providers.keys import Keys
from loop_ls.engine.service import Engine
from loop_ls.text.hash import text_hash
from tests.engine.enhance.loops import applied

FOLDER, KIND, WHEN = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
ENDS = ("completed", "failed", "cancelled")
PLAN = """{"rationale": "It has no tone.", "ops": [
  {"op": "set_instructions", "target": "review", "run": "Review {{draft}} kindly", "reason": "a tone"}]}"""


def line(name: str, text: str) -> None:
    with (FOLDER / name).open("a") as log:
        log.write(text + "\n")


class DyingStorage(SqliteStorage):
    def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
        there = bool(KIND) and any(kind == KIND for entry in batch for kind, _ in entry.facts)
        if there and WHEN == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        rows = super().write(batch)
        if there:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows


class Provider:
    """Refuses the review until it is asked for kindly."""

    keys = Keys({})

    def for_plan(self, plan: Any) -> Provider:
        return self

    def problem(self, name: str) -> ModelFailure | None:
        return None

    async def ask(self, request: ModelRequest, *others: Any) -> ModelReply:
        line("requests.log", f"{request.place} {request.purpose}")
        if request.purpose == "planner":
            return ModelReply(PLAN, request.provider, request.model)
        if request.place.endswith("/review") and "kindly" not in request.prompt:
            raise ModelFailure("bad_answer", "no tone")
        return ModelReply(f"text of {request.place}", request.provider, request.model)


async def take(engine: Engine, run_id: str) -> None:
    """What the editor's server does with an edit: the text that is there already counts as taken."""
    events = (await engine.events(run_id))["events"]
    sent = next(event for event in reversed(events) if event["kind"] == "edit_sent")
    buffer = FOLDER / "buffer.yaml"
    if text_hash(buffer.read_text()) == sent["baseSha256"]:
        buffer.write_text(applied(buffer.read_text(), sent))
        line("edits.log", sent["planId"].partition(":")[2])
    told = {"planId": sent["planId"], "outcome": "applied", "text": buffer.read_text()}
    await engine.enhance("acknowledge", run_id, told)


async def attend(engine: Engine, run_id: str) -> None:
    """Answer what the loop asks until it has ended."""
    answered = None
    while True:
        state = (await engine.state(run_id))["state"]
        if state["status"] in ENDS:
            return
        question = state.get("question") or {}
        if state["status"] != "interrupted" and question and question["question"] != answered:
            answered = question["question"]
            if question["kind"] == "edit_sent":
                await take(engine, run_id)
            else:
                text = (FOLDER / "buffer.yaml").read_text()
                await engine.enhance("choose", run_id, {"choice": "continue", "text": text})
        await asyncio.sleep(0.005)


async def main() -> None:
    data, project = FOLDER / "data", FOLDER / "project"
    engine = build(data, Provider(), project)  # type: ignore[arg-type]
    engine._storage = lambda: DyingStorage(data / "journal.db")
    await engine.open()
    runs = (await engine.runs())["runs"]
    async with asyncio.timeout(60):
        if runs:
            run_id = runs[0]["runId"]
            if runs[0]["status"] not in ENDS:
                line("requests.log", f"{runs[0]['status']}")
                assert (await engine.control("resume", run_id))["ok"]
        else:
            wanted = {"start": True, "editor": True}
            answer = await engine.start({"path": str(project / "report.yaml"), "root": str(project), "enhance": wanted})
            assert answer["ok"], answer
            run_id = answer["runId"]
        await attend(engine, run_id)
    await engine.close()


asyncio.run(main())
os._exit(0)
