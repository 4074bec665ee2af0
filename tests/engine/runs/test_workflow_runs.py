"""Workflows through the whole engine: the checker's rules before the start, the journal on the disk, real runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import validate
from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.projections.verbose_log import verbose_lines
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.testing.models import SILENCE, ScriptedModels
from loop_ls.testing.workflows import whole

CYCLE = """
    steps:
      - {name: write, run: "Write {{wishes}}, better than: {{before}}"}
      - {name: review, needs: [write], run: "Review {{write}}. Say PASS or FAIL."}
"""
MAIN = """
    execution: {provider: ollama, model: m}
    steps:
      - {name: wishes, run: "What is wanted: {{input}}"}
    loops:
      - name: develop
        workflow: cycle
        with: {wishes: "{{wishes}}", before: "{{loop.last.output}}"}
        max_iterations: 5
        until: The review says PASS
    steps:
      - {name: report, needs: [develop], run: "After {{loop.iteration}}: {{develop}}"}
"""
SCRIPT = {"write": ["one", "two"], "review": ["FAIL: empty", "PASS"], "judge": ["NO", "YES"], "report": "done"}


class EngineProject:
    """A workspace, a data folder and the engines that were opened over them."""

    def __init__(self, folder: Path) -> None:
        self.root, self.data = folder / "project", folder / "data"
        self.root.mkdir()
        self.models = ScriptedModels(SCRIPT)
        self.engine: Engine | None = None
        self.write(main=MAIN, cycle=CYCLE.replace("steps", "execution: {provider: ollama, model: m}\n    steps", 1))

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / f"{name}.yaml").write_text(whole(name, text))

    async def open(self) -> Engine:
        self.data.mkdir(exist_ok=True)
        preparer = WorkflowPreparer(self.data, validate, {})
        self.engine = Engine(self.data, {"workflow": WorkflowProgram()}, lambda plan: self.models, preparer)
        await self.engine.open()
        return self.engine

    async def start(self, path: str = "main.yaml", **others: Any) -> dict[str, Any]:
        assert self.engine is not None
        return await self.engine.start({"root": str(self.root), "path": str(self.root / path), "input": "x", **others})

    async def facts(self, run_id: str) -> list[dict[str, Any]]:
        """All facts of a run, once it has ended."""
        assert self.engine is not None
        async with asyncio.timeout(60):
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if event["kind"] in ("completed", "failed", "cancelled"):
                    break
        return list((await self.engine.events(run_id, limit=1000))["events"])

    async def refusal(self, path: str = "main.yaml") -> dict[str, Any]:
        answer = await self.start(path)
        assert answer["ok"] is False
        assert self.models.requests == []
        return answer


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    found = EngineProject(tmp_path)
    await found.open()
    yield found
    assert found.engine is not None
    await found.engine.close()


async def test_WB_045_a_developer_loop_runs_to_its_end(project: EngineProject) -> None:
    answer = await project.start()
    facts = await project.facts(answer["runId"])
    assert project.models.order == ["wishes", "write", "review", "judge", "write", "review", "judge", "report"]
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
    end = facts[-1]
    assert (end["kind"], end["reason"], end["finalOutput"]) == ("completed", "condition_met", "done")
    assert project.models.prompts("report") == ["After 2: PASS"]
    lines = list(verbose_lines((fact["kind"], fact) for fact in facts))
    assert lines == [
        "[INFO] Condition evaluation: 'The review says PASS' -> NO",
        "[INFO] Condition evaluation: 'The review says PASS' -> YES",
    ]


async def test_an_engine_that_leaves_and_comes_back_pays_for_nothing_twice(project: EngineProject) -> None:
    project.models = ScriptedModels({**SCRIPT, "review": ["FAIL: empty", SILENCE]})
    run_id = (await project.start())["runId"]
    async with asyncio.timeout(60):
        while len(project.models.asked("review")) < 2:
            await asyncio.sleep(0.01)
    assert project.engine is not None
    await project.engine.close()
    paid = project.models.order[:-1]  # the last call is in progress
    project.models = ScriptedModels({**SCRIPT, "review": "PASS", "judge": "YES"})
    await project.open()
    facts = await project.facts(run_id)
    assert paid == ["wishes", "write", "review", "judge", "write"]
    assert project.models.order == ["review", "judge", "report"]
    assert [fact["output"] for fact in facts if fact["kind"] == "iteration"] == ["FAIL: empty", "PASS"]
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))


async def test_WB_077_a_stop_ends_the_run_at_once(project: EngineProject) -> None:
    project.models = ScriptedModels({**SCRIPT, "write": SILENCE})
    run_id = (await project.start())["runId"]
    async with asyncio.timeout(60):
        while not project.models.asked("write"):
            await asyncio.sleep(0.01)
    assert project.engine is not None
    await project.engine.control("stop", run_id)
    facts = await project.facts(run_id)
    assert facts[-1]["kind"] == "cancelled"
    assert project.models.order == ["wishes", "write"]


async def test_WB_035_a_list_as_input_is_refused_by_its_rule(project: EngineProject) -> None:
    project.write(main="steps: [{name: t, template: {name: cycle, with: {input: [1, 2]}}}]")
    refused = await project.refusal()
    assert refused["code"] == "file_has_errors"
    assert "WF608" in refused["message"]


async def test_WB_044_an_error_refuses_the_run_and_a_warning_does_not(project: EngineProject) -> None:
    project.write(main="execution: {provider: ollama, model: m}\nsteps: [{name: a, run: x, need: [b]}]")
    refused = await project.refusal()
    assert refused["code"] == "file_has_errors"
    assert "WF006" in refused["message"]
    assert "need" in refused["message"]

    project.write(main="execution: {provider: ollama, model: m, temperature: 9}\nsteps: [{name: a, run: x}]")
    answer = await project.start()  # WF118 is a warning
    assert (await project.facts(answer["runId"]))[-1]["kind"] == "completed"


async def test_WB_047_a_repeated_key_is_refused_by_its_rule(project: EngineProject) -> None:
    project.write(main="execution: {provider: ollama, model: m}\nsteps:\n  - name: a\n    run: x\n    run: y\n")
    refused = await project.refusal()
    assert refused["code"] == "file_has_errors"
    assert "WF005" in refused["message"]


async def test_WB_059_a_circle_is_refused_and_its_path_is_named(project: EngineProject) -> None:
    head = "execution: {provider: ollama, model: m}\n"
    project.write(main=head + "steps: [{name: one, needs: [two], run: x}, {name: two, run: '{{one}}'}]")
    refused = await project.refusal()
    assert refused["code"] == "file_has_errors"
    assert "one" in refused["message"]
    assert "two" in refused["message"]
