"""One session with one MCP server: opened, asked, ended, all of it within time limits.

The SDK wants a session opened and closed by the same task, so each session has a task of its own;
whoever asks only sends messages through it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.redaction import redact
from loop_ls.engine.tools.servers import Server
from loop_ls.engine.tools.values import Tool, ToolResult
from loop_ls.extras import is_installed, missing
from loop_ls.text.json_value import Json

if TYPE_CHECKING:
    from mcp import Client

    from loop_ls.engine.tools.transports import SupervisedServer

#: How long one call of a tool may take when nobody said anything.
CALL_SECONDS = 300.0
#: A server that still lists tools after so many pages lists them for ever.
MOST_PAGES = 100
#: After this the session's task is left to itself: its program is dead by then.
END_SECONDS = 10.0
HURRY_SECONDS = 1.0


class Session:
    """A connection to `server`. `tools` are there once it is open."""

    def __init__(self, server: Server, root: Path, environ: Mapping[str, str]) -> None:
        self.server, self._root, self._environ = server, root, environ
        self.tools: tuple[Tool, ...] = ()
        self._client: Client | None = None
        self._program: SupervisedServer | None = None
        self._task: asyncio.Task[None] | None = None
        self._leaving = asyncio.Event()

    @property
    def alive(self) -> bool:
        return self._task is not None and not self._task.done() and self._client is not None

    async def open(self) -> None:
        """Start the server and learn its tools. Raises `Failure(server_unavailable)`, one sentence."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        self._task = asyncio.create_task(self._live(ready), name=f"MCP server {self.server.name}")
        try:
            async with asyncio.timeout(self.server.timeout):
                await ready
        except TimeoutError:
            await self.aclose(now=True)
            raise self._unavailable(f"did not respond within {self.server.timeout:g} s") from None
        except BaseException:
            await self.aclose(now=True)
            raise

    async def call(self, name: str, arguments: Mapping[str, Json], limit: float | None = None) -> ToolResult:
        """What the tool answers, its own errors included. Raises `Failure` where it gives no answer."""
        from mcp import MCPError

        limit = limit or CALL_SECONDS
        if self._client is None or not self.alive:
            raise self._gone()
        try:
            async with asyncio.timeout(limit):
                found = await self._client.call_tool(name, dict(arguments))
        except TimeoutError:
            told = f"tool `{name}` of MCP server `{self.server.name}` did not respond within {limit:g} s"
            raise Failure("timeout", told, "raise `timeout` of the step, or give the tool less to do") from None
        except MCPError as error:
            if not self.alive or error.code == _CONNECTION_CLOSED:
                raise self._gone() from None
            return ToolResult(self._clean(str(error)) or "the tool failed", failed=True)
        except Exception as error:
            raise self._unavailable(f"sent an invalid response to `{name}`: {_short(error)}") from None
        return ToolResult(self._clean(_text(found)), failed=bool(found.is_error))

    async def aclose(self, *, now: bool = False) -> None:
        """End the session and its program. `now`: without waiting for the program to leave by itself."""
        self._leaving.set()
        if now and self._program is not None:
            await self._program.kill()
        if self._task is None:
            return
        # A handshake over HTTP hears of nothing; a program that is dead ends its session by itself.
        hurried = now or self._client is None
        patience = (HURRY_SECONDS if self._program is not None else 0.0) if hurried else END_SECONDS
        await asyncio.wait({self._task}, timeout=patience)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1)

    async def _live(self, ready: asyncio.Future[None]) -> None:
        """The session's own task: from the start of the server to its end."""
        try:
            client = await self._connected()
            async with client:
                self.tools = await _listed(client, self.server.name)
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                await self._leaving.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(self._failure(error))
            elif not isinstance(error, Exception):
                raise
        finally:
            self._client = None

    async def _connected(self) -> Client:
        if not is_installed("mcp"):
            raise Failure("server_unavailable", missing(f"MCP server `{self.server.name}`", "mcp"))
        await asyncio.to_thread(_load)
        from mcp import Client

        from loop_ls.engine.tools.transports import SupervisedServer, over_http

        if self.server.kind == "stdio":
            self._program = SupervisedServer(self.server, self._root, self._environ)
            return Client(self._program, cache=None)
        return Client(over_http(self.server, self._environ), cache=None)

    def _gone(self) -> Failure:
        """Its server has ended by itself: so does the session, and the next one starts it again."""
        self._client = None
        self._leaving.set()
        words = self._last_words()
        return self._unavailable("has ended" + (f": {words}" if words else ""))

    def _failure(self, error: BaseException) -> Failure:
        inner = error
        while isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        if isinstance(inner, Failure):
            return inner
        return self._unavailable(f"did not start: {self._last_words() or _short(inner)}")

    def _last_words(self) -> str:
        said = [line for line in self._program.said if line] if self._program is not None else []
        return self._clean(said[-1])[:300] if said else ""

    def _unavailable(self, what: str) -> Failure:
        where = self.server.argv[0] if self.server.kind == "stdio" else "its `url`"
        hint = f"check {self._clean(where)} under `servers.{self.server.name}`"
        return Failure("server_unavailable", f"MCP server `{self.server.name}` {self._clean(what).rstrip('.')}", hint)

    def _clean(self, text: str) -> str:
        """Without the keys that were handed to it: a server may quote them."""
        secrets = [self._environ.get(name, "") for name in self.server.variables]
        return redact(text, [secret for secret in secrets if len(secret) >= 8])


_CONNECTION_CLOSED = -32000


def _load() -> None:
    """Half a second of imports: in a thread, while the engine goes on."""
    from loop_ls.engine.tools import transports

    assert transports


async def _listed(client: Client, server: str) -> tuple[Tool, ...]:
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for each in page.tools:
            read_only = bool(each.annotations and each.annotations.read_only_hint)
            found.append(Tool(server, each.name, each.description or "", each.input_schema, read_only))
        cursor = page.next_cursor
        if not cursor:
            break
    return tuple(found)


def _text(result: Any) -> str:
    """The content as text: texts as they are, everything else named rather than shown."""
    parts = [_part(part) for part in result.content]
    if not any(parts) and result.structured_content is not None:
        import json

        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(parts)


def _part(part: Any) -> str:
    match part.type:
        case "text":
            return str(part.text)
        case "resource":
            inner = getattr(part.resource, "text", None)
            return str(inner) if inner is not None else f"[resource {part.resource.uri}]"
        case "resource_link":
            return f"[resource {part.uri}]"
        case kind:
            size = len(getattr(part, "data", "") or "")
            return f"[{kind} of type {getattr(part, 'mime_type', 'unknown')}, {size} characters]"


def _short(error: BaseException) -> str:
    with suppress(Exception):
        if told := str(error).strip().splitlines():
            return told[0][:300]
    return type(error).__name__
