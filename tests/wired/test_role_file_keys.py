"""Every key of a role file, from `roles/NAME.md` to what the model of a stage is asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.wired.project import Ended, WiredProject, wrong
from tests.wired.row import PLACE, Row
from tests.wired.test_settings_keys import ASSIST, PAIR, ROUNDS, stage

FILE = f"---\n{{{PLACE}}}\n---\nIn verse.\n"
SILENT = f"---\n{{{PLACE}}}\n---\n"


def tools(run: Ended) -> object:
    return {tool.name for tool in run.models.requests[0].tools} & {"file_read", "file_list", "file_search"}


ROWS = (
    Row("role file.name", FILE, "name: poet", lambda run: run.answer["ok"], True, False, "name: singer"),
    Row("role file.description", SILENT, "description: Sings.",
        lambda run: "sings." in run.models.requests[0].system, True, False),
    Row("role file.tools", FILE, "tools: [Read], access: readonly", tools, {"file_read"},
        {"file_read", "file_list", "file_search"}, "access: readonly"),
    Row("role file.access", FILE, "access: minimal", lambda run: len(run.models.requests[0].tools), 0, 13),
    Row("role file.provider", FILE, "provider: own, model: m", stage("provider"), "own", "ollama", "model: m"),
    Row("role file.model", FILE, "model: own", stage("model"), "own", "small"),
    Row("role file.maxSteps", FILE, "maxSteps: 1", lambda run: len(run.models.requests), 1, 4),
    Row("role file.isolate", FILE, "isolate: nowhere", lambda run: run.answer.get("code"), "bad_argument", None),
)  # fmt: skip


@pytest.mark.timeout(600)
def test_a_key_of_a_role_file_is_seen_in_the_run(tmp_path: Path) -> None:
    told = asyncio.run(_wrong(tmp_path))
    assert told == "", told


async def _wrong(folder: Path) -> str:
    project = WiredProject(folder)
    project.write("loops/pair.json", PAIR)
    project.write(".loop-ls.yaml", ASSIST)
    await project.open()

    async def run(row: Row, text: str) -> Ended:
        project.write("roles/poet.md", text)
        script = {"write": ROUNDS if row.key == "role file.maxSteps" else "verse"}
        return await project.run("loops/pair.json", script, target={"kind": "definition"}, goal="g")

    try:
        return await wrong(ROWS, run, lambda row: row.key == "role file.maxSteps" and row.key)
    finally:
        await project.close()
