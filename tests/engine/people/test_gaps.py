"""What only people may answer stays theirs, and whoever comes back is told what happened meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import socketio
from mcp import Client, StdioServerParameters, stdio_client, types

from tests.cli.conftest import SCRIPT
from tests.engine.people.surfaces import Json, Surfaces
from tests.engine.people.ways import PORT, WAYS, Place

APPROVAL, BLOCKED, _, _, PAUSE, *_ = WAYS


async def ended(place: Place, run_id: str) -> Json:
    return await place.until(run_id, lambda state: "endedAt" in state)


# -- people only --------------------------------------------------------------------------------------


@asynccontextmanager
async def over_stdio(place: Place, person: Json | None, action: str = "accept", **more: Any) -> AsyncIterator[Client]:
    """`loop-ls mcp`, with a client whose person answers so; None: it cannot ask anybody."""

    async def asked(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert "a draft" in params.message
        return types.ElicitResult(action=action, content=person if action == "accept" else None)  # type: ignore[arg-type]

    project = place.project
    words = ["mcp", "--root", str(project.root)]
    started = StdioServerParameters(command=str(SCRIPT), args=words, env=project.env(), cwd=str(project.root))
    callback = None if person is None else asked
    async with Client(stdio_client(started), elicitation_callback=callback, **more) as client:
        yield client


async def told(client: Client, **arguments: str) -> tuple[bool, str]:
    done = await client.call_tool("loop_answer", arguments)
    return not done.is_error, "\n".join(getattr(part, "text", "") for part in done.content)


async def test_UP_96_a_model_approves_nothing_and_is_told_how_its_user_can(place: Place, surfaces: Surfaces) -> None:
    run_id = await place.begin(APPROVAL)
    async with over_stdio(place, None) as client:
        for answer in ("approve", "reject"):
            ok, text = await told(client, id=run_id, answer=answer)
            assert not ok
            assert "The owner must agree: only a person may answer this." in text
            assert f"`loop-ls runs answer {run_id[:8]} approve`" in text
        shown = await client.call_tool("loop_inbox", {})
        assert "Only your user may answer" in str(shown.content)
    assert (await place.until(run_id, lambda state: True))["status"] == "waiting_approval"
    sent = await surfaces.raw(run_id, {"answer": "approve", "agent": True})
    assert (sent.status_code, sent.json()["code"]) == (403, "forbidden")
    assert (await surfaces.answer("cli", run_id, "reject")).ok
    assert (await ended(place, run_id))["reason"] == "rejected"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_UP_96_the_person_of_a_client_decides_not_its_model(place: Place, surfaces: Surfaces, mode: str) -> None:
    run_id = await place.begin(APPROVAL)
    async with over_stdio(place, {"answer": "reject", "text": "too long"}, mode=mode) as client:
        ok, text = await told(client, id=run_id, answer="approve")
        assert (ok, text) == (True, f"Answered loop {run_id}: reject.")
    state = await ended(place, run_id)
    assert (state["reason"], state["lastAnswer"]["via"], state["lastAnswer"]["text"]) == ("rejected", "mcp", "too long")


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_UP_96_a_person_who_does_not_answer_decides_nothing(
    place: Place, surfaces: Surfaces, action: str
) -> None:
    run_id = await place.begin(APPROVAL)
    async with over_stdio(place, {}, action) as client:
        ok, text = await told(client, id=run_id, answer="approve")
    assert not ok
    assert "has not answered" in text
    assert (await place.until(run_id, lambda state: True))["status"] == "waiting_approval"
    assert (await surfaces.answer("http", run_id, "reject")).ok
    await ended(place, run_id)


# -- gaps ---------------------------------------------------------------------------------------------


class Listener:
    """A Socket.IO client that keeps what it hears."""

    def __init__(self) -> None:
        self.io = socketio.AsyncClient(reconnection=False)
        self.heard: list[tuple[str, Any]] = []
        self._more = asyncio.Event()
        self.io.on("*", self._hear)

    async def _hear(self, event: str, data: Any = None) -> None:
        self.heard.append((event, data))
        self._more.set()

    async def until(self, event: str, **fields: object) -> Json:
        async with asyncio.timeout(60):
            while True:
                self._more.clear()
                for name, data in self.heard:
                    if name == event and fields.items() <= data.items():
                        return dict(data)
                await self._more.wait()


@asynccontextmanager
async def listening(surfaces: Surfaces, **auth: object) -> AsyncIterator[Listener]:
    made = Listener()
    engine = surfaces.engine
    await made.io.connect(engine.url, auth={"token": engine.token, **auth}, transports=["websocket"], wait_timeout=60)
    try:
        yield made
    finally:
        await made.io.disconnect()


async def test_UP_96_a_new_tab_gets_the_question_with_what_it_takes_to_answer(place: Place, surfaces: Surfaces) -> None:
    run_id = await place.begin(APPROVAL)
    async with listening(surfaces) as tab:
        asked = await tab.until("notification", level="action_required")
        assert (asked["output"], asked["actions"]) == ("a draft", ["approve", "reject"])
        said = {"agentId": asked["agentId"], "loopId": asked["loopId"], "approved": True}
        await tab.io.emit("loop:approve", said)
        await tab.until("agent:status", status="idle")
    assert (await ended(place, run_id))["reason"] == "approved"


async def test_UP_96_an_end_in_a_gap_is_told_on_return(place: Place, surfaces: Surfaces) -> None:
    run_id = await place.begin(APPROVAL)
    async with listening(surfaces, inbox=True) as tab:
        seen = await tab.until("loop:inbox")
        assert run_id in [one["runId"] for one in seen["waiting"]]
    assert (await surfaces.answer("cli", run_id, "approve")).ok
    await ended(place, run_id)
    async with listening(surfaces, inbox=True, after=seen["position"]) as tab:
        told = await tab.until("loop:inbox")
        assert run_id not in [one["runId"] for one in told["waiting"]]
        assert [data["status"] for name, data in tab.heard if name == "agent:status"] == ["running", "idle"]
        [ending] = [data for name, data in tab.heard if name == "notification"]
        assert (ending["reason"], ending["lastOutput"]) == ("criterion_met", "a draft")
    async with listening(surfaces, after=told["position"]) as tab:
        assert (await tab.io.call("loop:inbox", {"after": told["position"]}))["missed"] == []
        assert tab.heard == []


async def test_UP_96_what_waits_is_pushed_to_whoever_asked_for_it(place: Place, surfaces: Surfaces) -> None:
    async with listening(surfaces, inbox=True) as tab:
        run_id = await place.begin(BLOCKED)
        async with asyncio.timeout(60):
            while not any(one["runId"] == run_id for name, data in tab.heard for one in data.get("waiting", ())):
                await asyncio.sleep(0.01)
        assert (await tab.io.call("loop:answer", {"runId": run_id, "answer": "retry", "text": PORT}))["ok"]
        refused = await tab.io.call("loop:answer", {"runId": run_id})
        assert (refused["code"], refused["message"]) == ("bad_argument", "`loop:answer` needs `answer`.")
        assert (await tab.io.call("loop:answer", {"runId": "nosuch", "answer": "x"}))["code"] == "not_found"
    await ended(place, run_id)


@pytest.mark.parametrize("surface", ["cli", "editor", "http", "socket"])
async def test_UP_96_every_inbox_tells_what_was_missed(place: Place, surfaces: Surfaces, surface: str) -> None:
    before = (await surfaces.inbox(surface))["position"]
    run_id = await place.begin(PAUSE)
    assert (await surfaces.answer("http", run_id, "stop")).ok
    await ended(place, run_id)
    missed = [one["text"] for one in (await surfaces.inbox(surface, before))["missed"] if one["runId"] == run_id]
    assert missed[0] == "It was started."
    assert "The first answer" not in " ".join(missed)
    assert any(text.startswith("`pause` was said on the command line by `owner` at ") for text in missed)
    assert any(text.startswith("`stop` was said over HTTP by `owner` at ") for text in missed)
    assert missed[-1].startswith("It ended: stopped")


async def test_the_inbox_of_a_terminal_says_what_to_type_and_takes_it(place: Place, surfaces: Surfaces) -> None:
    call, run_id = place.project.call, await place.begin(BLOCKED)
    shown = (await asyncio.to_thread(call, "runs", "inbox")).stdout
    assert f"{run_id[:6]}  `stuck` is blocked: `think` cannot continue: Which port?" in shown
    assert f'loop-ls runs answer {run_id[:6]} ANSWER [--text "..."]: retry (try again), reject (end the run)' in shown
    other = await asyncio.to_thread(call, "runs", "answer", run_id, "retry", "--question", "nothing")
    assert other.returncode == 2
    assert "does not wait for an answer to `nothing`" in other.stderr
    wrong = await asyncio.to_thread(call, "runs", "answer", run_id, "approve")
    assert "expected one of `retry`, `reject`" in wrong.stderr
    done = await asyncio.to_thread(call, "runs", "answer", run_id, "retry", "--text", "-", stdin=PORT)
    assert done.stdout == f"{run_id[:6]}  answered: retry\n"
    assert (await ended(place, run_id))["reason"] == "completed"
    after = (await asyncio.to_thread(call, "runs", "inbox", "--after", "0")).stdout
    assert "Nothing waits for you." in after
    assert f"with the text: {PORT}." in after


# -- the verbs of one kind ----------------------------------------------------------------------------


async def test_UP_96_the_verbs_of_one_kind_tell_who_was_first_too(place: Place, surfaces: Surfaces) -> None:
    run_id, call = await place.begin(APPROVAL), place.project.call
    state = await place.until(run_id, lambda state: True)
    given = {"loopId": state["pendingApproval"]["loopId"], "approved": True}
    agent = f"/api/agents/{state['target']['name']}/loop/approve"
    async with await place.client() as client:
        done = await asyncio.to_thread(call, "runs", "approve", run_id)
        assert done.returncode == 0
        first = "The first answer was `approve`, given on the command line by `owner` at "
        late: Any = await client.approve(run_id, None, False)
        assert first in late["message"]
        again = await asyncio.to_thread(call, "runs", "reject", run_id)
        assert first in again.stderr
    await ended(place, run_id)
    response = await surfaces.post(agent, given)
    assert response.status_code == 400, "it has ended"
    run_id = await place.begin(PAUSE)
    resumed = await surfaces.post(f"/api/v1/loops/{run_id}/stop", {})
    assert resumed.status_code == 200
    await ended(place, run_id)
    over = await asyncio.to_thread(call, "runs", "resume", run_id)
    assert "The first answer was `stop`, given over HTTP by `owner` at " in over.stderr
