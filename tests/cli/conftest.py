"""The command in folders of its own: real processes, real engines, no key. Neither waits for imports (`forked`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from loop_ls.client.engine_location import read_handover
from tests.processes import forked

SCRIPT = Path(sys.executable).with_name("loop-ls")
SECONDS = 90

CALLEE = """\
$schema: "workflow/v2.0"
name: draft
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  - {name: write, run: "Write about {{topic}}. Before: {{before}}"}
"""

DEVELOP = """\
$schema: "workflow/v2.0"
name: develop_it
version: 1.0.0
description: A loop with a step behind it.
execution: {provider: scripted, model: m}
loops:
  - name: develop
    workflow: draft
    with: {topic: "{{input}}", before: "{{loop.last.output}}"}
    max_iterations: 5
    until: "The text is good"
steps:
  - {name: report, needs: [develop], run: "Report on {{develop}}"}
"""

ONLY_LOOP = DEVELOP.partition("steps:")[0].replace("develop_it", "only_loop")

ANSWERS = """\
answers:
  - when: {step: write}
    say: ["draft one", "draft two", "draft three"]
  - when: {purpose: judge}
    say: ["NO", "NO", "YES"]
  - when: {step: report}
    say: "the report"
"""


@dataclass
class CliProject:
    """A workspace with its engine's data folder."""

    root: Path
    data: Path

    def env(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        return kept | {"LOOP_LS_DATA_DIR": str(self.data), "NO_COLOR": "1", "COLUMNS": "100", **more}

    def call(self, *words: str, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        return forked.run(
            [SCRIPT, *words],
            SECONDS,
            stdin,
            cwd=self.root,
            env=self.env(**env),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def popen(self, *words: str, **env: str) -> subprocess.Popen[str]:
        return forked.Forked(
            [SCRIPT, *words],
            cwd=self.root,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def engine_pid(self) -> int | None:
        found = read_handover(self.data)
        return found.pid if found else None

    def end(self) -> None:
        """Kill the engine, if that is what the hand-over file names."""
        pid = self.engine_pid()
        if pid is None:
            return
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if forked.is_ours(process.cmdline()) or str(self.data) in process.cmdline():
                process.kill()


def fill(project: CliProject) -> None:
    project.write("draft.yaml", CALLEE)
    project.write("develop.yaml", DEVELOP)
    project.write("develop.answers.yaml", ANSWERS)
    project.write("only_loop.yaml", ONLY_LOOP)
    project.write("only_loop.answers.yaml", ANSWERS)


@pytest.fixture(autouse=True)
def engines_are_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that a test starts by itself too."""
    monkeypatch.setattr("loop_ls.client.launch.subprocess", forked.Subprocess)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CliProject]:
    """One engine for all tests of a module."""
    base = tmp_path_factory.mktemp("shared")
    project = CliProject(base / "project", base / "data")
    project.root.mkdir()
    fill(project)
    yield project
    project.end()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[CliProject]:
    """The folder of a newcomer: nothing is there yet."""
    project = CliProject(tmp_path / "empty", tmp_path / "data")
    project.root.mkdir()
    yield project
    project.end()


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[CliProject]:
    """An engine of the test's own, not started yet."""
    project = CliProject(tmp_path / "project", tmp_path / "data")
    project.root.mkdir()
    fill(project)
    yield project
    project.end()
