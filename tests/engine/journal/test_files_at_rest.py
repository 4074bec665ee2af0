"""What a run leaves on the disk: nobody else may read it, and a clean end leaves no log beside the journal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from loop_ls.client.consent import agreed
from tests.wired.project import WiredProject

FLOW = """
$schema: workflow/v2.0
name: flow
version: 1.0.0
execution: {provider: acme, model: large}
steps: [{name: work, run: do it}]
"""


@pytest.fixture
def open_umask() -> Iterator[None]:
    """New files and folders are readable by everybody, unless who makes them says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


async def ran(folder: Path) -> WiredProject:
    project = WiredProject(folder)
    await project.open()
    project.write("flow.yaml", FLOW)
    project.write(".loop-ls.yaml", "notify: ['true']\n")  # something to agree to
    assert (await project.run("flow.yaml", {"work": "done"})).end["kind"] == "completed"
    return project


async def test_every_file_and_folder_of_the_data_is_its_owners_alone(tmp_path: Path, open_umask: None) -> None:
    project = await ran(tmp_path)
    modes = {path.name: path.stat().st_mode & 0o077 for path in (project.data, *project.data.rglob("*"))}
    await project.close()
    assert {"journal.db", "consents.json", "consent.key"} <= modes.keys()
    assert {name: oct(mode) for name, mode in modes.items() if mode} == {}


async def test_a_clean_end_folds_the_log_of_the_journal_into_its_file(tmp_path: Path) -> None:
    project = await ran(tmp_path)
    assert (project.data / "journal.db-wal").stat().st_size > 0
    await project.close()
    wal = project.data / "journal.db-wal"
    assert not wal.exists() or wal.stat().st_size == 0
    await project.open()
    assert len((await project.engine.runs())["runs"]) == 1  # type: ignore[typeddict-item]
    await project.close()


async def test_an_end_with_a_run_under_way_folds_it_too(tmp_path: Path) -> None:
    project = await ran(tmp_path)
    start = {"root": str(project.root), "path": str(project.root / "flow.yaml")}
    asked = await project.engine.start(start)
    if asked.get("code") == "consent_required":
        asked = await project.engine.start({**start, "consent": agreed(project.data, asked)})
    assert asked["ok"]
    await project.close()
    wal = project.data / "journal.db-wal"
    assert not wal.exists() or wal.stat().st_size == 0
