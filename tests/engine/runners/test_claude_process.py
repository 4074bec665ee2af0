"""The agent's process: how it is started, what it may know, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.process.instance_lock import LOCK_NAME
from loop_ls.engine.runners import line_reader
from loop_ls.engine.runners.claude import Claude
from loop_ls.engine.runners.cli import CliRunner
from loop_ls.engine.runners.runner import Assignment, Hear, Served, Work
from loop_ls.engine.runners.stream_json import StreamJson
from loop_ls.testing.clock import made_to_jump
from tests.engine.runners.support.agents import FakeAgent, option
from tests.processes.ended import gone

Jump = Callable[[float], None]


class Overheard(Claude):
    """Tells of each line that the agent prints."""

    def __init__(self, on_line: Callable[[], object]) -> None:
        self._on_line = on_line

    def speech(self, hear: Hear) -> StreamJson:
        speech = super().speech(hear)
        take = speech.line

        def line(text: str) -> bool:
            self._on_line()
            return take(text)

        speech.line = line  # type: ignore[method-assign]
        return speech


@pytest.fixture
async def jump(monkeypatch: pytest.MonkeyPatch) -> Jump:
    """Puts the clock of the limits ahead."""
    loop = asyncio.get_running_loop()
    made = made_to_jump(loop)
    monkeypatch.setattr(line_reader, "time", SimpleNamespace(monotonic=loop.time))
    return made


@pytest.fixture
def agent(tmp_path: Path) -> FakeAgent:
    return FakeAgent(tmp_path / "agent")


async def paced(agent: FakeAgent, jump: Jump, **limits: float) -> Work:
    """What it says comes 400 s after what it said before."""

    def on_line() -> None:
        jump(400.0)
        with (agent.folder / "heard").open("a") as heard:
            heard.write(".")

    runner = CliRunner("claude-code", agent.program, Overheard(on_line), dict(os.environ))
    return await runner.run(Assignment("x", **limits))


async def all_gone(*pids: int) -> None:
    async with asyncio.timeout(60):
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
    await asyncio.wait_for(heard.wait(), 60)
    assert not running.done()
    go.touch()
    work = await running
    assert (work.text, work.usd, work.input_tokens, work.model) == ("the end", 0.01, 10, "fake")


async def test_AB_086_a_silent_agent_is_ended_at_its_idle_limit(agent: FakeAgent, jump: Jump) -> None:
    agent.say({"hang": True})
    heard = asyncio.Event()
    runner = CliRunner("claude-code", agent.program, Overheard(heard.set), dict(os.environ))
    running = asyncio.create_task(runner.run(Assignment("x", idle=600.0)))
    await asyncio.wait_for(heard.wait(), 60)
    jump(599.0)
    assert not running.done()
    jump(1.0)
    with pytest.raises(Failure, match=r"timed out \(inactivity\).* 600 s"):
        await running
    await all_gone(agent.calls[0]["pid"])


async def test_AB_087_an_agent_that_speaks_is_not_idle(agent: FakeAgent, jump: Jump) -> None:
    agent.say({"ticks": 4, "text": "done"})
    assert (await paced(agent, jump, idle=600.0)).text == "done"


async def test_AB_088_the_wall_clock_ends_a_busy_agent(agent: FakeAgent, jump: Jump) -> None:
    agent.say({"ticks": 4, "text": "done"})
    with pytest.raises(Failure, match=r"timed out \(wall-clock\)"):
        await paced(agent, jump, idle=600.0, total=1000.0)
    await all_gone(agent.calls[0]["pid"])


async def test_AB_089_children_are_gone_with_the_agent(agent: FakeAgent) -> None:
    agent.say({"child": True, "text": "here", "hang": True})
    heard = asyncio.Event()
    running = asyncio.create_task(agent.runner().run(Assignment("x"), lambda text: heard.set()))
    await asyncio.wait_for(heard.wait(), 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await all_gone(agent.calls[0]["pid"], agent.calls[0]["child"])


async def test_AB_090_no_shell_looks_at_a_message(agent: FakeAgent) -> None:
    message = "fix it; rm x; $(id) `id` \"quoted\" 'too' *"
    await agent.run(message)
    assert agent.messages == [message]


async def test_AB_091_a_message_that_looks_like_an_option_is_a_message(agent: FakeAgent) -> None:
    await agent.run("--model opus")
    assert agent.messages == ["--model opus"]


@pytest.mark.parametrize("length", [9, 40 * 1024])
async def test_AB_092_a_persona_goes_by_a_file_that_does_not_stay(agent: FakeAgent, length: int) -> None:
    persona, more = "p" * length, "q" * length
    await agent.run(system=persona, appended=more)
    call = agent.calls[0]
    assert call["files"] == {"--system-prompt-file": persona, "--append-system-prompt-file": more}
    assert set(call["modes"].values()) == {"0o600"}
    for flag in call["files"]:
        assert not Path(option(call["words"], flag) or "/").exists()


async def test_no_prompt_stands_among_the_words_that_everybody_can_read(agent: FakeAgent) -> None:
    await agent.run("the message", system="the persona", appended="the rest")
    words = " ".join(agent.calls[0]["words"])
    assert not [text for text in ("the message", "the persona", "the rest") if text in words]


@pytest.mark.parametrize("length", [60_000, 100 * 1024])  # bytes are too many for one argument before characters are
async def test_AB_093_a_long_message_arrives_whole(agent: FakeAgent, length: int) -> None:
    message = "ä" * length
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
    assert seen["LOOP_LS_AGENT"] == "1", "our own commands know who calls them"


SESSION = "89badb13-db8e-4fe7-8133-6f283ed344ad"


async def test_the_command_line_is_the_documented_one(agent: FakeAgent) -> None:
    await agent.run(
        "go",
        system="P",
        appended="S",
        model="m",
        tools=("Read", "Bash"),
        budget_usd=0.5,
        name="loop-ls-a",
        session=SESSION,
    )
    fixed = ["--print", "--verbose", "--output-format", "stream-json", "--permission-mode", "bypassPermissions"]
    own = ["--allowedTools", "Read,Bash", "--system-prompt-file", "P", "--session-id", SESSION, "--name", "loop-ls-a"]
    more = ["--no-session-persistence", "--model", "m", "--append-system-prompt-file", "S", "--max-budget-usd", "0.5"]
    call = agent.calls[0]
    words = [call["files"].get(before, word) for before, word in zip(["", *call["words"]], call["words"], strict=False)]
    assert words == [*fixed, *own, *more]
    assert (call["message"], call["cwd"]) == ("go", str(agent.folder))


SERVED = Served(("shell", "todo_add"), "the key to our tools")


@pytest.mark.parametrize(
    ("access", "served", "tools"),
    [
        *(("readonly", Served(), "Read,Grep,Glob"), ("readonly", SERVED, "Read,Grep,Glob"), ("minimal", Served(), "")),
        *(("readonly-shell", Served(), "Read,Grep,Glob"), ("readonly-shell", SERVED, "Read,Grep,Glob")),
    ],
)
async def test_an_agent_without_full_access_has_only_tools_that_read(
    agent: FakeAgent, access: Any, served: Served, tools: str
) -> None:
    await agent.run(access=access, served=served, tools=("Bash",))
    words = agent.calls[0]["words"]
    assert (option(words, "--tools"), option(words, "--permission-mode")) == (tools, "dontAsk")
    assert option(words, "--setting-sources") == ""
    assert "--strict-mcp-config" in words
    offered = option(words, "--mcp-config")
    if served.names:
        server = json.loads(offered or "")["mcpServers"]["loop_ls"]
        assert (server["command"], server["args"][:-1]) == (sys.executable, ["-P", "-m", "loop_ls", "mcp", "--stage"])
        assert option(words, "--allowedTools") == "mcp__loop_ls__shell,mcp__loop_ls__todo_add"
        assert SERVED.key not in " ".join(words)
    else:
        assert (offered, option(words, "--allowedTools")) == (None, None)


#: Where somebody has allowed it everything once and for all.
ALLOWING = {"user": ".claude/settings.json", "project": "agent/.claude/settings.json"}
ALLOWING |= {"local": "agent/.claude/settings.local.json", "named": "elsewhere/settings.json"}
HOOK = {"SessionStart": [{"hooks": [{"type": "command", "command": "touch hooked.txt"}]}]}


def allow_shell(home: Path, where: str) -> dict[str, str]:
    """Settings that allow Bash and start a program by themselves -> the environment of the agent."""
    path = home / ALLOWING[where]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"permissions": {"allow": ["Bash"]}, "hooks": HOOK}))
    named = {"CLAUDE_CONFIG_DIR": str(path.parent)} if where == "named" else {}
    return {"PATH": os.environ["PATH"], "HOME": str(home), **named}


@pytest.mark.parametrize("access", ["readonly-shell", "readonly", "minimal"])
@pytest.mark.parametrize("where", ALLOWING)
async def test_settings_that_allow_a_shell_give_none_to_an_agent_that_only_reads(
    tmp_path: Path, agent: FakeAgent, where: str, access: Any
) -> None:
    agent.say({"text": "ok", "bash": "echo pwned > written.txt"})
    await agent.run(access=access, served=SERVED, environ=allow_shell(tmp_path, where))
    assert not (agent.folder / "written.txt").exists()
    assert not (agent.folder / "hooked.txt").exists()


@pytest.mark.parametrize("where", ALLOWING)
async def test_the_same_settings_are_in_force_for_an_agent_with_full_access(
    tmp_path: Path, agent: FakeAgent, where: str
) -> None:
    agent.say({"text": "ok", "bash": "echo made > written.txt"})
    await agent.run(access="full", environ=allow_shell(tmp_path, where))
    assert (agent.folder / "written.txt").exists()
    assert (agent.folder / "hooked.txt").exists()


@pytest.mark.parametrize("access", ["readonly-shell", "readonly"])
async def test_an_agent_that_reads_is_not_started_where_an_engine_keeps_its_keys(agent: FakeAgent, access: Any) -> None:
    """Its own Read goes around the fence of our shell, and `engine.dataDir` may be a folder of the project."""
    kept = agent.folder / "data" / "engine"
    kept.mkdir(parents=True)
    for name in (LOCK_NAME, "consent.key"):
        (kept / name).write_text("")
    with pytest.raises(Failure, match="the data folder of an engine is in its folder \\(`data/engine`\\)") as refused:
        await agent.run(access=access, served=SERVED)
    assert "engine.dataDir" in refused.value.hint
    assert agent.calls == []
    await agent.run(access="minimal")
    assert len(agent.calls) == 1, "who has no tools reads nothing"
    (kept / LOCK_NAME).unlink()
    await agent.run(access=access, served=SERVED)
    assert len(agent.calls) == 2


@pytest.mark.parametrize("left_out", ["--setting-sources", "--tools"])
async def test_one_of_both_options_alone_keeps_the_shell_away(tmp_path: Path, agent: FakeAgent, left_out: str) -> None:
    """They are two fences: with neither, the settings of the user open the shell."""
    agent.say({"text": "ok", "bash": "echo made > written.txt"})
    environ = allow_shell(tmp_path, "user")
    await agent.run(access="readonly", environ=environ)
    words = agent.calls[0]["words"]
    for name in (left_out, "--tools", "--setting-sources"):
        if name in words:
            words = [*words[: words.index(name)], *words[words.index(name) + 2 :]]
        subprocess.run([*agent.program, *words], input="do it", text=True, cwd=agent.folder, env=environ, check=True)
        whole = "--tools" in words or "--setting-sources" in words
        assert (agent.folder / "written.txt").exists() is not whole


@pytest.mark.parametrize("alone", [True, False])
async def test_an_agent_that_works_alone_starts_nobody_beside_it(agent: FakeAgent, alone: bool) -> None:
    """What a stage of a role loop starts would go on beside the loop, uncounted; an assistant may use what it has."""
    await agent.run(access="full", alone=alone)
    words = agent.calls[0]["words"]
    denied = set((option(words, "--disallowedTools") or "").split(","))
    beside = {"Agent", "CronCreate", "ScheduleWakeup", "Workflow", "EnterWorktree"}
    assert (beside <= denied, bool(beside & denied)) == (alone, alone)
    assert option(words, "--permission-mode") == "bypassPermissions"
    assert not denied & {"Bash", "Read", "Edit", "Write", "Grep", "Glob"}


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    runner = CliRunner("claude-code", ("no-such-agent",), Claude(), {"PATH": "/nowhere"})
    with pytest.raises(Failure, match=r"no-such-agent.*ENOENT"):
        await runner.run(Assignment("x", folder=str(tmp_path)))


async def test_no_more_agents_work_at_once_than_the_settings_say(agent: FakeAgent, tmp_path: Path) -> None:
    go = tmp_path / "go"
    agent.say({"text": "x", "wait_for": str(go)})
    runner = CliRunner("claude-code", agent.program, Claude(), dict(os.environ), {"maxConcurrency": 1})
    running = [asyncio.create_task(runner.run(Assignment("x"))) for _ in range(2)]
    async with asyncio.timeout(60):
        while not agent.calls:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    assert len(agent.calls) == 1
    go.touch()
    await asyncio.gather(*running)
    assert len(agent.calls) == 2


@pytest.mark.parametrize(("model", "is_priced"), [("claude-sonnet-4-5", True), ("one-of-my-own", False)])
async def test_tokens_of_a_model_with_a_known_price_are_not_free_because_the_agent_says_so(
    agent: FakeAgent, model: str, is_priced: bool
) -> None:
    agent.say({"text": "done", "cost": 0})
    done = await CliRunner("claude-code", agent.program, Claude(), dict(os.environ)).run(Assignment("x", model=model))
    assert (done.input_tokens, done.output_tokens) == (10, 5)
    assert done.usd is not None
    assert (done.usd > 0) is is_priced
