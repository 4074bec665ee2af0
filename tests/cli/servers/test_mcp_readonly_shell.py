"""The read-only shell as an MCP server, used by the official SDK's client, started as an agent program would."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from loop_ls.engine.subprocesses.sandbox import NoSandbox, find_sandbox
from tests.cli.conftest import CliProject

pytestmark = pytest.mark.skipif(
    isinstance(find_sandbox(), NoSandbox), reason="there is no sandbox on this machine, so there is no such shell"
)


@pytest.fixture
def project(alone: CliProject) -> CliProject:
    (alone.root.parent / "secret.txt").write_text("a secret")
    alone.write("notes.txt", "a note\n")
    (alone.root / "link").symlink_to("../secret.txt")
    # Whoever starts Python in this folder must not run what lies there.
    alone.write("loop_ls/__init__.py", "raise SystemExit('run by the workspace')")
    alone.write("mcp.py", "raise SystemExit('run by the workspace')")
    return alone


@asynccontextmanager
async def served(place: CliProject) -> AsyncIterator[Client]:
    """Below a stage: with its mark, and the workspace as folder."""
    words = (sys.executable, "-P", "-m", "loop_ls", "mcp", "--readonly-shell", "--root", str(place.root))
    env = place.env(LOOP_LS_STAGE="1")
    started = StdioServerParameters(command=words[0], args=list(words[1:]), env=env, cwd=str(place.root))
    async with Client(stdio_client(started)) as client:
        yield client


async def used(client: Client, command: Any) -> tuple[bool, str]:
    answer = await client.call_tool("shell", {"command": command})
    return bool(answer.is_error), "\n".join(getattr(part, "text", "") for part in answer.content)


async def test_an_agent_reads_by_it_and_nothing_else(project: CliProject) -> None:
    async with served(project) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["shell"]
        assert await used(client, "grep -n note notes.txt") == (False, "1:a note")
        for command in ("cat link", "cat ../secret.txt", "grep -e a -e -- -R .", "diff -I -- --to-file=link notes.txt"):
            _, text = await used(client, command)
            assert "a secret" not in text
        for command in ("touch x", "uniq - notes.txt", "cat notes.txt > x", "find . -delete", 7):
            failed, _ = await used(client, command)
            assert failed
        answer = await client.call_tool("file_write", {"path": "x", "content": "y"})
        assert answer.is_error
    assert (project.root / "notes.txt").read_text() == "a note\n"
    assert not (project.root / "x").exists()
