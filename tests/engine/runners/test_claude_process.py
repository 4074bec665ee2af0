"""The agent's process: how it is started, what it may know, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runners.claude import Claude
from loop_ls.engine.runners.cli import CliRunner
from loop_ls.engine.runners.runner import Assignment
from tests.engine.runners.support.agents import FakeAgent, gone, option


@pytest.fixture
def agent(tmp_path: Path) -> FakeAgent:
    return FakeAgent(tmp_path / "agent")


async def all_gone(*pids: int, within: float = 5) -> None:
    async with asyncio.timeout(within):
        while not all(map(gone, pids)):
            await asyncio.sleep(0.002)


async def test_AB_022_two_runs_have_two_processes_and_two_sessions(agent: FakeAgent) -> None:
    works = [await agent.run(), await agent.run()]
    first, second = agent.calls
    assert first["pid"] != second["pid"]
    sessions = [option(call["words"], "--session-id") for call in (first, second)]
    assert sessions[0] != sessions[1]
    assert [work.session for work in works] == sessions


async def test_AB_084_a_clean_end_without_text_is_an_empty_answer(agent: FakeAgent) -> None:
    agent.say({"result": ""})
    assert (await agent.run()).text == ""


async def test_AB_085_a_text_that_comes_twice_is_heard_once(agent: FakeAgent) -> None:
    agent.say({"text": "DONE", "stop_reason": "end_turn", "result": "DONE"})
    assert (await agent.run()).text == "DONE"


async def test_texts_count_where_no_result_comes(agent: FakeAgent) -> None:
    agent.say({"partial": "half", "silent": True})
    assert (await agent.run()).text == "half"


async def test_text_is_heard_while_the_agent_goes_on(agent: FakeAgent, tmp_path: Path) -> None:
    go = tmp_path / "go"
    agent.say({"text": "so far", "result": "the end", "wait_for": str(go)})
    heard = asyncio.Event()
    running = asyncio.create_task(agent.runner().run(Assignment("x"), lambda text: heard.set()))
    await asyncio.wait_for(heard.wait(), 10)
    assert not running.done()
    go.touch()
    work = await running
    assert (work.text, work.usd, work.input_tokens, work.model) == ("the end", 0.01, 10, "fake")


async def test_AB_086_a_silent_agent_is_ended_at_its_idle_limit(agent: FakeAgent) -> None:
    agent.say({"hang": True})
    began = time.monotonic()
    with pytest.raises(Failure, match=r"timed out \(inactivity\).* 1 s"):
        await agent.run(idle=1.0)
    assert time.monotonic() - began < 8
    await all_gone(agent.calls[0]["pid"])


async def test_AB_087_an_agent_that_speaks_is_not_idle(agent: FakeAgent) -> None:
    agent.say({"ticks": [4, 0.5], "text": "done"})
    assert (await agent.run(idle=1.2)).text == "done"


async def test_AB_088_the_wall_clock_ends_a_busy_agent(agent: FakeAgent) -> None:
    agent.say({"ticks": [100, 0.1], "text": "done"})
    with pytest.raises(Failure, match=r"timed out \(wall-clock\)"):
        await agent.run(idle=5.0, total=1.0)
    await all_gone(agent.calls[0]["pid"])


async def test_AB_089_children_are_gone_with_the_agent(agent: FakeAgent) -> None:
    agent.say({"child": True, "text": "here", "hang": True})
    heard = asyncio.Event()
    running = asyncio.create_task(agent.runner().run(Assignment("x"), lambda text: heard.set()))
    await asyncio.wait_for(heard.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await all_gone(agent.calls[0]["pid"], agent.calls[0]["child"])


async def test_AB_090_no_shell_looks_at_a_message(agent: FakeAgent) -> None:
    message = "fix it; rm x; $(id) `id` \"quoted\" 'too' *"
    await agent.run(message)
    assert agent.calls[0]["words"][-1] == message


async def test_AB_091_a_message_that_looks_like_an_option_is_a_message(agent: FakeAgent) -> None:
    await agent.run("--model opus")
    assert agent.calls[0]["words"][-2:] == ["--", "--model opus"]


async def test_AB_092_a_long_persona_goes_by_a_file_that_does_not_stay(agent: FakeAgent) -> None:
    persona = "p" * (40 * 1024)
    await agent.run(system=persona)
    call = agent.calls[0]
    path = option(call["words"], "--system-prompt-file")
    assert path is not None
    assert call["files"] == {"--system-prompt-file": persona}
    assert not Path(path).exists()
    assert "--system-prompt" not in call["words"]


async def test_AB_093_a_long_message_arrives_whole(agent: FakeAgent) -> None:
    message = "ä" * (100 * 1024)
    assert (await agent.run(message)).text == "ok"
    assert agent.messages == [message]


async def test_AB_094_the_agent_gets_one_credential(agent: FakeAgent) -> None:
    path = os.environ["PATH"]
    await agent.run(environ={"PATH": path, "CLAUDE_CODE_OAUTH_TOKEN": "setup", "ANTHROPIC_API_KEY": "key"})
    await agent.run(environ={"PATH": path, "ANTHROPIC_API_KEY": "key"})
    first, second = (call["env"] for call in agent.calls)
    assert first["CLAUDE_CODE_OAUTH_TOKEN"] == "setup"
    assert "ANTHROPIC_API_KEY" not in first
    assert second["ANTHROPIC_API_KEY"] == "key"


async def test_AB_095_the_agent_does_not_see_secrets_of_the_engine(agent: FakeAgent) -> None:
    secret = {"DATABASE_URL": "postgresql://x", "BETTER_AUTH_SECRET": "s", "database_url": "y", "OTHER_KEY": "k"}
    await agent.run(environ={"PATH": os.environ["PATH"], **secret}, environment={"Database_Url": "z"})
    seen = agent.calls[0]["env"]
    assert not {name for name in seen if name.upper() in {"DATABASE_URL", "BETTER_AUTH_SECRET", "OTHER_KEY"}}
    assert seen["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "128000"


async def test_the_command_line_is_the_documented_one(agent: FakeAgent) -> None:
    await agent.run(
        "go", system="P", appended="S", model="m", tools=("Read", "Bash"), budget_usd=0.5, name="loop-ls-a", session="s"
    )
    fixed = ["--print", "--verbose", "--output-format", "stream-json", "--permission-mode", "bypassPermissions"]
    own = ["--system-prompt", "P", "--session-id", "s", "--name", "loop-ls-a", "--no-session-persistence"]
    more = ["--model", "m", "--append-system-prompt", "S", "--allowedTools", "Read,Bash", "--max-budget-usd", "0.5"]
    assert agent.calls[0]["words"] == [*fixed, *own, *more, "--", "go"]
    assert agent.calls[0]["cwd"] == str(agent.folder)


async def test_an_agent_without_full_access_may_change_nothing(agent: FakeAgent) -> None:
    await agent.run(access="readonly", tools=("Read",))
    words = agent.calls[0]["words"]
    assert option(words, "--permission-mode") == "default"
    assert "Write" in str(option(words, "--disallowedTools"))


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    runner = CliRunner("claude-code", ("no-such-agent",), Claude(), {"PATH": "/nowhere"})
    with pytest.raises(Failure, match=r"no-such-agent.*ENOENT"):
        await runner.run(Assignment("x", folder=str(tmp_path)))


async def test_no_more_agents_work_at_once_than_the_settings_say(agent: FakeAgent, tmp_path: Path) -> None:
    go = tmp_path / "go"
    agent.say({"text": "x", "wait_for": str(go)})
    runner = CliRunner("claude-code", agent.program, Claude(), dict(os.environ), {"maxConcurrency": 1})
    running = [asyncio.create_task(runner.run(Assignment("x"))) for _ in range(2)]
    async with asyncio.timeout(20):
        while not agent.calls:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    assert len(agent.calls) == 1
    go.touch()
    await asyncio.gather(*running)
    assert len(agent.calls) == 2
