"""Where documents and implementation of the language part, in what may be run at all: ours, by number."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.app.engine import validate
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.starting.workflow import WorkflowPreparer
from tests.engine.starting.test_workflow_start import Desk

STEP = "steps: [{name: a, run: x}]"
HEAD = "$schema: workflow/v2.0\nname: {name}\nversion: 1.0.0\n"
EXECUTION = "execution: {provider: ollama, model: m}\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with the rules of the checker."""
    found = Desk(tmp_path)
    found.preparer = WorkflowPreparer(found.data, validate, found.environ)
    return found


def put(desk: Desk, path: str, text: str, head: str = HEAD) -> None:
    (desk.root / path).parent.mkdir(parents=True, exist_ok=True)
    (desk.root / path).write_text(head.replace("{name}", Path(path).stem) + text)


async def finding(desk: Desk, path: str = "flow.yaml") -> str:
    refused = await desk.refused(path)
    assert refused.code == "file_has_errors"
    return str(refused.details["findings"][0]["code"])


async def test_D15_repeated_steps_run_joined(desk: Desk) -> None:
    put(desk, "flow.yaml", f"{EXECUTION}steps: [{{name: a, run: x}}]\nsteps: [{{name: b, run: x}}]\n")
    plan = await desk.plan(path="flow.yaml")
    assert list(plan.texts) == ["flow.yaml"]


async def test_D25_logging_normal_is_refused(desk: Desk) -> None:
    put(desk, "flow.yaml", f"execution: {{provider: ollama, model: m, logging: normal}}\n{STEP}\n")
    assert await finding(desk) == "WF110"


async def test_D35_description_is_no_condition_for_a_run(desk: Desk) -> None:
    put(desk, "flow.yaml", EXECUTION + STEP)
    await desk.start("flow.yaml")


async def test_D44_a_broken_file_is_in_nobodys_way_but_its_own(desk: Desk) -> None:
    put(desk, "flow.yaml", EXECUTION + STEP)
    put(desk, "broken.yaml", "steps: [")
    await desk.start("flow.yaml")
    assert await finding(desk, "broken.yaml")


async def test_D45_parameters_inside_of_a_chain_are_refused(desk: Desk) -> None:
    chain = "execution: {providers: [{provider: ollama, model: m, temperature: 0.1}]}\n"
    put(desk, "flow.yaml", chain + STEP)
    assert await finding(desk) == "WF006"


async def test_D47_files_in_subfolders_and_yml_files_are_found(desk: Desk) -> None:
    caller = f"{EXECUTION}steps: [{{name: t, template: {{name: deep/down/inner}}}}]\n"
    put(desk, "flow.yaml", caller)
    put(desk, "deep/down/inner.yml", EXECUTION + STEP)
    assert sorted((await desk.plan(path="flow.yaml")).texts) == ["deep/down/inner.yml", "flow.yaml"]


async def test_D36_loops_alone_may_be_run(desk: Desk) -> None:
    put(
        desk,
        "flow.yaml",
        f"{EXECUTION}loops: [{{name: l, workflow: work, max_iterations: 2, until: All tests pass}}]\n",
    )
    put(desk, "work.yaml", EXECUTION + STEP)
    try:
        await desk.start("flow.yaml")
    except Refused as refused:
        pytest.fail(refused.message)
