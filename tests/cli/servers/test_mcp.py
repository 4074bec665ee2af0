"""The agent tools over MCP, used by the official SDK's client: over standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from loop_ls.client.engine_location import read_handover
from tests.cli.conftest import SCRIPT, CliProject

TALK = {
    "name": "talk",
    "description": "One thinks, one judges.",
    "parameters": [{"name": "tone", "description": "How to say it.", "required": False, "default": "calm"}],
    "roles": [
        {"name": "think", "role": "plan", "prompt": "Think, {{tone}}."},
        {"name": "judge-it", "role": "reviewer", "prompt": "Judge. Say APPROVED or what is missing."},
    ],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": 4}},
}
ENDLESS = {**TALK, "name": "endless", "termination_condition": {"type": "manual"}}
SETTINGS = """\
assist: {provider: scripted, model: m}
"""
ANSWERS = """\
answers:
  - when: {step: judge-it}
    say: ["more, please", "APPROVED"]
  - say: "a thought"
"""
SLOW = """\
delay: 0.3
answers:
  - say: "a thought"
"""
#: Those that change nothing.
READING = {"loop_list", "loop_status", "loop_inbox", "loop_definitions", "loop_check", "loop_estimate"}
TOOLS = [
    "loop_start",
    "loop_list",
    "loop_status",
    "loop_control",
    "loop_inbox",
    "loop_answer",
    "loop_changes",
    "loop_definitions",
    "loop_check",
    "loop_estimate",
]


@pytest.fixture
def talking(alone: CliProject) -> CliProject:
    project = alone
    loops = project.root / "loops"
    loops.mkdir()
    for one in (TALK, ENDLESS):
        (loops / f"{one['name']}.json").write_text(json.dumps(one))
    (loops / "talk.answers.yaml").write_text(ANSWERS)
    (loops / "endless.answers.yaml").write_text(SLOW)
    (loops / "broken.json").write_text("{")
    (project.root / ".loop-ls.yaml").write_text(SETTINGS)
    return project


@asynccontextmanager
async def over_stdio(project: CliProject) -> AsyncIterator[Client]:
    words = ["mcp", "--root", str(project.root)]
    started = StdioServerParameters(command=str(SCRIPT), args=words, env=project.env(), cwd=str(project.root))
    async with Client(stdio_client(started)) as client:
        yield client


@asynccontextmanager
async def over_http(project: CliProject) -> AsyncIterator[Client]:
    project.call("engine", "start", "--root", str(project.root))
    found = read_handover(project.data)
    assert found is not None
    headers = {"Authorization": f"Bearer {found.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False, verify=False) as http,
        Client(streamable_http_client(f"{found.url}/mcp", http_client=http)) as client,
    ):
        yield client


async def used(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    text = "\n".join(getattr(part, "text", "") for part in answer.content)
    assert not answer.is_error, text
    return text


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return "\n".join(getattr(part, "text", "") for part in answer.content)


async def status(client: Client, id_: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            told: dict[str, Any] = json.loads(await used(client, "loop_status", id=id_))
            if wanted(told):
                return told
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("way", [over_stdio, over_http])
async def test_RB_124_a_real_client_lists_starts_follows_and_controls(talking: CliProject, way: Any) -> None:
    async with way(talking) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        hints = {tool.name: tool.annotations for tool in tools if tool.annotations is not None}
        assert {name for name, hint in hints.items() if hint.read_only_hint} == READING
        assert {name for name, hint in hints.items() if hint.destructive_hint} == set(TOOLS) - READING
        listed = await used(client, "loop_definitions")
        assert "talk: One thinks, one judges.\n    roles: plan → reviewer; ends: evaluation_bound" in listed
        assert "parameters: tone?" in listed
        assert "harness: " in listed
        assert "broken: cannot be started" in listed
        assert await used(client, "loop_list") == "No loops."

        started = json.loads(
            await used(
                client,
                "loop_start",
                definition="talk",
                goal="Say hello.",
                parameters='{"tone": "loud", "volume": "11"}',
                session_id="mine",
            )
        )
        assert started["roles"] == ["plan", "reviewer"]
        assert (started["termination"], started["session_id"]) == ("evaluation_bound", "mine")
        assert started["ignored_parameters"] == ["volume"]
        done = await status(client, started["loop_id"], lambda told: told["status"] == "completed")
        assert (done["completion_reason"], done["current_iteration"]) == ("approved", 2)
        assert [stage["summary"] for stage in done["stages"]] == ["a thought", "APPROVED"]

        other = json.loads(await used(client, "loop_start", definition="endless", goal="x " * 60))["loop_id"]
        going = await status(client, other[:6], lambda told: bool(told["dispatch"]["status"] == "dispatched"))
        assert going["status"] == "running"
        assert going["elapsed_seconds"] >= 0
        assert going["current_stage"]["label"] in ("think", "judge-it")
        assert await used(client, "loop_control", action="pause", id=other) == f"Loop {other} is paused."
        assert other in await used(client, "loop_list", status="paused")
        assert started["loop_id"] not in await used(client, "loop_list", status="paused")
        assert "is paused" in await refused(client, "loop_control", action="pause", id=other)
        assert await used(client, "loop_control", action="resume", id=other) == f"Loop {other} is running."
        assert await used(client, "loop_control", action="stop", id="ALL") == "1 loop stopped."
        await status(client, other, lambda told: told["status"] == "cancelled")
        assert await used(client, "loop_control", action="resume", id="all") == "No loop to resume."
        assert await used(client, "loop_list", status="failed") == "No loops with status failed."


async def test_RB_022_what_cannot_be_is_a_refusal_in_words(talking: CliProject) -> None:
    async with over_stdio(talking) as client:
        assert "needs `goal`" in await refused(client, "loop_start", definition="talk")
        assert "did you mean `talk`" in await refused(client, "loop_start", definition="tolk", goal="x")
        assert "JSON object" in await refused(client, "loop_start", definition="talk", goal="x", parameters="[1,2")
        assert "JSON object" in await refused(client, "loop_start", definition="talk", goal="x", parameters='"x"')
        assert "at least 1" in await refused(client, "loop_start", definition="talk", goal="x", max_iterations=0)
        capped = await refused(client, "loop_start", definition="talk", goal="x", max_budget_usd=1)
        assert "has no argument `max_budget_usd`; expected `definition`, `goal`" in capped
        both = {"project_id": "a", "project_slug": "b"}
        assert "not both" in await refused(client, "loop_start", definition="talk", goal="x", **both)
        assert "Unknown run `nosuch`" in await refused(client, "loop_status", id="nosuch")
        assert "must be one of `pause`" in await refused(client, "loop_control", action="restart", id="x")
        assert "must be one of `running`" in await refused(client, "loop_list", status="sleeping")
        assert await used(client, "loop_list") == "No loops."


@pytest.mark.parametrize("words", [["mcp"], ["run", "talk", "--goal", "x"], ["repl"], ["runs", "replay", "x"]])
def test_RB_109_a_stage_starts_no_loops_by_our_own_commands_either(talking: CliProject, words: list[str]) -> None:
    done = talking.call(*words, LOOP_LS_STAGE="1")
    assert done.returncode == 2
    assert "cannot start loops" in done.stderr


@pytest.mark.parametrize("mark", ["LOOP_LS_AGENT", "LOOP_LS_STAGE"])
@pytest.mark.parametrize(
    "words",
    [
        *("runs approve ID", "runs reject ID", "runs answer ID approve", "runs apply ID", "runs keep ID"),
        *("runs discard ID", "runs restore ID --iteration 1", "engine token create --user eve --role admin"),
        *("engine repair --accept",),
    ],
)
def test_an_agent_of_a_loop_decides_nothing_for_its_user(talking: CliProject, words: str, mark: str) -> None:
    done = talking.call(*words.split(), **{mark: "1"})
    assert (done.returncode, done.stdout) == (2, "")
    assert "An agent of a loop cannot decide this" in done.stderr
    assert "An agent of a loop" not in talking.call(*words.split(), "--json").stderr


@pytest.mark.parametrize("option", ["--yes", "--agree-only"])
def test_an_agent_of_a_loop_gives_no_permission(talking: CliProject, option: str) -> None:
    done = talking.call("run", "draft.yaml", option, LOOP_LS_AGENT="1")
    assert done.returncode == 2
    assert "An agent of a loop cannot decide this" in done.stderr


def test_an_agent_of_a_loop_has_no_prompt_at_which_people_answer(talking: CliProject) -> None:
    done = talking.call("repl", LOOP_LS_AGENT="1", stdin="/loops approve all\n/exit\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "An agent of a loop cannot decide this" in done.stderr


async def test_an_agent_of_a_loop_says_nothing_for_its_user_over_mcp_either(
    talking: CliProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talking, "env", lambda more=talking.env: {**more(), "LOOP_LS_AGENT": "1"})
    async with over_stdio(talking) as client:
        for decision in ("apply", "keep", "discard"):
            told = await refused(client, "loop_changes", id="x", decision=decision)
            assert "An agent of a loop cannot decide this" in told
        assert "Unknown run" in await refused(client, "loop_changes", id="x")  # looking decides nothing


BROKEN = """\
$schema: "workflow/v2.0"
name: draft
version: 1.0.0
descripton: One text.
execution: {provider: scripted, model: m}
steps:
  - {name: write, run: "Write about {{input}}."}
"""


@pytest.mark.parametrize("way", [over_stdio, over_http])
async def test_an_agent_hears_what_is_wrong_with_the_file_that_it_writes(talking: CliProject, way: Any) -> None:
    (talking.root / "draft.yaml").write_text(BROKEN)
    async with way(talking) as client:
        told = await used(client, "loop_check", path="draft.yaml")
        assert "draft.yaml:4:1: error" in told
        assert "+description: One text." in told
        whole = BROKEN.replace("descripton", "description")
        assert await used(client, "loop_check", path="draft.yaml", text=whole) == "draft.yaml: no findings."
        assert (talking.root / "draft.yaml").read_text() == BROKEN
        assert "draft.yaml:4:" in await used(client, "loop_check", path="draft.yaml"), (
            "a text that was given is not kept"
        )
        (talking.root / "draft.yaml").write_text(whole)
        estimate = json.loads(await used(client, "loop_estimate", path="draft.yaml"))
        assert estimate["calls"] == {"min": 1, "max": 1}
        only = json.loads(await used(client, "loop_estimate", path="draft.yaml", name="write"))
        assert only["calls"] == estimate["calls"]
        assert (
            "did you mean `write`" in (await refused(client, "loop_estimate", path="draft.yaml", name="wirte")).lower()
        )
        (talking.root / "notes.yaml").write_text("a: 1\n")
        assert "unknown format" in await refused(client, "loop_check", path="notes.yaml")
        assert "File not found" in await refused(client, "loop_check", path="nowhere.yaml")
        for outside in ("../x.yaml", "/etc/hostname"):
            assert "outside the workspace" in await refused(client, "loop_check", path=outside)
        (talking.root / "link.yaml").symlink_to("/etc/hostname")
        assert "outside the workspace" in await refused(client, "loop_check", path="link.yaml")


FAILING = """\
$schema: workflow/v2.0
name: report
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  - name: draft
    run: "Write about {{input}}"
"""
PLAN = (
    '{"rationale": "nobody said how", "ops": [{"op": "set_instructions", "target": "draft", '
    '"run": "Write kindly about {{input}}", "reason": "a tone"}, {"op": "remove_step", "target": "draft"}]}'
)
MENDED = f"""\
answers:
  - when: {{purpose: planner}}
    say: '{PLAN}'
  - when: {{step: draft, contains: kindly}}
    say: kind words
  - say: {{fail: bad_answer}}
"""


async def test_an_enhance_loop_that_waits_is_looked_at_and_answered(alone: CliProject) -> None:
    file = alone.write("report.yaml", FAILING)
    alone.write("report.answers.yaml", MENDED)
    alone.write(".loop-ls.yaml", "enhance: {pauseBetweenRounds: true}\n")
    done = alone.call("enhance", "report.yaml", "--input", "tea", "--detach", "--json")
    run_id = json.loads(done.stdout)["runId"]
    async with over_stdio(alone) as client:
        found = await status(client, run_id, lambda told: told["status"] == "paused")
        told = found["rounds"]
        assert (told["round"], told["rationale"]) == (1, "nobody said how")
        assert told["proposed"] == ["set_instructions draft: a tone"]
        assert [one.partition(":")[0] for one in told["rejected"]] == ["remove_step draft"]
        assert '+    run: "Write kindly about {{input}}"' in told["diff"]
        assert "`continue`" in told["answer"]
        assert "waits between rounds" in await refused(client, "loop_control", action="resume", id=run_id)
        assert "one loop" in await refused(client, "loop_control", action="continue", id="all")
        assert "needs a `text`" in await refused(client, "loop_control", action="feedback", id=run_id)
        assert "next plan" in await used(client, "loop_control", action="feedback", id=run_id, text="shorter")
        assert file.read_text() == FAILING
        assert await used(client, "loop_control", action="continue", id=run_id) == f"Loop {run_id} continues."
        ended = await status(client, run_id, lambda told: told["status"] == "completed")
        assert ended["rounds"]["because"] == "One clean run with one input and no test cases."
        assert "answers are no longer accepted" in await refused(client, "loop_control", action="skip", id=run_id)
    assert "kindly" in file.read_text()


@pytest.mark.parametrize("way", [over_stdio, over_http])
async def test_workflows_are_listed_and_started_and_improved_where_the_project_allows_it(
    alone: CliProject, way: Any
) -> None:
    file = alone.write("report.yaml", FAILING)
    alone.write("report.answers.yaml", MENDED)
    async with way(alone) as client:
        assert "workflow; `goal` is its input" in await used(client, "loop_definitions")
        started = json.loads(await used(client, "loop_start", definition="report", goal="tea"))
        assert started["definition"] == "report"
        failed = await status(client, started["loop_id"], lambda told: told["status"] == "failed")
        assert failed["completion_reason"] == "error"
        told = await refused(client, "loop_start", definition="report", goal="tea", enhance=True)
        assert "not open in an editor" in told
        assert file.read_text() == FAILING
        alone.write(".loop-ls.yaml", "enhance: {applyWhenHeadless: true}\n")
        better = json.loads(await used(client, "loop_start", definition="report", goal="tea", enhance=True))
        done = await status(client, better["loop_id"], lambda told: told["status"] == "completed")
        assert done["completion_reason"] == "converged"
    assert "kindly" in file.read_text()
