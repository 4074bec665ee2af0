"""Where documents and implementation of the language part, in what may be run at all: ours, by number."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.app.engine import validate
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.starting.workflow import WorkflowPreparer
from tests.engine.starting.test_workflow_start import StartProject

STEP = "steps: [{name: a, run: x}]"
HEAD = "$schema: workflow/v2.0\nname: {name}\nversion: 1.0.0\n"
EXECUTION = "execution: {provider: ollama, model: m}\n"


@pytest.fixture
def project(tmp_path: Path) -> StartProject:
    """A project with the rules of the checker."""
    found = StartProject(tmp_path)
    found.preparer = WorkflowPreparer(found.data, validate, found.environ)
    return found


def put(project: StartProject, path: str, text: str, head: str = HEAD) -> None:
    (project.root / path).parent.mkdir(parents=True, exist_ok=True)
    (project.root / path).write_text(head.replace("{name}", Path(path).stem) + text)


async def finding(project: StartProject, path: str = "flow.yaml") -> str:
    refused = await project.refused(path)
    assert refused.code == "file_has_errors"
    return str(refused.details["findings"][0]["code"])


async def test_D15_repeated_steps_run_joined(project: StartProject) -> None:
    put(project, "flow.yaml", f"{EXECUTION}steps: [{{name: a, run: x}}]\nsteps: [{{name: b, run: x}}]\n")
    plan = await project.plan(path="flow.yaml")
    assert list(plan.texts) == ["flow.yaml"]


async def test_D25_logging_normal_is_refused(project: StartProject) -> None:
    put(project, "flow.yaml", f"execution: {{provider: ollama, model: m, logging: normal}}\n{STEP}\n")
    assert await finding(project) == "WF110"


async def test_D35_description_is_no_condition_for_a_run(project: StartProject) -> None:
    put(project, "flow.yaml", EXECUTION + STEP)
    await project.start("flow.yaml")


async def test_D44_a_broken_file_is_in_nobodys_way_but_its_own(project: StartProject) -> None:
    put(project, "flow.yaml", EXECUTION + STEP)
    put(project, "broken.yaml", "steps: [")
    await project.start("flow.yaml")
    assert await finding(project, "broken.yaml")


async def test_D45_parameters_inside_of_a_chain_are_refused(project: StartProject) -> None:
    chain = "execution: {providers: [{provider: ollama, model: m, temperature: 0.1}]}\n"
    put(project, "flow.yaml", chain + STEP)
    assert await finding(project) == "WF006"


async def test_D47_files_in_subfolders_and_yml_files_are_found(project: StartProject) -> None:
    caller = f"{EXECUTION}steps: [{{name: t, template: {{name: deep/down/inner}}}}]\n"
    put(project, "flow.yaml", caller)
    put(project, "deep/down/inner.yml", EXECUTION + STEP)
    assert sorted((await project.plan(path="flow.yaml")).texts) == ["deep/down/inner.yml", "flow.yaml"]


async def test_D36_loops_alone_may_be_run(project: StartProject) -> None:
    put(
        project,
        "flow.yaml",
        f"{EXECUTION}loops: [{{name: l, workflow: work, max_iterations: 2, until: All tests pass}}]\n",
    )
    put(project, "work.yaml", EXECUTION + STEP)
    try:
        await project.start("flow.yaml")
    except Refused as refused:
        pytest.fail(refused.message)
