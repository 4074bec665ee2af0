"""Pausing, resuming and stopping loops of assistants."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from loop_ls.engine.assistants.body import AgentBody
from loop_ls.engine.assistants.views import loop_state
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.journal import Journal
from loop_ls.engine.providers.limits.rate_limits import Gate
from loop_ls.engine.runners import cli
from loop_ls.engine.runners.cli import CliRunner
from loop_ls.engine.runs.journal_recorder import JournalRecorder
from loop_ls.engine.runs.project_spending import ProjectSpending
from loop_ls.engine.subprocesses import supervisor
from tests.engine.assistants.support.project import EngineProject
from tests.processes.ended import all_gone, gone


async def control(project: EngineProject, verb: str, run_id: str) -> dict:
    assert project.engine is not None
    return await project.engine.control(verb, run_id)


async def held(project: EngineProject, *more: dict) -> tuple[str, Path]:
    """A run whose first iteration waits for a file."""
    go = project.root / "go"
    project.agent.say({"text": "first", "wait_for": str(go)}, *(more or ({"text": "next"},)))
    run_id = await project.started()
    await project.calls(1)
    return run_id, go


async def test_AB_068_a_pause_lets_the_iteration_finish_and_the_next_wait(project: EngineProject) -> None:
    run_id, go = await held(project)
    await control(project, "pause", run_id)
    go.touch()
    await project.until_kind(run_id, "progress", iteration=1)
    await asyncio.sleep(0.2)
    state = await project.state(run_id)
    assert (state["status"], state["iteration"], len(project.agent.calls)) == ("paused", 1, 1)
    assert loop_state(state)["status"] == "paused"
    await control(project, "resume", run_id)
    assert (await project.ended(run_id)).end["totalIterations"] == 3


async def test_AB_069_a_resumed_loop_goes_on_to_its_end(project: EngineProject) -> None:
    run_id, go = await held(project)
    await control(project, "pause", run_id)
    go.touch()
    await project.until_kind(run_id, "progress", iteration=1)
    await control(project, "resume", run_id)
    facts = await project.ended(run_id)
    assert (facts.end["kind"], facts.outputs) == ("completed", ["first", "next", "next"])


@pytest.mark.parametrize("criterion", [("regex", "first"), ("test_pass", "true"), ("max_iterations", "")])
async def test_AB_070_a_pause_in_the_last_iteration_does_not_keep_it_from_its_end(
    project: EngineProject, criterion: tuple[str, str]
) -> None:
    project.criterion(*criterion, maxIterations=1)
    run_id, go = await held(project)
    await control(project, "pause", run_id)
    go.touch()
    assert (await project.ended(run_id)).end["kind"] == "completed"
    assert (await project.state(run_id))["status"] == "completed"


async def test_AB_071_pause_and_resume_of_what_does_not_run_change_nothing(project: EngineProject) -> None:
    run_id = await project.started()
    before = await project.ended(run_id)
    for verb in ("pause", "resume"):
        assert (await control(project, verb, run_id))["ok"] is False
    assert await project.ended(run_id) == before


async def test_AB_072_a_stop_ends_the_whole_process_group_and_nothing_completes(project: EngineProject) -> None:
    project.agent.say({"text": "x", "child": True, "hang": True})
    run_id = await project.started()
    call = (await project.calls(1))[0]
    await control(project, "stop", run_id)
    facts = await project.ended(run_id)
    async with asyncio.timeout(60):
        while not (gone(call["pid"]) and gone(call["child"])):
            await asyncio.sleep(0.002)
    assert (facts.end["kind"], facts.of("completed"), len(project.agent.calls)) == ("cancelled", [], 1)


async def test_AB_073_what_a_stopped_agent_says_is_no_failure(project: EngineProject) -> None:
    project.agent.say({"stderr": "I am interrupted", "hang": True})
    run_id = await project.started()
    await project.calls(1)
    await control(project, "stop", run_id)
    facts = await project.ended(run_id)
    assert (facts.end["kind"], facts.of("failed"), facts.of("iteration_failed")) == ("cancelled", [], [])


async def test_AB_074_a_stop_ends_a_paused_loop_promptly(project: EngineProject) -> None:
    run_id, go = await held(project)
    await control(project, "pause", run_id)
    go.touch()
    await project.until_kind(run_id, "progress", iteration=1)
    await control(project, "stop", run_id)
    async with asyncio.timeout(60):
        assert (await project.ended(run_id)).end["kind"] == "cancelled"


async def test_AB_076_a_stop_after_the_end_changes_nothing(project: EngineProject) -> None:
    run_id = await project.started()
    await project.ended(run_id)
    await control(project, "stop", run_id)
    assert loop_state(await project.state(run_id))["status"] == "completed"


async def test_AB_077_a_stopped_loop_reads_as_failed(project: EngineProject) -> None:
    run_id, _ = await held(project)
    await control(project, "stop", run_id)
    await project.ended(run_id)
    assert loop_state(await project.state(run_id))["status"] == "failed"


async def test_AB_105_an_assistant_has_one_loop_at_a_time_and_a_stop_makes_room(project: EngineProject) -> None:
    run_id, _ = await held(project)
    refused = await project.start()
    assert (refused["code"], refused["runId"]) == ("already_running", run_id)
    await control(project, "stop", run_id)
    again = await project.start()
    assert again["ok"], again
    await control(project, "stop", again["runId"])


async def test_AB_106_two_starts_at_once_make_one_loop(project: EngineProject) -> None:
    await held(project)
    assert project.engine is not None
    await control(project, "stop", "all")
    answers = await asyncio.gather(*(project.start() for _ in range(5)))
    assert sorted(answer["ok"] for answer in answers) == [False] * 4 + [True]
    assert {answer["code"] for answer in answers if not answer["ok"]} == {"already_running"}


async def test_AB_158_a_loop_that_learns_nothing_new_is_paused_where_its_file_says_so(project: EngineProject) -> None:
    project.write(stallAfter=2, maxIterations=4)
    project.agent.say({"text": "a"}, {"text": "same"}, {"text": "same"}, {"text": "same"})
    run_id = await project.started()
    await project.until_kind(run_id, "paused")
    await asyncio.sleep(0.2)
    state = await project.state(run_id)
    assert (state["status"], state["reason"], state["iteration"]) == ("paused", "stalled", 3)
    assert len(project.agent.calls) == 3
    await control(project, "resume", run_id)
    facts = await project.ended(run_id)
    assert (facts.end["totalIterations"], len(facts.of("paused"))) == (4, 1)
    assert [fact["code"] for fact in facts.of("warning")] == ["stalled"]


#: What a loop waits for between its start and the first word of its agent: where it is, and its name.
WAITS = [
    (Journal, "facts"),
    (Journal, "read"),
    (ProjectSpending, "ledgers"),
    (AgentBody, "_now"),
    (JournalRecorder, "call"),
    (JournalRecorder, "_committed"),
    (Control, "gate"),
    (Control, "interruptible"),
    (CliRunner, "run"),
    (Gate, "_pace"),
    (cli, "run_lines"),
    (supervisor, "start"),
    (supervisor, "_started"),
]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(("owner", "name"), WAITS, ids=lambda each: getattr(each, "__name__", each).split(".")[-1])
async def test_AB_072_a_stop_is_heard_whatever_the_loop_waits_for(
    project: EngineProject, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, moment: str
) -> None:
    """Where it is not, an agent that hangs keeps the run from its end, and one that ends begins the next iteration."""
    project.agent.say({"text": "x", "hang": moment == "before"})
    project.write(maxIterations=2)
    engine = await project.open()
    awaited, told = getattr(owner, name), asyncio.Event()

    async def stopped_there(*given: Any, **named: Any) -> Any:
        if moment == "after":
            found = await awaited(*given, **named)
            try:
                await stopped()
            except asyncio.CancelledError:
                if isinstance(found, supervisor.SupervisedProcess):
                    await found.discard()  # nobody else knows of it
                raise
            return found
        await stopped()
        return await awaited(*given, **named)

    async def stopped() -> None:
        if not told.is_set() and engine.live:
            told.set()
            assert (await engine.control("stop", "all"))["ok"]

    run_id = (await project.start())["runId"]
    await engine.control("stop", run_id)
    await project.ended(run_id)
    monkeypatch.setattr(owner, name, stopped_there)
    run_id = await project.started()
    facts = await project.ended(run_id)
    assert told.is_set() and facts.end["kind"] == "cancelled"


async def test_AB_072_a_stop_is_heard_while_the_pipes_of_the_agent_are_connected(
    project: EngineProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent waits for its message by then, which it never gets."""
    loop = asyncio.get_running_loop()
    engine, connect = await project.open(), loop.connect_write_pipe
    agents: list[psutil.Process] = []

    async def stopped_first(*given: Any) -> Any:
        async with asyncio.timeout(60):
            while not (found := [each for each in psutil.Process().children(recursive=True) if reads(each)]):
                await asyncio.sleep(0.005)
        agents.extend(found)
        await engine.control("stop", "all")
        return await connect(*given)

    def reads(process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return process.cmdline()[: len(project.agent.program)] == list(project.agent.program)
        return False

    monkeypatch.setattr(loop, "connect_write_pipe", stopped_first)
    run_id = await project.started()
    assert (await project.ended(run_id)).end["kind"] == "cancelled"
    assert agents
    await all_gone(*(each.pid for each in agents))
    assert project.agent.calls == []
