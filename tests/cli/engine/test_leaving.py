"""An engine that is told to leave while a provider is slow: what was asked is heard, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import psutil
import pytest

from loop_ls.client.engine_location import read_handover
from tests.cli.conftest import CliProject

LONG = 60.0
TWO = """\
$schema: "workflow/v2.0"
name: two
version: 1.0.0
execution: {provider: slow, model: m}
steps:
  - {name: first, run: "Say one"}
  - {name: second, needs: [first], run: "Repeat {{first}}"}
"""


class SlowProvider:
    """Answers when it is told to. `asked` are the prompts in their order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(head.partition("content-length: ")[2].partition("\r\n")[0])
            self.asked.append(json.loads(await reader.readexactly(size))["messages"][-1]["content"])
            number = len(self.asked)
            await self.answers.wait()
            said = {"message": {"role": "assistant", "content": f"answer {number}"}, "finish_reason": "stop"}
            body = json.dumps({"choices": [said], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}).encode()
            told = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            writer.write(f"{told}connection: close\r\n\r\n".encode() + body)
            await writer.drain()
        writer.close()


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG):
        while not done():
            await asyncio.sleep(0.02)


@pytest.fixture
async def provider(alone: CliProject) -> AsyncIterator[SlowProvider]:
    made = SlowProvider()
    async with await asyncio.start_server(made.serve, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        slow = f"slow: {{kind: openai, baseUrl: 'http://127.0.0.1:{port}/v1'}}"
        alone.write(".loop-ls.yaml", f"providers: {{{slow}}}\n")
        alone.write("two.yaml", TWO)
        yield made
        made.answers.set()


async def call(project: CliProject, *words: str) -> str:
    done = await asyncio.to_thread(project.call, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def in_flight(project: CliProject, provider: SlowProvider) -> tuple[str, int]:
    """The run, and the process of its engine."""
    run_id = str(json.loads(await call(project, "run", "two.yaml", "--yes", "--detach", "--json"))["runId"])
    await until(lambda: len(provider.asked) == 1)
    pid = project.engine_pid()
    assert pid is not None
    return run_id, pid


async def to_the_end(project: CliProject, run_id: str) -> list[dict[str, Any]]:
    await call(project, "engine", "start")
    lines = await call(project, "runs", "events", run_id, "--follow", "--json")
    return [json.loads(line) for line in lines.splitlines()]


async def test_a_call_in_flight_is_heard_before_the_engine_leaves(alone: CliProject, provider: SlowProvider) -> None:
    run_id, pid = await in_flight(alone, provider)
    os.kill(pid, signal.SIGTERM)
    await until(lambda: read_handover(alone.data) is None)
    assert psutil.pid_exists(pid), "it waits for the call"
    provider.answers.set()
    await until(lambda: not psutil.pid_exists(pid))
    assert provider.asked == ["Say one"], "no further call is begun"
    facts = await to_the_end(alone, run_id)
    assert provider.asked == ["Say one", "Repeat answer 1"]
    assert (facts[-1]["kind"], facts[-1]["finalOutput"]) == ("completed", "answer 2")
    assert [fact["tokens"] for fact in facts if fact["kind"] == "call"] == [{"input": 3, "output": 2}] * 2


async def test_a_note_is_in_one_prompt_also_when_the_engine_is_killed(
    alone: CliProject, provider: SlowProvider
) -> None:
    run_id, pid = await in_flight(alone, provider)
    await call(alone, "runs", "note", run_id, "mind the tide")
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not psutil.pid_exists(pid))
    provider.answers.set()
    facts = await to_the_end(alone, run_id)
    assert facts[-1]["kind"] == "completed"
    note = "\n\nA note from the person who follows this run:\nmind the tide"
    assert provider.asked == ["Say one", f"Say one{note}", "Repeat answer 2"], "the call in flight is asked again"
    asked = json.loads(await call(alone, "runs", "prompts", run_id, "--json"))["prompts"]
    assert [one["place"] for one in asked if "mind the tide" in str(one)] == ["first"]


async def second_signal(project: CliProject, pid: int) -> None:
    os.kill(pid, signal.SIGTERM)
    await until(lambda: read_handover(project.data) is None)
    os.kill(pid, signal.SIGTERM)


async def stop_now(project: CliProject, pid: int) -> None:
    await call(project, "engine", "stop", "--now")


@pytest.mark.parametrize("cut", [second_signal, stop_now])
async def test_a_second_word_cuts_it_and_says_so(alone: CliProject, provider: SlowProvider, cut: Any) -> None:
    """The provider may have charged the call that was cut: it is made again, which the record does not hide."""
    run_id, pid = await in_flight(alone, provider)
    await cut(alone, pid)
    await until(lambda: not psutil.pid_exists(pid))
    provider.answers.set()
    facts = await to_the_end(alone, run_id)
    assert provider.asked == ["Say one", "Say one", "Repeat answer 2"]
    [recovered] = [fact for fact in facts if fact["kind"] == "recovered"]
    assert (recovered["inFlight"], recovered["mayHavePaidTwice"]) == (["first:ask"], True)
    assert facts[-1]["kind"] == "completed"
