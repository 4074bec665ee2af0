"""The same house with its HTTP and Socket.IO interfaces, and clients of several people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import socketio

from loop_ls.engine.api.app import Facts, application
from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.server import Listening, listen
from loop_ls.engine.api.sockets.socket_teardown import sockets_of
from loop_ls.engine.assistants.api_service import AssistantService
from loop_ls.engine.assistants.disconnect_teardown import Pause
from loop_ls.engine.assistants.discovery import Assistants
from loop_ls.engine.core.users import Tokens
from tests.engine.assistants.support.project import EngineProject

OWNER_TOKEN = "owner-token-for-tests"
FIXER = "fixer"


class Client:
    """A python-socketio client that keeps what it hears, in order."""

    def __init__(self) -> None:
        self.io = socketio.AsyncClient(reconnection=False)
        self.heard: list[tuple[str, Any]] = []
        self._more = asyncio.Event()
        self.io.on("*", self._hear)
        self.io.on("connect_error", self._refused)

    async def _hear(self, event: str, data: Any = None) -> None:
        self.heard.append((event, data))
        self._more.set()

    async def _refused(self, data: Any) -> None:
        self.heard.append(("connect_error", data))

    async def until(self, event: str, wanted: Callable[[Any], bool] = lambda data: True) -> Any:
        async with asyncio.timeout(60):
            while True:
                self._more.clear()
                for name, data in self.heard:
                    if name == event and wanted(data):
                        return data
                await self._more.wait()

    async def more(self) -> None:
        """Until the next event."""
        self._more.clear()
        async with asyncio.timeout(60):
            await self._more.wait()

    async def status(self, status: str) -> Any:
        return await self.until("agent:status", lambda data: data["status"] == status)

    async def level(self, level: str) -> Any:
        return await self.until("notification", lambda data: data["level"] == level)

    def of(self, event: str) -> list[Any]:
        return [data for name, data in self.heard if name == event]

    async def send(self, event: str, **data: Any) -> None:
        await self.io.emit(event, {"agentId": FIXER, **data})


class ServedProject(EngineProject):
    http: httpx.AsyncClient
    last: Client
    presence: Presence

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.data.mkdir(parents=True, exist_ok=True)
        self.tokens = Tokens(self.data)
        self.clients: list[Client] = []
        self.url = ""

    def token(self, user: str, role: str) -> str:
        return self.tokens.create(user, role)[1]

    async def socket(self, token: str | None = OWNER_TOKEN, transport: str = "websocket") -> Client:
        client = Client()
        self.last = client
        auth = None if token is None else {"token": token}
        await client.io.connect(self.url, auth=auth, transports=[transport], wait_timeout=60)
        self.clients.append(client)
        return client

    async def post(self, verb: str, body: Any = None, token: str | None = OWNER_TOKEN, agent: str = FIXER) -> Any:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return await self.http.post(f"/api/agents/{agent}/loop/{verb}", json=body, headers=headers)

    async def status(self, token: str | None = OWNER_TOKEN, agent: str = FIXER) -> Any:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return await self.http.get(f"/api/agents/{agent}/loop/status", headers=headers)

    async def agree(self) -> None:
        """The user has seen and confirmed the programs."""
        await self.start("x")
        await self.engine_stop()
        (self.agent.folder / "calls.jsonl").unlink(missing_ok=True)

    async def engine_stop(self) -> None:
        assert self.engine is not None
        await self.engine.control("stop", "all")
        async with asyncio.timeout(60):
            while self.engine.live:
                await asyncio.sleep(0.005)

    async def run_id(self) -> str:
        """Of the loop that goes on."""
        assert self.engine is not None
        async with asyncio.timeout(60):
            while not self.engine.live:
                await asyncio.sleep(0.005)
        return self.engine.live[-1].run_id


@asynccontextmanager
async def serving(
    folder: Path, grace: float | None = 60.0, mcp: Any = None, pause: Pause = asyncio.sleep
) -> AsyncIterator[ServedProject]:
    project = ServedProject(folder)
    engine = await project.open()

    async def nothing() -> None:
        return None

    async def busy() -> bool:
        return True

    project.presence = Presence(teardown=nothing, busy=busy, leave=lambda: None, grace=None)
    assistants = AssistantService(engine, Assistants(project.root))
    sockets = sockets_of(assistants, project.presence, grace, pause)
    sock = listen(0)
    port = sock.getsockname()[1]
    project.url = f"http://127.0.0.1:{port}"
    facts = Facts(OWNER_TOKEN, "w", str(project.data), "2026-01-01T00:00:00.000Z", port)
    listening = Listening(sock)
    app = application(
        engine,
        facts,
        project.presence,
        lambda: None,
        tokens=project.tokens,
        assistants=assistants,
        sockets=sockets,
        mcp=mcp,
    )
    await listening.start(app)
    sockets.expect()
    async with httpx.AsyncClient(base_url=project.url, trust_env=False, timeout=60, verify=False) as project.http:
        try:
            yield project
        finally:
            for client in project.clients:
                await _left(client)
            await sockets.aclose()
            await project.close()
            await listening.stop()


async def _left(client: Client) -> None:
    """A poll that is open would be waited for, half a minute."""
    if client.io.eio.current_transport == "polling":
        await client.io.eio.disconnect(abort=True)
    else:
        await client.io.disconnect()
