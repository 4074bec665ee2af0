"""The documented Socket.IO interface of assistants, with real clients."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from loop_ls.engine.api.connection import Connection
from tests.engine.assistants.support.served import OWNER_TOKEN, Client, ServedProject, serving
from tests.processes.ended import gone

DENIED = "Your role does not permit running or modifying workflows"


async def started(client: Client, **more: Any) -> None:
    await client.send("loop:start", message="do it", **more)


@pytest.fixture
async def client(served: ServedProject) -> Client:
    return await served.socket()


@pytest.mark.parametrize("event", ["loop:start", "loop:stop", "loop:approve"])
async def test_AB_102_a_viewer_is_told_no_and_nobody_else_hears_it(served: ServedProject, event: str) -> None:
    token = served.token("vera", "viewer")
    viewer, other = await served.socket(token), await served.socket(token)
    await viewer.send(event, message="x", loopId="x", approved=True)
    told = await viewer.until("agent:error")
    assert told == {"agentId": "fixer", "sessionId": "", "error": DENIED, "type": "POLICY_ERROR"}
    await viewer.io.emit(event, {"agentId": "nobody"})  # the role is looked at first
    await viewer.until("agent:error", lambda data: data["agentId"] == "nobody" and data["type"] == "POLICY_ERROR")
    assert other.heard == []
    assert served.agent.calls == []


@pytest.mark.parametrize("transport", ["websocket", "polling"])
async def test_AB_103_an_editor_starts_and_hears_of_each_iteration(served: ServedProject, transport: str) -> None:
    client = await served.socket(transport=transport)
    await started(client)
    await client.status("idle")
    names = [name for name, _ in client.heard if name in ("agent:status", "agent:loop_iteration")]
    assert names == ["agent:status", *["agent:loop_iteration"] * 3, "agent:status"]
    assert client.of("agent:status")[0] == {"agentId": "fixer", "status": "running"}
    assert client.of("agent:loop_iteration") == [
        {"agentId": "fixer", "iteration": number, "maxIterations": 3} for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("event", ["loop:start", "loop:stop", "loop:approve"])
async def test_AB_104_an_unknown_agent_is_an_error(client: Client, event: str) -> None:
    await client.io.emit(event, {"agentId": "nobody", "message": "x", "loopId": "x", "approved": True})
    told = await client.until("agent:error")
    assert told["type"] == "PROCESS_ERROR"
    assert "not found" in told["error"]


@pytest.mark.parametrize("event", ["loop:start", "loop:stop", "loop:approve"])
@pytest.mark.parametrize(
    "data",
    [None, 5, "fixer", [1], b"bytes", ("fixer", "x"), ("a", {"agentId": "fixer"}, 3), {"agentId": ["fixer"]}],
    ids=repr,
)
async def test_whatever_is_sent_with_an_event_is_answered(client: Client, event: str, data: Any) -> None:
    """Several arguments, too: the handler raised, and the client waited for ever."""
    await client.io.emit(event, data)
    told = await client.until("agent:error")
    assert (told["agentId"], told["type"]) == ("", "PROCESS_ERROR")


async def test_an_id_without_end_is_not_sent_back(client: Client) -> None:
    await client.io.emit("loop:start", {"agentId": "a" * 100_000, "message": "x"})
    told = await client.until("agent:error")
    assert len(told["error"]) < 400
    assert len(told["agentId"]) == 200


async def test_AB_105_a_second_start_is_refused_and_the_first_goes_on(served: ServedProject, client: Client) -> None:
    go = served.root / "go"
    served.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    await started(client)
    await served.calls(1)
    await started(client)
    told = await client.until("agent:error")
    assert told["type"] == "RESOURCE_ERROR"
    assert "already has a running loop" in told["error"]
    go.touch()
    await client.status("idle")
    assert len(client.of("agent:loop_iteration")) == 3


async def test_AB_107_a_learning_is_a_notification_of_80_characters(served: ServedProject, client: Client) -> None:
    served.write(maxIterations=1)
    served.agent.say({"text": "L" * 300})
    await started(client)
    told = await client.level("info")
    assert told["title"] == "Iteration 1: " + "L" * 80
    assert told["agentId"] == "fixer"


async def test_AB_108_a_question_is_a_notification_with_actions_and_its_id(
    served: ServedProject, client: Client
) -> None:
    served.criterion("manual")
    served.agent.say({"text": "the output"})
    await started(client)
    told = await client.level("action_required")
    assert told["actions"] == ["approve", "reject"]
    assert told["id"] == f"loop-approval-fixer-{told['loopId']}"
    assert (told["iteration"], told["output"]) == (1, "the output")
    await client.status("waiting_approval")
    await client.send("loop:approve", loopId=told["loopId"], approved=True)
    await client.status("idle")


async def test_AB_109_the_end_is_a_notification_and_idle(served: ServedProject, client: Client) -> None:
    served.criterion("regex", "ok")
    await started(client)
    await client.status("idle")
    name, last = client.heard[-2]
    assert name == "notification"
    assert (last["level"], last["reason"]) == ("info", "criterion_met")
    assert "1 iteration" in last["title"]
    assert client.of("agent:error") == []


async def test_AB_110_a_failure_is_a_notification_an_error_and_a_status(served: ServedProject, client: Client) -> None:
    served.agent.say({"exit": 1, "stderr": "the API is overloaded"})
    await started(client)
    await client.status("error")
    told = client.of("agent:error")[0]
    assert (told["type"], told["sessionId"], told["iteration"]) == ("API_ERROR", "", 1)
    assert "overloaded" in told["error"]
    levels = [data["level"] for data in client.of("notification")]
    assert levels == ["error"]


async def test_AB_111_a_disabled_assistant_is_an_error_and_never_running(served: ServedProject, client: Client) -> None:
    served.write(loopEnabled=False)
    await started(client)
    told = await client.until("agent:error")
    assert "loopEnabled" in told["error"]
    assert client.of("agent:status") == []


async def test_AB_112_a_stop_during_an_approval_ends_idle(served: ServedProject, client: Client) -> None:
    served.criterion("manual")
    await started(client)
    await client.level("action_required")
    await client.send("loop:stop")
    await client.status("idle")
    await served.engine_stop()
    assert [data["status"] for data in client.of("agent:status")] == ["running", "waiting_approval", "idle"]
    assert [data["cause"] for data in client.of("agent:error")] == ["stopped"]


async def test_AB_113_a_loop_that_follows_a_stop_at_once_can_be_stopped_itself(
    served: ServedProject, client: Client
) -> None:
    served.agent.say({"text": "old", "child": True, "hang": True}, {"text": "new", "hang": True})
    await started(client)
    old = (await served.calls(1))[0]
    await client.send("loop:stop")
    await started(client)
    new = (await served.calls(2))[1]
    async with asyncio.timeout(60):
        while not gone(old["child"]):
            await asyncio.sleep(0.005)
    data = (await served.status()).json()["data"]
    assert (data["active"], data["state"]["iteration"]) == (True, 1)
    await client.send("loop:stop")
    async with asyncio.timeout(60):
        while not gone(new["pid"]):
            await asyncio.sleep(0.005)
    assert client.of("agent:error") == []


async def test_AB_114_a_user_hears_nothing_of_another_users_loop(served: ServedProject) -> None:
    anna = await served.socket(served.token("anna", "editor"))
    bert = await served.socket(served.token("bert", "editor"))
    second = await served.socket(served.token("anna", "editor"))
    await started(anna)
    await anna.status("idle")
    await second.status("idle")
    assert bert.heard == []
    await started(bert)  # a proof that his socket hears at all
    await bert.status("idle")


async def test_whoever_stops_anothers_loop_hears_of_it_too(served: ServedProject) -> None:
    served.agent.say({"text": "x", "hang": True})
    anna = await served.socket(served.token("anna", "editor"))
    bert = await served.socket(served.token("bert", "editor"))
    await started(anna)
    await served.calls(1)
    await bert.send("loop:stop")
    await bert.status("idle")
    await anna.status("idle")


async def test_AB_148_an_admin_may_do_what_an_editor_may(served: ServedProject) -> None:
    token = served.token("ada", "admin")
    admin = await served.socket(token)
    served.criterion("manual")
    await started(admin)
    told = await admin.level("action_required")
    await admin.send("loop:approve", loopId=told["loopId"], approved=True)
    await admin.status("idle")
    assert (await served.post("start", {"message": "x"}, token)).status_code == 202
    async with asyncio.timeout(60):
        while not (question := (await served.status(token)).json()["data"]["pendingApproval"]):
            await asyncio.sleep(0.01)
    body = {"loopId": question["loopId"], "approved": False}
    assert (await served.post("approve", body, token)).json()["data"] == {"resolved": True}
    served.agent.say({"hang": True})
    async with asyncio.timeout(60):
        while (await served.post("start", {"message": "x"}, token)).status_code != 202:
            await asyncio.sleep(0.01)
    await served.calls(3)
    assert (await served.post("stop", None, token)).status_code == 200
    await served.engine_stop()
    await started(admin)
    await served.calls(4)
    await admin.send("loop:stop")
    async with asyncio.timeout(60):
        while served.engine is None or served.engine.live:
            await asyncio.sleep(0.01)
    assert [told.get("cause", told) for told in admin.of("agent:error")] == ["rejected"]


async def test_AB_150_a_program_that_nobody_confirmed_is_told_to_the_caller(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        client, other = await served.socket(), await served.socket()
        await started(client)
        told = await client.until("agent:error")
        assert (told["type"], told["code"]) == ("POLICY_ERROR", "consent_required")
        assert told["programs"] == [list(served.agent.program)]
        assert client.of("agent:status") == other.heard == []
        assert served.agent.calls == []
        assert "nonce" not in told
        await started(client, consent=told["digest"])
        again = await client.until("agent:error")
        assert (again["code"], served.agent.calls) == ("consent_required", [])
        await served.agree()
        await started(client)
        await client.status("idle")


async def test_a_token_that_is_taken_away_counts_no_more(served: ServedProject) -> None:
    editor = await served.socket(served.token("emil", "editor"))
    served.tokens.revoke("emil")
    await started(editor)
    assert (await editor.until("agent:error"))["type"] == "POLICY_ERROR"
    assert served.agent.calls == []


@pytest.mark.parametrize("transport", ["websocket", "polling"])
async def test_who_had_a_token_that_was_taken_away_hears_no_more(served: ServedProject, transport: str) -> None:
    """Of two sockets of one user the one stays, whose token still counts."""
    go = served.root / "go"
    served.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    taken, token = served.tokens.create("emil", "editor")
    gone = await served.socket(token, transport=transport)
    stays = await served.socket(served.token("emil", "editor"), transport=transport)
    await started(stays)
    await served.calls(1)
    await gone.status("running")
    served.tokens.revoke(taken.id)
    heard = len(gone.heard)
    go.touch()
    await stays.status("idle")
    async with asyncio.timeout(60):
        while gone.io.connected:
            await asyncio.sleep(0.01)
    assert gone.heard[heard:] == []


KEY = "no-shape-at-all-771"


@pytest.mark.parametrize("transport", ["websocket", "polling"])
async def test_no_socket_hears_a_key_that_an_agent_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    """In what it asks a person, in what it ends with and in how it fails: whole, and where a title cuts it in two."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with serving(tmp_path) as served:
        await served.agree()
        said = f"{'x' * 55}{KEY} and {KEY}"
        served.agent.say({"text": said}, {"stderr": f"refused: {said}", "exit": 1})
        served.criterion("manual")
        client = await served.socket(transport=transport)
        await started(client)
        asked = await client.level("action_required")
        await client.send("loop:approve", loopId=asked["loopId"], approved=True)
        ended = await client.until("notification", lambda data: "finalOutput" in data)
        await client.status("idle")
        await client.send("loop:start", message=f"again with {KEY}")
        failed = await client.until("agent:error")
        status = await served.status()
        heard = json.dumps([*client.heard, status.json()])
        assert [call["env"]["ANTHROPIC_API_KEY"] for call in served.agent.calls] == [KEY, KEY]
    assert "[secret]" in asked["output"]
    assert "[secret]" in failed["error"]
    assert "[secret]" in ended["finalOutput"]
    assert KEY[:10] not in heard
    assert KEY[-10:] not in heard


class Bare:
    """Engine.IO by hand: what comes before a client has shown its token, which the real clients show at once."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http, self.packets, self.sid = http, list[str](), ""

    async def open(self) -> None:
        await self.hear()
        self.sid = json.loads(self.packets[0][1:])["sid"]

    async def hear(self) -> None:
        answer = await self.http.get("/socket.io/", params=self._query())
        assert answer.status_code == 200, answer.text
        self.packets += answer.text.split("\x1e")

    async def say(self, packet: str) -> int:
        return (await self.http.post("/socket.io/", params=self._query(), content=packet)).status_code

    def _query(self) -> dict[str, str]:
        return {"EIO": "4", "transport": "polling", **({"sid": self.sid} if self.sid else {})}


async def test_nothing_goes_out_to_a_socket_that_has_shown_no_token(served: ServedProject) -> None:
    """Its session may begin, as the token comes in its first packet: but it hears nothing, and nobody hears it."""
    async with httpx.AsyncClient(base_url=served.url, trust_env=False, timeout=60, verify=False) as http:
        silent, wrong = Bare(http), Bare(http)
        await silent.open()
        await wrong.open()
        assert await wrong.say('40{"token":"made-up"}') == 200
        await wrong.hear()
        assert wrong.packets[1:] == ['44{"message":"Authentication required","data":{"status":401}}']
        for packet in ('42["loop:start",{"agentId":"fixer","message":"from nobody"}]', '42["loop:stop",{}]'):
            assert await silent.say(packet) in (200, 400)
        waiting = asyncio.create_task(silent.hear())
        owner = await served.socket()
        await started(owner)
        await owner.status("idle")
        assert [call["message"] for call in served.agent.calls if "nobody" in call["message"]] == []
        assert served.agent.calls
        waiting.cancel()
        assert [packet for packet in silent.packets[1:] if packet not in ("2", "6", "1")] == []


@pytest.mark.parametrize("given", ["Bearer made-up", "Basic b3duZXI6", "made-up"])
async def test_a_wrong_token_in_the_header_of_a_socket_begins_no_session(served: ServedProject, given: str) -> None:
    async with httpx.AsyncClient(base_url=served.url, trust_env=False, timeout=60, verify=False) as http:
        query = {"EIO": "4", "transport": "polling"}
        answer = await http.get("/socket.io/", params=query, headers={"Authorization": given})
        assert (answer.status_code, "sid" in answer.text) == (401, False)
        owner = {"Authorization": f"Bearer {OWNER_TOKEN}"}
        assert "sid" in (await http.get("/socket.io/", params=query, headers=owner)).text


@pytest.mark.parametrize("transport", ["websocket", "polling"])
async def test_AB_165_a_socket_lives_as_long_as_its_client(
    served: ServedProject, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of a request's head ends where the connection becomes a WebSocket."""
    seen: list[Connection] = []
    made = Connection.connection_made

    def remembered(connection: Connection, to: asyncio.Transport) -> None:
        seen.append(connection)
        made(connection, to)

    monkeypatch.setattr(Connection, "connection_made", remembered)
    client = await served.socket(transport=transport)
    for connection in seen:
        if connection._head is not None:
            connection._give_up()  # its ten seconds are over
    await started(client)
    assert (await client.status("idle"))["agentId"] == "fixer"
    assert seen
    assert client.io.connected
