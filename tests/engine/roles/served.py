"""The house with its HTTP interface, and a client of the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from loop_ls.app.catalogue import catalogue
from loop_ls.client.consent import agreed
from loop_ls.client.engine_location import PROTOCOL, Handover
from loop_ls.client.session import EngineClient
from loop_ls.engine.api.app import Facts, application, workspace_id
from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.server import Listening, listen
from loop_ls.testing.models import SILENCE

from .conftest import EngineProject

Json = dict[str, Any]
LOOPS = "/api/v1/loops"
TOKEN = "token"


async def nobody() -> None:
    return None


async def never() -> bool:
    return False


class ServedProject(EngineProject):
    http: httpx.AsyncClient
    client: EngineClient

    async def get(self, path: str = "", code: int = 200) -> Json:
        return self._body(await self.http.get(f"{LOOPS}{path}"), code)

    async def post(self, path: str = "", body: Json | None = None, code: int = 200) -> Json:
        return self._body(await self.http.post(f"{LOOPS}{path}", json=body or {}), code)

    async def begin(self, **more: Any) -> str:
        """Start a pair over HTTP, agreeing to what it may do."""
        body: Json = {"definition": "pair", "goal": "Do it.", "origin": "cli", **more}
        response = await self.http.post(LOOPS, json=body)
        if response.status_code == 409:
            response = await self.http.post(
                LOOPS, json={**body, "consent": agreed(self.data, response.json()["details"])}
            )
        return str(self._body(response, 201)["loop"]["id"])

    async def held(self, number: int) -> list[str]:
        self.say(write=SILENCE)
        ids = [await self.begin() for _ in range(number)]
        for run_id in ids:
            await self.until(run_id, "stage_started")
        return ids

    def _body(self, response: httpx.Response, code: int) -> Json:
        assert response.status_code == code, response.text
        return dict(response.json())

    # What the agent tools want of an engine.
    async def runs(self) -> Json:
        return await self.engine.runs(limit=1000)

    async def history(self, run_id: str) -> Json:
        state = await self.engine.state(run_id)
        return {**state, "history": await self.rows(state["state"]["runId"])} if state["ok"] else state


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[ServedProject]:
    made = ServedProject(folder)
    made.define()
    await made.open()
    sock = listen(0)
    port = sock.getsockname()[1]
    facts = Facts(TOKEN, workspace_id(str(made.data)), str(made.data), "2026-01-01T00:00:00.000Z", port)
    presence = Presence(teardown=nobody, busy=never, leave=lambda: None)
    app = application(made.engine, facts, presence, lambda: None, catalogue=catalogue(made.root, made.data))
    listening = Listening(sock)
    await listening.start(app)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    url = f"http://127.0.0.1:{port}"
    async with (
        httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=60, verify=False) as made.http,
        EngineClient(made.data, Handover(port, TOKEN, 1, "", PROTOCOL)) as made.client,
    ):
        yield made
    await made.close()
    await listening.stop()
