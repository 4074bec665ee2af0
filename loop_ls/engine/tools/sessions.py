"""The MCP servers of one run: each started when the first step needs it, all of them ended with the run.

Steps that run at the same time share a session; a server that has died is started again once somebody
needs it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.tools.servers import read_servers
from loop_ls.engine.tools.session import Session
from loop_ls.engine.tools.values import Tool, ToolResult
from loop_ls.text.json_value import Json


class Sessions:
    """`settings` is the section `servers`; programs run in `root` unless their entry says otherwise."""

    def __init__(self, settings: Mapping[str, Json], root: Path, environ: Mapping[str, str] | None = None) -> None:
        self._settings, self._root = settings, root
        self._environ = os.environ if environ is None else environ
        self._open: dict[str, Session] = {}
        self._starting: dict[str, asyncio.Lock] = {}
        self._closed = False

    @property
    def known(self) -> Container[str]:
        """The servers that the settings name."""
        return self._settings

    async def tools(self, names: Iterable[str]) -> tuple[Tool, ...]:
        """All tools of these servers, in the order of the names. Raises `Failure` for the first server
        that is not there."""
        wanted = list(dict.fromkeys(names))
        sessions = await asyncio.gather(*(self._session(name) for name in wanted))
        return tuple(tool for session in sessions for tool in session.tools)

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Json], limit: float | None = None
    ) -> ToolResult:
        """What a tool answers within `limit` seconds. Raises `Failure` where it gives no answer."""
        session = await self._session(server)
        return await session.call(tool, arguments, limit)

    async def aclose(self, *, now: bool = False) -> None:
        """End all servers. `now`: they are not waited for (a person stopped the run)."""
        self._closed = True
        open_, self._open = list(self._open.values()), {}
        await asyncio.gather(*(session.aclose(now=now) for session in open_))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose(now=error is not None)

    async def _session(self, name: str) -> Session:
        async with self._starting.setdefault(name, asyncio.Lock()):
            found = self._open.get(name)
            if found is not None and found.alive:
                return found
            if self._closed:
                raise Failure("server_unavailable", f"MCP server `{name}` was not started: the run has ended")
            if found is not None:
                await found.aclose(now=True)
            [server] = read_servers(self._settings, [name])
            self._open[name] = session = Session(server, self._root, self._environ)
            await session.open()
            return session
