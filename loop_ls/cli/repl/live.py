"""A role loop that was started at the prompt, shown while it runs: its stages and what they say, line by line.

The loop itself runs in the engine like every other; whoever interrupts the showing leaves it running.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from loop_ls.cli.watch.words import ending
from loop_ls.client import EngineClient
from loop_ls.contract.questions import answers_to, first_line
from loop_ls.engine.roles.driver_events import DriverEvents
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject

CONNECT_SECONDS = 5.0
ENDS = ("completed", "failed", "cancelled")


class Showing:
    """Listens from before a start, so that the first words of the first stage are heard too."""

    def __init__(self, engine: EngineClient) -> None:
        self._engine = engine
        self._heard: asyncio.Queue[JsonObject] = asyncio.Queue()
        self._up = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen(), name="events")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._up.wait(), CONNECT_SECONDS)
        return self

    async def __aexit__(self, *gone: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1)

    async def to_the_end(self, run_id: str, say: Callable[[str], None]) -> None:
        """Show a run until it has ended, then how; or until it asks a person, who is given the prompt to answer."""
        live = _Live(say)
        while True:
            event = await self._heard.get()
            if event.get("runId") != run_id:
                continue
            live.hear(event)
            if event["kind"] == "manual_approval_required":
                words = ", ".join(f"/loops {answer} {run_id[:8]}" for answer in answers_to(event))
                say(f"It asks: {shown(first_line(event))} Answer with {words}.")
                return
            if event["kind"] in ENDS:
                break
        answer = await self._engine.status(run_id)
        if answer["ok"]:
            say(ending(answer["state"]))

    async def _listen(self) -> None:
        async for event in self._engine.follow(on_connection=lambda up: self._up.set()):
            self._heard.put_nowait(event)


class _Live:
    """`heard` is what came of the stage under way that is not a whole line yet."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._heard, self._spoke = say, "", False
        self._driver = DriverEvents()

    def hear(self, event: JsonObject) -> None:
        match event["kind"]:
            case "text" if event.get("purpose") != "judge":
                self._text(str(event.get("text", "")))
            case "stage_completed":
                if not self._spoke:
                    self._text(str(event.get("output", "")))
                self._text("\n" if self._heard else "")
            case "judged":
                word = "approved" if event["verdict"] == "yes" else "not yet"
                self._say(f"  {word}: {shown(str(event.get('answer', '')))}")
            case _:
                pass
        told = self._driver.of(event)
        if told is not None:
            self._tell(told, event)

    def _tell(self, told: JsonObject, event: JsonObject) -> None:
        match told["event"]:
            case "loop.iteration_start":
                limit = event.get("maxIterations")
                self._say(f"iteration {told['iteration']}{f'/{limit}' if limit else ''}")
            case "loop.stage_start":
                self._heard, self._spoke = "", False
                self._say(f"  {shown(str(told['label']))} ({shown(str(told['role']))})")
            case "loop.stage_end" if not told["success"]:
                self._say(f"    failed: {shown(str(told['error']))}")
            case _:
                pass

    def _text(self, text: str) -> None:
        self._spoke = self._spoke or bool(text)
        *lines, self._heard = (self._heard + text).split("\n")
        for line in lines:
            self._say(f"    {shown(line)}")
