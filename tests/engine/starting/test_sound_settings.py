"""Settings that cannot be read keep a run from its start where a limit or an address would be passed over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import build
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine
from loop_ls.testing.workflows import whole

FLOW = 'execution: {provider: ollama, model: m}\nsteps:\n  - {name: write, run: "Write"}\n'


class EngineProject:
    def __init__(self, folder: Path, engine: Engine) -> None:
        self.root, self.engine = folder, engine
        (folder / "main.yaml").write_text(whole("main", FLOW))

    async def start(self, written: str | bytes | None, **more: Any) -> dict[str, Any]:
        file = self.root / ".loop-ls.yaml"
        if written is not None:
            file.write_bytes(written.encode() if isinstance(written, str) else written)
        request = {"root": str(self.root), "path": str(self.root / "main.yaml"), "mock": True}
        return await self.engine.start({**request, **more})


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    (tmp_path / "project").mkdir()
    (tmp_path / "data").mkdir()
    providers = Providers({})
    engine = build(tmp_path / "data", providers, tmp_path / "project")
    await engine.open()
    yield EngineProject(tmp_path / "project", engine)
    await engine.close()
    await providers.aclose()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("limits: {budgetUsd: lots}\n", "`limits.budgetUsd` must be a number"),
        ("limits: {maxTokens: 0}\n", "`limits.maxTokens` must be at least 1"),
        ("limits: {wallClock: soon}\n", "`limits.wallClock` must be a duration"),
        ("limits: {budgetUSD: 3}\n", "Unknown key `limits.budgetUSD` in `limits`; did you mean `budgetUsd`?"),
        ("limits: 5\n", "`limits` must be"),
        ("limits: {perDay: {budgetUSD: 3}}\n", "did you mean `budgetUsd`?"),
        ("limits: {perProject: {maxTokens: 0}}\n", "`limits.perProject.maxTokens` must be at least 1"),
        ("limits: {perDay: 5}\n", "`limits.perDay` must be"),
        ("judge: {local: true\nlimits: {budgetUsd: 3}\n", ".loop-ls.yaml, line "),
        ("- limits\n", ".loop-ls.yaml"),
        (b"limits: {budgetUsd: 3} # \xff\xfe\n", "cannot be read"),
        ("# " + "x" * 9_000_000 + "\nlimits: {budgetUsd: 3}\n", "cannot be read: The file has 8.6 MB"),
        ("providers: {ollama: {baseUrl: 5}}\n", "`providers.ollama.baseUrl` must be"),
        ("providers: {ollama: {price: {input: 3}}}\n", "`providers.ollama.price` needs `output` too"),
        ("providers: {ollama: {price: {input: -3, output: 1}}}\n", "`providers.ollama.price` has a negative `input`"),
        ("providers: {ollama: {price: {}}}\n", "`providers.ollama.price` needs `input` and `output` too"),
        ("providers: {ollama: {price: {input: 3, outptu: 15}}}\n", "did you mean `output`?"),
        ("providers: {ollama: {price: {input: .nan, output: 1}}}\n", "an amount in dollars"),
    ],
    ids=lambda value: str(value)[:24],
)
async def test_a_limit_that_cannot_be_read_refuses_the_start(project: EngineProject, settings: Any, told: str) -> None:
    answer = await project.start(settings)
    assert (answer["ok"], answer["code"]) == (False, "file_has_errors"), answer
    assert told in answer["message"] and answer["hint"], answer["message"]
    answer = await project.start("limits: {budgetUsd: 3}\n")
    assert answer["ok"], answer
    started = (await project.engine.events(answer["runId"]))["events"][0]
    assert started["limits"] == {"budgetUsd": 3}


async def test_a_limit_of_the_editor_that_cannot_be_read_refuses_the_start(project: EngineProject) -> None:
    answer = await project.start(None, settings={"limits": {"maxTokens": "many"}})
    assert (answer["ok"], answer["code"]) == (False, "bad_argument")
    assert "`limits.maxTokens` must be" in answer["message"]


async def test_other_faults_of_settings_stop_no_run(project: EngineProject) -> None:
    answer = await project.start("rules: {WF001: loud}\nprovidrs: {}\nproviders: {mine: {future: 1}}\n")
    assert answer["ok"], answer


TALK = """{"name": "talk", "description": "One.", "roles": [{"name": "a", "role": "plan", "prompt": "p"}],
 "termination_condition": {"type": "iteration_bound", "value": 1}}"""
HELPER = """assistants:
  - {id: helper, name: Helper, persona: p, loopEnabled: true, maxIterations: 1, provider: claude-code}
"""


@pytest.fixture
def inner(project: EngineProject) -> Path:
    """A project inside of the one that the engine works in, with settings of its own."""
    folder = project.root / "inner"
    (folder / "loops").mkdir(parents=True)
    (folder / "loops" / "talk.json").write_text(TALK)
    (folder / "helper.assistant.yaml").write_text(HELPER)
    (project.root / ".loop-ls.yaml").write_text("limits: {budgetUsd: 9}\n")
    return folder


@pytest.mark.parametrize("name", ["talk", "helper"])
async def test_what_is_started_by_its_name_has_the_limits_of_its_project(
    project: EngineProject, inner: Path, name: str
) -> None:
    request = {"definition": name, "goal": "Go", "mock": True}
    for root in (project.root, inner):
        (inner / ".loop-ls.yaml").write_text("limits: {budgetUsd: lots}\n")
        answer = await project.engine.start({**request, "root": str(root)})
        assert (answer["ok"], answer.get("code")) == (False, "file_has_errors"), answer
        (inner / ".loop-ls.yaml").write_text("limits: {budgetUsd: 1}\n")
        answer = await project.engine.start({**request, "root": str(root)})
        assert answer["ok"], answer
        started = (await project.engine.events(answer["runId"]))["events"][0]
        assert started["limits"]["budgetUsd"] == 1
        await project.engine.control("stop", answer["runId"])


async def test_a_built_in_loop_has_the_limits_of_the_folder_that_it_is_started_in(
    project: EngineProject, inner: Path
) -> None:
    (inner / ".loop-ls.yaml").write_text("limits: {budgetUsd: lots}\n")
    request = {"definition": "research", "goal": "Go", "mock": True}
    assert (await project.engine.start({**request, "root": str(project.root)}))["ok"]
    answer = await project.engine.start({**request, "root": str(inner)})
    assert (answer["ok"], answer.get("code")) == (False, "file_has_errors"), answer


@pytest.mark.parametrize("settings", ["limits: {budgetUsd: lots}\n", "limits: [\n"])
async def test_a_fork_is_refused_too_while_a_limit_cannot_be_read(project: EngineProject, settings: str) -> None:
    run_id = (await project.start("limits: {budgetUsd: 3}\n"))["runId"]
    async for _, event in project.engine.subscribe(0, run_id):
        if event["kind"] in ("completed", "failed"):
            break
    (project.root / ".loop-ls.yaml").write_text(settings)
    answer = await project.engine.fork(run_id)
    assert (answer["ok"], answer.get("code")) == (False, "file_has_errors"), answer
    (project.root / ".loop-ls.yaml").write_text("limits: {budgetUsd: 2}\n")
    assert (await project.engine.fork(run_id))["ok"]


@pytest.mark.parametrize(
    ("settings", "started"),
    [
        ("outputsDir: NAME\n", False),
        ("workflowRoots: [NAME]\n", True),
        ("providers: {s: {kind: scripted, script: NAME}}\n", True),
    ],
)
async def test_a_name_that_no_file_can_have_is_no_error_of_the_engine(
    project: EngineProject, settings: str, started: bool
) -> None:
    answer = await project.start(settings.replace("NAME", "n" * 300))
    assert answer["ok"] is started
    assert started or "`outputsDir` cannot be" in answer["message"]
