"""An engine that goes away between two rounds of tools: what was answered is neither asked nor called again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from loop_ls.client.consent import agreed
from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.testing import mcp_server
from loop_ls.testing.models import SILENCE, ScriptedModels, calls
from loop_ls.testing.workflows import whole

FLOW = """
    execution: {provider: ollama, model: m}
    steps:
      - {name: find, run: Find it, servers: [things]}
"""


async def opened(folder: Path, models: ScriptedModels, environ: dict[str, str]) -> Engine:
    preparer = WorkflowPreparer(folder / "data", lambda workspace, documents: [[] for _ in documents], environ)
    program = WorkflowProgram(environ.get, environ)
    engine = Engine(folder / "data", {"workflow": program}, lambda plan: models, preparer)
    await engine.open()
    return engine


async def until(engine: Engine, run_id: str, *kinds: str) -> list[dict[str, Any]]:
    """The facts up to the first one of these kinds."""
    async with asyncio.timeout(60):
        async for _, event in engine.subscribe(after=0, run_id=run_id):
            if event["kind"] in kinds:
                break
    return list((await engine.events(run_id, limit=200))["events"])


async def test_a_run_goes_on_behind_the_last_answered_call(tmp_path: Path) -> None:
    root, log = tmp_path / "project", tmp_path / "calls.jsonl"
    (tmp_path / "data").mkdir()
    root.mkdir()
    (root / "flow.yaml").write_text(whole("flow", FLOW))
    server = {"command": [sys.executable, "-S", mcp_server.FILE], "env": {"MCP_LOG": "${MCP_LOG}"}}
    (root / ".loop-ls.yaml").write_text(json.dumps({"servers": {"things": server}}))
    environ = {"MCP_LOG": str(log), "PATH": os.environ["PATH"]}
    first = ScriptedModels({"find": [calls(("add", {"a": 1, "b": 2})), SILENCE]})
    engine = await opened(tmp_path, first, environ)
    argument = {"root": str(root), "path": str(root / "flow.yaml"), "input": "x"}
    asked = await engine.start(argument)
    run_id = (await engine.start(argument | {"consent": agreed(engine.folder, asked)}))["runId"]
    await until(engine, run_id, "tool_called")
    await engine.close()

    second = ScriptedModels({"find": "it is 3"})
    engine = await opened(tmp_path, second, environ)
    facts = await until(engine, run_id, "completed", "failed")
    [row] = (await engine.prompts(run_id))["prompts"]
    assert (row["prompt"], row["answer"]) == ("Find it", "it is 3"), "one row, whatever was called in between"
    await engine.close()
    assert (facts[-1]["kind"], facts[-1]["finalOutput"]) == ("completed", "it is 3")
    [again] = second.requests
    assert [answer.text for answer in again.turns[0].answers] == ["3"]
    assert [json.loads(line)[0] for line in log.read_text().splitlines()] == ["add"]
    assert [fact["kind"] for fact in facts].count("tool_called") == 1
