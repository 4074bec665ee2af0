"""Sessions with MCP servers: real programs, a real HTTP server, and everything that can be wrong with one."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.tools import Sessions
from loop_ls.testing import mcp_server
from tests.processes.ended import all_gone

PROGRAM = [sys.executable, "-S", mcp_server.FILE]

Open = Callable[..., Sessions]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    made: list[Sessions] = []

    def make(environ: dict[str, str] | None = None, **servers: Any) -> Sessions:
        made.append(Sessions(servers, tmp_path, {"PATH": os.environ["PATH"]} | (environ or {})))
        return made[-1]

    yield make
    for each in made:
        await each.aclose(now=True)


def server(*words: str, **more: Any) -> dict[str, Any]:
    return {"command": [*PROGRAM, *words], **more}


def programs() -> list[psutil.Process]:
    """The test servers that run below this process."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if any("mcp_server" in word for word in child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found


async def fails(work: Any) -> Failure:
    with pytest.raises(Failure) as caught:
        await work
    assert "\n" not in caught.value.message
    assert caught.value.hint
    return caught.value


async def test_tools_are_listed_with_their_schemas(opened: Open) -> None:
    tools = await opened(things=server()).tools(["things"])
    echo = next(tool for tool in tools if tool.name == "echo")
    assert (echo.server, echo.description) == ("things", "Says the text again.")
    assert echo.schema["properties"] == {"text": {"type": "string"}}


async def test_a_tool_is_called_and_says_when_it_failed(opened: Open) -> None:
    sessions = opened(things=server())
    assert (await sessions.call("things", "add", {"a": 2, "b": 3})).text == "5"
    failed = await sessions.call("things", "fail", {})
    assert (failed.text, failed.failed) == ("fail does not work", True)


async def test_text_of_every_script_comes_back_as_it_was(opened: Open) -> None:
    text = 'überblick 雪 \u2028 \U0001f600 "quotes"\nsecond line'
    assert (await opened(things=server()).call("things", "echo", {"text": text})).text == text


async def test_a_program_is_started_once_when_it_is_needed_and_ended_with_the_run(opened: Open) -> None:
    sessions = opened(things=server(), idle=server())
    assert programs() == []
    await asyncio.gather(*(sessions.call("things", "echo", {"text": "x"}) for _ in range(5)))
    assert len({each.pid for each in programs() if each.name().startswith("python")}) == 2, "supervisor and server"
    await sessions.aclose()
    assert programs() == []


async def test_what_a_server_started_ends_with_it(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loop_ls.engine.tools.session.END_SECONDS", 3600)  # of a session that may take its time
    sessions = opened(things=server())
    pid = int((await sessions.call("things", "spawn", {})).text)
    assert psutil.pid_exists(pid)
    await sessions.aclose(now=True)
    await all_gone(pid)


async def test_a_call_that_takes_too_long_is_given_up(opened: Open) -> None:
    sessions = opened(things=server())
    failure = await fails(sessions.call("things", "sleep", {"seconds": 30}, 0.3))
    assert failure.code == "timeout"
    assert "tool `sleep` of MCP server `things` did not respond within 0.3 s" in failure.message


async def test_a_server_that_dies_is_started_again_for_the_next_call(opened: Open) -> None:
    sessions = opened(things=server())
    failure = await fails(sessions.call("things", "die", {}))
    assert (failure.code, failure.message) == ("server_unavailable", "MCP server `things` has ended: told to die")
    assert (await sessions.call("things", "echo", {"text": "again"})).text == "again"


async def test_a_program_that_is_not_there_is_named(opened: Open) -> None:
    failure = await fails(opened(things={"command": "no-such-program-here"}).tools(["things"]))
    assert failure.code == "server_unavailable"
    assert "MCP server `things` did not start: no-such-program-here: No such file" in failure.message


async def test_a_server_gets_the_words_of_its_args(opened: Open) -> None:
    words = {"command": sys.executable, "args": ["-S", mcp_server.FILE, "only", "add"]}
    assert [tool.name for tool in await opened(things=words).tools(["things"])] == ["add"]


async def test_a_server_starts_in_the_folder_that_its_entry_names(opened: Open, tmp_path: Path) -> None:
    """`cwd`, from the folder of the project."""
    (tmp_path / "inner").mkdir()
    shutil.copy(mcp_server.FILE, tmp_path / "inner" / "things.py")
    command = [sys.executable, "-S", "things.py"]
    assert await opened(things={"command": command, "cwd": "inner"}).tools(["things"]) != ()
    assert "did not start" in (await fails(opened(things={"command": command}).tools(["things"]))).message


async def test_a_program_that_ends_at_once_says_why(opened: Open) -> None:
    failure = await fails(opened(things=server("dead")).tools(["things"]))
    assert failure.message == "MCP server `things` did not start: the index is locked by another process"


async def test_a_server_that_never_answers_is_left(opened: Open) -> None:
    failure = await fails(opened(things=server("dumb", timeoutSeconds=0.5)).tools(["things"]))
    assert "did not respond within 0.5 s" in failure.message
    assert programs() == []


async def test_chatter_between_messages_is_ignored(opened: Open) -> None:
    assert (await opened(things=server("chatty")).call("things", "echo", {"text": "x"})).text == "x"


async def test_the_environment_of_a_server_is_reduced_to_what_its_entry_names(opened: Open) -> None:
    entry = server(env={"TOKEN": "${MY_TOKEN}", "PLAIN": "here"})
    sessions = opened({"MY_TOKEN": "s3cret-token-0123", "OPENAI_API_KEY": "sk-never"}, things=entry)
    seen = [(await sessions.call("things", "env", {"name": name})).text for name in ("PLAIN", "OPENAI_API_KEY")]
    assert seen == ["here", "(not set)"]
    assert (await sessions.call("things", "env", {"name": "TOKEN"})).text == "[secret]", "it may quote its own key"


async def test_a_variable_that_is_not_set_is_named(opened: Open) -> None:
    failure = await fails(opened(things=server(env={"TOKEN": "${MY_TOKEN}"})).tools(["things"]))
    assert "needs the environment variable MY_TOKEN, which is not set" in failure.message


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Unknown MCP server `thing`"),
        ({"things": {"url": "http://x"}}, "did you mean `things`?"),
        ({"thing": {}}, "has no `url`"),
        ({"thing": {"type": "stdio"}}, "has no `command`"),
        (
            {"thing": {"type": "pigeon", "command": "x"}},
            "has the unknown type `pigeon`; expected `stdio`, `http` or `sse`",
        ),
    ],
)
async def test_half_an_entry_says_what_is_missing(opened: Open, settings: dict[str, Any], said: str) -> None:
    assert said in (await fails(opened(**settings).tools(["thing"]))).message


async def test_after_the_run_nothing_is_started_any_more(opened: Open) -> None:
    sessions = opened(things=server())
    await sessions.aclose()
    assert "the run has ended" in (await fails_plainly(sessions.tools(["things"]))).message
    assert programs() == []


async def fails_plainly(work: Any) -> Failure:
    with pytest.raises(Failure) as caught:
        await work
    return caught.value
