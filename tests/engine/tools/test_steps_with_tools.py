"""`run` steps with the tools of real MCP servers: rounds, limits, and what a crash in between costs."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.bodies.tools import named, servers_of
from loop_ls.engine.core.ports import ModelRequest
from loop_ls.engine.tools import Tool
from loop_ls.formats.workflow.model import Execution, Step
from loop_ls.testing import mcp_server
from loop_ls.testing.models import calls, failure
from loop_ls.testing.workflows import Lab, Ran, lab
from tests.engine.stopping import ends_stopped, until

SERVER = {"command": [sys.executable, "-S", mcp_server.FILE], "env": {"MCP_LOG": "${MCP_LOG}"}}
WORKFLOW = """
    execution: {provider: acme, model: large}
    steps:
      - {name: find, run: Find it, servers: [things]}
"""


class Room:
    """Servers in a folder, with a log of the calls that reached their tools."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.log = folder, folder / "calls.jsonl"
        monkeypatch.setenv("MCP_LOG", str(self.log))

    def lab(self, text: str | dict[str, str], script: dict[str, Any], **servers: Any) -> Lab:
        settings = {"servers": servers or {"things": SERVER, "others": SERVER}}
        return lab(text, script, settings=settings, root=str(self.folder))

    async def run(self, text: str | dict[str, str], script: dict[str, Any], **servers: Any) -> Ran:
        return await self.lab(text, script, **servers).run()

    @property
    def called(self) -> list[Any]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    return Room(tmp_path, monkeypatch)


def answers(request: ModelRequest, turn: int = -1) -> list[str]:
    return [answer.text for answer in request.turns[turn].answers]


async def test_WB_161_a_step_calls_tools_until_the_model_answers(room: Room) -> None:
    script = {"find": [calls(("add", {"a": 1, "b": 2})), calls(("echo", {"text": "x"}), text="hm"), "it is 3"]}
    ran = await room.run(WORKFLOW, script)
    assert ran.output == "it is 3"
    assert [answers(request) for request in ran.models.requests[1:]] == [["3"], ["x"]]
    assert ran.models.requests[2].turns[1].text == "hm"
    assert room.called == [["add", {"a": 1, "b": 2}], ["echo", {"text": "x"}]]


async def test_WB_161_several_calls_of_one_answer_run_at_once_and_keep_their_order(room: Room) -> None:
    asked = calls(*(("echo", {"text": str(n)}) for n in range(5)))
    ran = await room.run(WORKFLOW, {"find": [asked, "done"]})
    assert answers(ran.models.requests[1]) == ["0", "1", "2", "3", "4"]
    assert [fact["source"] for fact in ran.of("tool_called")] == ["things"] * 5


async def test_WB_161_every_call_is_a_fact_with_its_arguments(room: Room) -> None:
    ran = await room.run(WORKFLOW, {"find": [calls(("echo", {"text": "ü"})), "done"]})
    [fact] = ran.of("tool_called")
    assert (fact["tool"], fact["arguments"], fact["failed"], fact["characters"]) == ("echo", '{"text": "ü"}', False, 1)
    assert (fact["place"], fact["file"]) == ("find", "main.yaml")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nosuch", {}), "unknown tool `nosuch`; available tools: echo, add"),
        (("echo", '{"text": '), "the arguments of `echo` are not a JSON object"),
        (("fail", {}), "fail does not work"),
    ],
)
async def test_WB_161_the_model_is_told_what_was_wrong_and_may_go_on(room: Room, asked: Any, said: str) -> None:
    ran = await room.run(WORKFLOW, {"find": [calls(asked), "without it then"]})
    assert ran.output == "without it then"
    [answer] = ran.models.requests[1].turns[0].answers
    assert answer.failed
    assert said in answer.text


async def test_WB_161_a_tool_that_nobody_offered_fails_beside_one_that_is_called(room: Room) -> None:
    asked = calls(("rm_rf", {"path": "/"}), ("add", {"a": 1, "b": 2}), text="both")
    ran = await room.run(WORKFLOW, {"find": [asked, "it is 3"]})
    assert ran.output == "it is 3"
    unknown, known = ran.models.requests[1].turns[0].answers
    assert (unknown.failed, known.failed, known.text) == (True, False, "3")
    assert "unknown tool `rm_rf`" in unknown.text
    assert [name for name, _ in room.called] == ["add"]


async def test_WB_161_a_server_that_is_not_there_fails_the_step_before_the_model_is_paid(room: Room) -> None:
    ran = await room.run(WORKFLOW, {"find": "x"}, things={"command": "no-such-program"})
    assert ran.reason == "error"
    assert ran.outcome.failure is not None
    assert "MCP server `things` did not start" in ran.outcome.failure.message
    assert ran.models.requests == []


async def test_WB_161_a_server_that_dies_fails_the_step_and_a_retry_starts_it_again(room: Room) -> None:
    text = WORKFLOW.replace("servers:", "on_failure: retry, servers:")
    ran = await room.run(text, {"find": [calls(("die", {})), calls(("echo", {"text": "back"})), "done"]})
    assert ran.output == "done"
    assert "has ended: told to die" in ran.of("retrying")[0]["because"]["message"]


async def test_WB_161_a_tool_that_is_too_slow_is_told_to_the_model(room: Room) -> None:
    text = WORKFLOW.replace("servers:", "timeout: 300ms, servers:")
    ran = await room.run(text, {"find": [calls(("sleep", {"seconds": 20})), "without it"]})
    assert ran.output == "without it"
    assert "did not respond within 0.3 s" in answers(ran.models.requests[1])[0]


async def test_WB_161_a_huge_result_is_shown_with_its_middle_left_out(room: Room) -> None:
    ran = await room.run(WORKFLOW, {"find": [calls(("big", {"characters": 3_000_000})), "done"]})
    [answer] = answers(ran.models.requests[1])
    assert len(answer) < 51_000
    assert "characters omitted" in answer


@pytest.mark.parametrize(
    ("own", "known", "asked"),
    [
        (None, (), ("others",)),
        (("things", "skills", "things"), (), ("things",)),
        (("things", "skills"), ("skills",), ("things", "skills")),
        ((), (), ()),
    ],
)
def test_WB_120_the_built_in_skills_are_no_server(
    own: tuple[str, ...] | None, known: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    assert servers_of(Step("a", "x", servers=own), Execution(servers=("others", "skills")), known) == asked


async def test_WB_120_the_servers_of_a_step_replace_those_of_execution(room: Room) -> None:
    text = """
        execution: {provider: acme, model: large, servers: [things]}
        steps:
          - {name: inherits, run: a}
          - {name: own, run: b, servers: [others]}
          - {name: none, run: c, servers: []}
    """
    only_add = {"command": [*SERVER["command"], "only", "add"]}
    ran = await room.run(text, {}, things=SERVER, others=only_add)
    offered = {request.place: [tool.name for tool in request.tools] for request in ran.models.requests}
    assert len(offered["inherits"]) == len(mcp_server.TOOLS)
    assert (offered["own"], offered["none"]) == (["add"], [])


async def test_WB_121_a_model_that_asks_for_tools_for_ever_fails_its_step(room: Room) -> None:
    text = WORKFLOW.replace("servers:", "max_iterations: 2, servers:")
    ran = await room.run(text, {"find": calls(("echo", {"text": "again"}))})
    assert ran.reason == "error"
    assert ran.outcome.failure is not None
    assert "after 2 rounds" in ran.outcome.failure.message
    assert len(room.called) == 2


async def test_WB_161_without_a_number_ten_rounds_are_allowed(room: Room) -> None:
    ran = await room.run(WORKFLOW, {"find": [calls(("echo", {"text": "x"}))] * 10 + ["at last"]})
    assert ran.output == "at last"
    assert len(room.called) == 10


async def test_WB_161_after_a_crash_no_finished_call_is_made_again_and_no_server_is_needed(room: Room) -> None:
    it = room.lab(WORKFLOW, {"find": [calls(("add", {"a": 1, "b": 1})), calls(("echo", {"text": "x"})), "done"]})
    first = await it.run()
    again = await Lab(
        it.texts, it.models, it.recorder.again(), plan=it.plan | {"settings": {"servers": {"things": {}}}}
    ).run()
    assert again.output == first.output == "done"
    assert len(it.models.requests) == 3
    assert len(room.called) == 2


async def test_WB_161_after_a_crash_between_two_rounds_the_run_goes_on_behind_the_last_one(room: Room) -> None:
    it = room.lab(WORKFLOW, {"find": [calls(("add", {"a": 1, "b": 1})), "done"]})
    await it.run()
    crashed = it.recorder.again()
    for key in [key for key in crashed.entries if key.startswith("find:ask-2")]:
        del crashed.entries[key]
    it.models.script["find"] = ["done after the crash"]
    again = await Lab(it.texts, it.models, crashed, plan=it.plan).run()
    assert again.output == "done after the crash"
    assert answers(it.models.requests[-1]) == ["2"]
    assert len(room.called) == 1


async def test_WB_161_the_next_round_asks_who_answered_and_the_others_after_it(room: Room) -> None:
    text = """
        execution: {providers: [{provider: one, model: m}, {provider: two, model: m}]}
        steps:
          - {name: find, run: Find it, servers: [things]}
    """
    ran = await room.run(text, {"find": [failure(), calls(("echo", {"text": "x"})), failure(), "done"]})
    assert [request.provider for request in ran.models.requests] == ["one", "two", "two", "one"]
    assert ran.output == "done"


async def test_WB_161_a_stop_ends_the_tool_that_runs(room: Room) -> None:
    it = room.lab(WORKFLOW, {"find": [calls(("sleep", {"seconds": 60})), "done"]})
    running = asyncio.create_task(it.run())
    await until(lambda: room.called)
    it.recorder.stop()
    await ends_stopped(running)


def test_WB_161_two_servers_with_a_tool_of_one_name_keep_both() -> None:
    tools = [Tool("one", "read"), Tool("two", "read"), Tool("two", "write"), Tool("two", "a.b/c" + "x" * 70)]
    names = list(named(tools))
    assert names[:3] == ["one__read", "two__read", "write"]
    assert len(names[3]) == 64
    assert names[3].startswith("a_b_cx")
