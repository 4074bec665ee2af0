"""The surfaces on which a person sees what waits and answers it, each as its real program or client."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from typing import Any, NamedTuple

import httpx
import httpx2
import socketio
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from loop_ls.client.engine_location import Handover, read_handover
from tests.cli.conftest import CliProject
from tests.server.support.raw import RawClient

Json = dict[str, Any]
#: Where an answer was given, in the words of whoever comes second.
WHERE = {
    "cli": "on the command line",
    "editor": "in an editor",
    "vscode": "in VS Code",
    "http": "over HTTP",
    "socket": "over Socket.IO",
    "mcp": "over MCP",
}
SURFACES = tuple(WHERE)
NEXT = dict(zip(SURFACES, (*SURFACES[1:], SURFACES[0]), strict=True))


class Told(NamedTuple):
    ok: bool
    text: str


class Surfaces:
    """All of them over one project. The language servers are processes that stay when the engine is killed."""

    def __init__(self, project: CliProject) -> None:
        self.project = project
        self.editors: dict[str, RawClient] = {}

    def close(self) -> None:
        for client in self.editors.values():
            client.__exit__(None, None, None)

    def _editor(self, name: str) -> RawClient:
        client = RawClient(env=self.project.env())
        folders = [{"uri": self.project.root.as_uri(), "name": "project"}]
        params = {"processId": os.getpid(), "capabilities": {}, "rootUri": None, "workspaceFolders": folders}
        client.ask("initialize", {**params, "clientInfo": {"name": name}})
        client.notify("initialized", {})
        return client

    @property
    def engine(self) -> Handover:
        found = read_handover(self.project.data)
        assert found is not None
        return found

    async def inbox(self, surface: str, after: int | None = None) -> Json:
        """`{waiting, position, missed?}`; over MCP, where models read it, only the text."""
        since = {} if after is None else {"after": after}
        match surface:
            case "cli":
                words = () if after is None else ("--after", str(after))
                done = await asyncio.to_thread(self.project.call, "runs", "inbox", "--json", *words)
                return dict(json.loads(done.stdout))
            case "editor" | "vscode":
                return await asyncio.to_thread(self._command, surface, "loopLs.inbox", since)
            case "http":
                return dict((await self._http("GET", "/api/v1/inbox", params=since)).json())
            case "socket":
                return dict(await self._socket("loop:inbox", since))
            case _:
                return {"text": (await self._tool("loop_inbox", since)).text}

    async def answer(self, surface: str, run_id: str, answer: str, text: str = "") -> Told:
        given = {"answer": answer, **({"text": text} if text else {})}
        match surface:
            case "cli":
                words = ("--text", text) if text else ()
                done = await asyncio.to_thread(self.project.call, "runs", "answer", run_id, answer, *words)
                return Told(done.returncode == 0, done.stdout + done.stderr)
            case "editor" | "vscode":
                told = await asyncio.to_thread(self._command, surface, "loopLs.answer", {"runId": run_id, **given})
            case "http":
                response = await self._http("POST", f"/api/v1/loops/{run_id}/answer", json=given)
                return Told(response.status_code == 200, response.text)
            case "socket":
                told = await self._socket("loop:answer", {"runId": run_id, **given})
            case _:
                return await self._tool("loop_answer", {"id": run_id, **given}, given)
        return Told(bool(told["ok"]), str(told.get("message", told)))

    def _command(self, surface: str, name: str, argument: Json) -> Json:
        params = {"command": name, "arguments": [argument]}
        if surface not in self.editors:
            self.editors[surface] = self._editor("Visual Studio Code" if surface == "vscode" else "Helix")
        return dict(self.editors[surface].ask("workspace/executeCommand", params)["result"])

    async def _http(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.engine.token}"}
        async with httpx.AsyncClient(
            base_url=self.engine.url, headers=headers, timeout=60, trust_env=False, verify=False
        ) as http:
            return await http.request(method, path, **more)

    async def post(self, path: str, body: Json) -> httpx.Response:
        return await self._http("POST", path, json=body)

    async def raw(self, run_id: str, given: Json) -> httpx.Response:
        """An answer over HTTP as it is."""
        return await self._http("POST", f"/api/v1/loops/{run_id}/answer", json=given)

    async def _socket(self, event: str, data: Json) -> Json:
        io = socketio.AsyncClient(reconnection=False)
        await io.connect(self.engine.url, auth={"token": self.engine.token}, transports=["websocket"], wait_timeout=60)
        try:
            return dict(await io.call(event, data, timeout=60))
        finally:
            with suppress(Exception):
                await io.disconnect()

    async def _tool(self, name: str, arguments: Json, person: Json | None = None) -> Told:
        """A client whose person gives the answer `person` when asked."""

        async def asked(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
            assert person is not None
            return types.ElicitResult(action="accept", content=person)

        headers = {"Authorization": f"Bearer {self.engine.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False, verify=False) as http,
            Client(
                streamable_http_client(f"{self.engine.url}/mcp", http_client=http),
                elicitation_callback=None if person is None else asked,
            ) as client,
        ):
            done = await client.call_tool(name, arguments)
            return Told(not done.is_error, "\n".join(getattr(part, "text", "") for part in done.content))
