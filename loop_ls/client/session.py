"""The engine's operations over HTTP, one method each, answering the typed objects of every surface.

A refusal, a lost connection and an engine that is gone are answers (`{ok: False, code, message, hint}`),
not exceptions: callers show them as they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from loop_ls.client import follow
from loop_ls.client.place import EngineUnavailable, Handover

if TYPE_CHECKING:
    import httpx

Answer = dict[str, Any]


class EngineClient:
    """One engine of one data folder. Made by `connect` or `find`; close it with `aclose`.

    When the engine was restarted, the next call finds the new one through the hand-over file;
    `revive` is what `connect` does to start one that is gone.
    """

    def __init__(
        self,
        folder: Path,
        handover: Handover,
        revive: Callable[[], Any] | None = None,
    ) -> None:
        self.folder, self.handover, self._revive = folder, handover, revive
        self._http: httpx.AsyncClient | None = None
        self._closing = asyncio.Event()

    # -- runs ---------------------------------------------------------------------------------

    async def start(self, args: Answer) -> Answer:
        """`{root, path|uri, target, input, parameters, maxIterations, mock, consent, origin, detach}`
        -> `{ok, runId}`."""
        return await self._send("POST", "/api/v1/loops", body=args)

    async def stop(self, run_id: str) -> Answer:
        """`run_id` or `all` -> `{ok, runs: [{runId, status}]}`."""
        return await self._control("stop", run_id)

    async def pause(self, run_id: str) -> Answer:
        return await self._control("pause", run_id)

    async def resume(self, run_id: str) -> Answer:
        return await self._control("resume", run_id)

    async def status(self, run_id: str) -> Answer:
        """`{ok, state: RunState}`. Ids may be shortened everywhere."""
        return await self._send("GET", f"/api/v1/loops/{_id(run_id)}")

    async def runs(self, status: str | None = None, uri: str | None = None, limit: int | None = None) -> Answer:
        """`{ok, runs: [RunState]}`, newest first."""
        answer = await self._send("GET", "/api/v1/loops", query={"status": status, "uri": uri, "limit": limit})
        if answer["ok"]:
            answer["runs"] = [row["state"] for row in answer.pop("loops")]
        return answer

    async def events(self, run_id: str, after: int = 0, limit: int | None = None) -> Answer:
        """Facts of one run with `seq` above `after` -> `{ok, events, next}`."""
        return await self._send("GET", f"/api/v1/loops/{_id(run_id)}/events", query={"after": after, "limit": limit})

    async def history(self, run_id: str) -> Answer:
        """`{ok, loop, history: [iteration], count}` with outputs, questions and answers."""
        return await self._send("GET", f"/api/v1/loops/{_id(run_id)}/history")

    async def delete(self, run_id: str) -> Answer:
        return await self._send("DELETE", f"/api/v1/loops/{_id(run_id)}")

    # -- listening ----------------------------------------------------------------------------

    def follow(
        self,
        after: int | None = None,
        run_id: str | None = None,
        on_connection: Callable[[bool], None] | None = None,
    ) -> AsyncIterator[Answer]:
        """Events of all runs (or one) as they happen, each once and in order, across reconnections.

        `after` is a position (`event["position"]`, or `position` of `engine_status`); None begins
        now. `text` events have no position: they are live only. Ends when the client is closed.
        `on_connection` hears False when the engine is lost and True when it is back.
        """
        return follow.follow(self, after, run_id, on_connection)

    # -- the engine itself --------------------------------------------------------------------

    async def engine_status(self) -> Answer:
        """`{ok, engine: {version, protocol, pid, port, dataDir, startedAt, running, listeners, position}}`."""
        return await self._send("GET", "/api/v1/engine")

    async def engine_stop(self) -> Answer:
        """The engine leaves; unfinished runs go on when it is started again."""
        return await self._send("POST", "/api/v1/engine/stop", body={})

    async def aclose(self) -> None:
        self._closing.set()
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def __aenter__(self) -> EngineClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # -- transport ----------------------------------------------------------------------------

    async def _control(self, verb: str, run_id: str) -> Answer:
        return await self._send("POST", f"/api/v1/loops/{_id(run_id)}/{verb}", body={})

    async def _send(self, method: str, path: str, *, body: Any = None, query: Answer | None = None) -> Answer:
        raise EngineUnavailable("not built yet")


def _id(run_id: str) -> str:
    return quote(run_id, safe="")
