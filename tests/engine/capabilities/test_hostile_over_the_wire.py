"""Clients of the network start hostile repositories: real HTTP, and a real socket of each transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import socketio

from loop_ls.client.consent import agreed
from loop_ls.engine.api.app import Facts, application
from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.server import Listening, listen
from loop_ls.engine.api.sockets.socket_teardown import sockets_of
from loop_ls.engine.assistants.api_service import AssistantService
from loop_ls.engine.assistants.discovery import Assistants
from loop_ls.engine.core.users import Tokens
from tests.engine.capabilities.conftest import Victim
from tests.engine.capabilities.hostile import REFUSED_FOR_GOOD, REPOSITORIES

OWNER = "owner-token-for-tests"
OF_ASSISTANTS = [name for name in REPOSITORIES if name.startswith("assistant: ")]


class Wire:
    """The interfaces of the victim's engine, and the tokens of two people."""

    def __init__(self, victim: Victim, url: str, http: httpx.AsyncClient) -> None:
        self.victim, self.url, self.http = victim, url, http
        self.tokens = {"the owner": OWNER, "an editor": Tokens(victim.data).create("eve", "editor")[1]}

    async def post(self, path: str, body: Any, token: str) -> httpx.Response:
        return await self.http.post(path, json=body, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
async def wire(victim: Victim) -> AsyncIterator[Wire]:
    async def nothing() -> None:
        return None

    async def busy() -> bool:
        return True

    presence = Presence(teardown=nothing, busy=busy, leave=lambda: None, grace=None)
    assistants = AssistantService(victim.engine, Assistants(victim.root))
    sockets = sockets_of(assistants, presence, 60.0)
    sock = listen(0)
    port = sock.getsockname()[1]
    facts = Facts(OWNER, "w", str(victim.data), "2026-01-01T00:00:00.000Z", port)
    listening, tokens = Listening(sock), Tokens(victim.data)
    await listening.start(
        application(victim.engine, facts, presence, lambda: None, tokens=tokens, assistants=assistants, sockets=sockets)
    )
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, verify=False) as http:
        yield Wire(victim, url, http)
    await sockets.aclose()
    await listening.stop()


async def heard(wire: Wire, token: str, transport: str, *starts: dict[str, Any]) -> list[tuple[str, Any]]:
    """What a client of the socket hears until each of its starts is answered by an error or a run."""
    told: list[tuple[str, Any]] = []
    more = asyncio.Event()
    client = socketio.AsyncClient(reconnection=False)

    async def hear(event: str, data: Any = None) -> None:
        told.append((event, data))
        more.set()

    client.on("*", hear)
    await client.connect(wire.url, auth={"token": token}, transports=[transport], wait_timeout=60)
    try:
        for number, start in enumerate(starts, 1):
            await client.emit("loop:start", start)
            async with asyncio.timeout(60):
                while sum(event in ("agent:error", "agent:status") for event, _ in told) < number:
                    more.clear()
                    await more.wait()
    finally:
        await client.eio.disconnect(abort=True)  # a poll that is open would be waited for, half a minute
    return told


@pytest.mark.parametrize("name", REPOSITORIES)
async def test_http_gets_no_further_than_a_refusal(wire: Wire, name: str) -> None:
    argument, told = wire.victim.clone(name), []
    for token in wire.tokens.values():
        answer = await wire.post("/api/v1/loops", argument, token)
        assert answer.status_code in (400, 403, 409, 422), answer.text
        details = answer.json().get("details") or {}
        told.append(answer.text)
        for body in (
            {**argument, "consent": details.get("digest") or "x"},
            {**argument, "origin": "cli", "consent": details.get("digest") or "x"},
            {**argument, "origin": "editor", "agreeOnly": True},
        ):
            again = await wire.post("/api/v1/loops", body, token)
            assert again.status_code in (400, 403, 409, 422), again.text
            told.append(again.text)
    if name not in REFUSED_FOR_GOOD:
        assert any("The owner must give permission first" in text for text in told)
    wire.victim.is_unharmed(*told)


@pytest.mark.parametrize("transport", ["websocket", "polling"])
@pytest.mark.parametrize("who", ["the owner", "an editor"])
@pytest.mark.parametrize("name", OF_ASSISTANTS)
async def test_a_socket_gets_no_further_than_an_error(wire: Wire, name: str, who: str, transport: str) -> None:
    wire.victim.clone(name)
    token, start = wire.tokens[who], {"agentId": "fixer", "message": "Fix."}
    told = await heard(wire, token, transport, start, {**start, "consent": "yes", "agreeOnly": True, "origin": "cli"})
    assert [event for event, _ in told if event == "agent:status"] == []
    assert len([data for event, data in told if event == "agent:error"]) == 2
    for verb in ("start", "approve"):
        answer = await wire.post(f"/api/agents/fixer/loop/{verb}", {"message": "Fix.", "consent": "yes"}, token)
        assert answer.status_code in (400, 404, 409), answer.text
        told.append((verb, answer.text))
    wire.victim.is_unharmed(*told)


async def test_once_the_owner_has_agreed_the_socket_starts_it(wire: Wire) -> None:
    """The other half: that nothing happened before means something."""
    argument = wire.victim.clone("assistant: test command")
    asked = await wire.victim.engine.start({**argument, "agreeOnly": True})
    done = await wire.victim.engine.start({**argument, "agreeOnly": True, "consent": agreed(wire.victim.data, asked)})
    assert done["ok"] and "runId" not in done, done
    wire.victim.is_unharmed(done)
    told = await heard(wire, OWNER, "websocket", {"agentId": "fixer", "message": "Fix."})
    assert ("agent:status", {"agentId": "fixer", "status": "running"}) in told, told
    async with asyncio.timeout(60):
        while not wire.victim.marker.exists():
            await asyncio.sleep(0.01)
