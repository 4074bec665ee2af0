"""An agent program with the tools of its stage: they are there from its start to its end, and no longer."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.messages import ToolSpec
from loop_ls.engine.core.ports import Recorder
from loop_ls.engine.model_calls.tool_loop import Outcome, Toolbox, tool_called
from loop_ls.engine.roles.served.endpoint import serving
from loop_ls.engine.runners.runner import Assignment, Hear, Runner, Served, Work, deaf
from loop_ls.text.json_value import Json


@dataclass(frozen=True, slots=True)
class WithTools:
    """`runner`, whose work has these tools. They are used by a program, so the record of a run hears of each call."""

    runner: Runner
    toolbox: Toolbox
    recorder: Recorder
    place: Place

    @property
    def name(self) -> str:
        return self.runner.name

    @property
    def program(self) -> tuple[str, ...]:
        return self.runner.program

    async def run(self, work: Assignment, hear: Hear = deaf) -> Work:
        tools = _Told(self.toolbox, self.recorder, self.place)
        names = tuple(tool.name for tool in await tools.offered())
        if not names:
            return await self.runner.run(work, hear)
        try:
            async with serving(tools) as key:
                return await self.runner.run(replace(work, served=Served(names, key)), hear)
        finally:
            await asyncio.gather(*tools.written, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _Told:
    toolbox: Toolbox
    recorder: Recorder
    place: Place
    written: list[asyncio.Future[None]] = field(default_factory=list)

    async def offered(self) -> tuple[ToolSpec, ...]:
        return await self.toolbox.offered()

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Outcome:
        began = time.perf_counter()
        found = await self.toolbox.call(name, arguments)
        fact = tool_called(name, arguments, found, time.perf_counter() - began).fact(self.place)
        key = f"{self.place.key}:tool-{uuid.uuid4().hex[:12]}"  # like a lost attempt: what was done was done
        self.written.append(asyncio.ensure_future(self.recorder.record(key, [fact])))
        return found
