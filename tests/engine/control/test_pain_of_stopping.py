"""What people reported of loops that do not stop, each report with its number."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelReply, ModelRequest
from loop_ls.testing.models import SILENCE, failure, last_part
from tests.engine.control.support.project import DRAFT, EXECUTION, POLISH, Project, ScriptedModels
from tests.engine.control.support.words import until

ITEMS = EXECUTION + (
    "loops:\n"
    "  - name: each\n"
    "    workflow: draft\n"
    "    mode: iterate\n"
    '    items: "{{input}}"\n'
    '    with: {before: "{{loop.item}}"}\n'
    "    max_iterations: 100\n"
)


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    made.models.script |= {"judge": ["NO"]}
    await made.open()
    yield made
    await made.close()


class Stubborn(ScriptedModels):
    """Takes no notice of being cancelled in the second draft, and answers a little later."""

    def __init__(self) -> None:
        super().__init__({"judge": ["NO"]})
        self.asked_twice = asyncio.Event()

    async def ask(self, request: ModelRequest, on_text: Any = None, on_wait: Any = None) -> ModelReply:
        if last_part(request.place) != "write" or len(self.asked("write")) != 1:
            return await super().ask(request, on_text, on_wait)
        self.requests.append(request)
        self.asked_twice.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.1)
        return ModelReply("too late", request.provider, request.model, 10, 5)


async def test_UP_57_a_call_that_ignores_the_stop_is_the_last_one_and_its_answer_is_discarded(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    project.models = models = Stubborn()
    engine = await project.open()
    run_id = (await project.start())["runId"]
    await asyncio.wait_for(models.asked_twice.wait(), 60)
    assert (await engine.control("stop", run_id))["runs"][0]["status"] == "stopping"
    assert (await project.state(run_id))["status"] == "stopping"
    facts = await project.ended(run_id)
    assert facts[-1]["kind"] == "cancelled"
    late = [fact for fact in facts if fact.get("discarded")]
    assert [(fact["kind"], fact["tokens"]) for fact in late] == [("call", {"input": 10, "output": 5})]
    assert models.order == ["write", "judge", "write"]
    assert [fact["iteration"] for fact in facts if fact["kind"] == "iteration"] == [1]
    assert not any("too late" in str(fact) for fact in facts)
    await project.close()


async def test_UP_58_a_stopped_run_does_not_wake_up_again(project: Project) -> None:
    project.models.script["write"] = [failure()]
    project.write(polish=POLISH + "    on_failure: retry\n    retry_delay: 30s\n")
    engine = project.engine
    assert engine is not None
    run_id = (await project.start())["runId"]
    await until(engine, "retrying", run_id)
    await engine.control("stop", run_id)
    facts = await project.ended(run_id)
    assert facts[-1]["kind"] == "cancelled"
    running = [task for task in asyncio.all_tasks() if task.get_name() == f"run {run_id}"]
    assert not running or not (await asyncio.wait(running, timeout=60))[1]  # its last fact is on its way to the disk
    assert project.models.order == ["write"]
    assert len((await engine.events(run_id))["events"]) == len(facts)


@pytest.mark.parametrize("parallel", ["false", "true"])
async def test_UP_65_no_item_begins_after_a_stop(project: Project, parallel: str) -> None:
    project.write(each=ITEMS + f"    parallel: {parallel}\n    max_workers: 2\n")
    project.models.script["write"] = ["one", SILENCE]
    engine = project.engine
    assert engine is not None
    answer = await project.start("each", input=str(list(range(20))))
    assert answer["ok"], answer
    run_id = answer["runId"]
    while len(project.models.asked("write")) < 2 + (parallel == "true"):
        await asyncio.sleep(0.001)
    asked = len(project.models.requests)
    await engine.control("stop", run_id)
    facts = await project.ended(run_id)
    assert facts[-1]["kind"] == "cancelled"
    assert len(project.models.requests) == asked
    assert max(fact["iteration"] for fact in facts if fact["kind"] == "iteration_started") <= 3


async def test_UP_66_a_stopped_run_says_what_it_had(project: Project) -> None:
    project.models.script["write"] = ["v1", "v2", "v3", SILENCE]
    engine = project.engine
    assert engine is not None
    run_id = (await project.start())["runId"]
    while len(project.models.asked("write")) < 4:
        await asyncio.sleep(0.001)
    await engine.control("stop", run_id)
    end = (await project.ended(run_id))[-1]
    assert (end["totalIterations"], end["lastOutput"]) == (4, "v3")
    state = await project.state(run_id)
    assert (state["calls"], state["verdict"]["verdict"], state["exitCode"]) == (6, "no", 5)
    assert state["tokens"]["input"] > 0


async def test_UP_44_a_misspelt_limit_refuses_the_start_and_names_the_right_one(project: Project) -> None:
    project.write(polish=POLISH.replace("max_iterations: 5", "max_iteration: 3"))
    answer = await project.start()
    assert answer["code"] == "file_has_errors"
    assert any("`max_iterations`" in finding["message"] for finding in answer["findings"])
    assert project.models.requests == []


async def test_UP_50_counters_of_loops_inside_loops_are_kept_apart(project: Project) -> None:
    """Three rounds of a workflow with a step that loops twice: six drafts, no more and no less."""
    project.write(
        inner=EXECUTION
        + "steps:\n  - name: again\n    loop: {workflow: draft, max_iterations: 2, until: It is good, "
        + 'with: {before: "x"}}\n',
        outer=POLISH.replace("workflow: draft", "workflow: inner").replace("max_iterations: 5", "max_iterations: 3"),
        draft=DRAFT,
    )
    facts = await project.run("outer")
    assert project.models.order.count("write") == 6
    numbers = [(fact["loop"], fact["iteration"]) for fact in facts if fact["kind"] == "iteration"]
    assert numbers == [("again", 1), ("again", 2), ("polish", 1)] + [
        pair for n in (2, 3) for pair in (("again", 1), ("again", 2), ("polish", n))
    ]
    assert facts[-1]["reason"] == "max_iterations"


async def test_UP_82_one_item_of_a_loop_can_be_run_and_the_result_names_it(project: Project) -> None:
    project.write(each=ITEMS)
    project.models.script["write"] = [lambda request: request.prompt.upper()]
    items = '[{"id": "a"}, {"id": "b"}, {"id": "c"}]'
    target = {"kind": "loop", "name": "each"}
    facts = await project.run("each", input=items, target=target, item=2)
    assert [fact["item"] for fact in facts if fact["kind"] == "iteration"] == ["b"]
    assert facts[-1]["because"] == "Only item 2 of 3 of `each` was run: b."
    everything = await project.run("each", input=items, target=target)
    assert [fact["item"] for fact in everything if fact["kind"] == "iteration"] == ["a", "b", "c"]
    beyond = await project.run("each", input=items, target=target, item=9)
    assert (beyond[-1]["kind"], "item 9 does not exist" in beyond[-1]["error"]["message"]) == ("failed", True)
    assert (await project.start("each", input=items, item=1))["code"] == "bad_argument"
