"""The documented HTTP interface of assistants."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import socketio

from tests.engine.assistants.support.served import OWNER_TOKEN, Served, served
from tests.engine.runners.support.agents import gone

KEYS = {"agentId", "sessionId", "iteration", "maxIterations", "criteria", "status", "progressLog"}


async def started(home: Served, **more: Any) -> str:
    answer = await home.post("start", {"message": "do it", **more})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["data"]["runId"])


async def hanging(home: Served) -> str:
    home.agent.say({"text": "x", "hang": True})
    run_id = await started(home)
    await home.calls(1)
    return run_id


async def asked(home: Served) -> dict[str, Any]:
    """What a manual loop that was started over HTTP asks, as polling shows it."""
    home.criterion("manual")
    home.agent.say({"text": "the output"}, {"text": "better"})
    await started(home)
    return await pending(home)


async def pending(home: Served, iteration: int = 1) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while True:
            found = (await home.status()).json()["data"]["pendingApproval"]
            if found and found["iteration"] == iteration:
                return found
            await asyncio.sleep(0.01)


async def over(home: Served) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while home.engine is None or home.engine.live:
            await asyncio.sleep(0.01)
    return dict((await home.status()).json()["data"])


async def test_AB_115_a_start_is_answered_before_the_first_iteration_ends(home: Served) -> None:
    home.agent.say({"text": "x", "hang": True})
    answer = await home.post("start", {"message": "do it", "unknown": 1})
    assert answer.status_code == 202
    body = answer.json()
    assert body["success"] is True
    assert (body["data"]["agentId"], body["data"]["status"]) == ("fixer", "started")
    assert (await home.status()).json()["data"]["state"]["progressLog"] == []


@pytest.mark.parametrize("body", [None, {}, {"message": ""}, {"message": 3}, [], "text"])
async def test_AB_116_a_start_without_a_message_names_the_field(home: Served, body: Any) -> None:
    answer = await home.post("start", body)
    assert answer.status_code == 400
    assert answer.json()["success"] is False
    if body is None or isinstance(body, dict):
        assert "message" in answer.json()["error"]


async def test_a_blank_message_malformed_json_and_another_type_are_refused(home: Served) -> None:
    assert (await home.post("start", {"message": "  "})).status_code == 400
    url, headers = "/api/agents/fixer/loop/start", {"Authorization": f"Bearer {OWNER_TOKEN}"}
    broken = {**headers, "content-type": "application/json"}
    assert (await home.http.post(url, content="{", headers=broken)).status_code == 400
    plain = {**headers, "content-type": "text/plain"}
    assert (await home.http.post(url, content='{"message": "x"}', headers=plain)).status_code == 415


async def test_AB_117_an_unknown_agent_is_not_found(home: Served) -> None:
    answer = await home.post("start", {"message": "x"}, agent="nobody")
    assert (answer.status_code, answer.json()["success"]) == (404, False)


async def test_AB_118_a_disabled_assistant_is_not_started(home: Served) -> None:
    home.write(loopEnabled=False)
    answer = await home.post("start", {"message": "x"})
    assert answer.status_code == 400
    assert "`Fixer`" in answer.json()["error"]
    assert "loopEnabled" in answer.json()["error"]


async def test_AB_119_an_active_loop_is_not_started_again(home: Served) -> None:
    run_id = await hanging(home)
    answer = await home.post("start", {"message": "x"})
    assert answer.status_code == 400
    assert (await home.state(run_id))["status"] == "running"


@pytest.mark.parametrize("agent", ["fixer", "nobody"])
async def test_AB_120_without_a_loop_there_is_nothing_to_stop_or_approve(home: Served, agent: str) -> None:
    assert (await home.post("stop", agent=agent)).status_code == 400
    assert (await home.post("approve", {"loopId": "x", "approved": True}, agent=agent)).status_code == 400
    assert (await home.post("pause", agent=agent)).status_code == 400


@pytest.mark.parametrize("agent", ["second", "nobody"])
async def test_AB_121_without_a_loop_the_status_is_inactive(home: Served, agent: str) -> None:
    answer = await home.status(agent=agent)
    assert answer.status_code == 200
    data = answer.json()["data"]
    assert (data["agentId"], data["active"], data["state"]) == (agent, False, None)


async def test_AB_122_the_status_of_a_loop_is_its_whole_state(home: Served) -> None:
    await hanging(home)
    data = (await home.status()).json()["data"]
    assert data["active"] is True
    assert set(data["state"]) == KEYS
    assert (data["state"]["status"], data["state"]["iteration"]) == ("running", 1)


async def test_AB_122_the_status_says_what_every_field_of_a_loop_is(home: Served) -> None:
    """In its second iteration: an empty log would be right in the first."""
    home.criterion("regex", "never found")
    home.agent.say({"text": "a first\ntry"}, {"hang": True})
    await home.post("start", {"message": "x"})
    await home.calls(2)
    assert (await home.status()).json()["data"]["state"] == {
        "agentId": "fixer",
        "sessionId": "",
        "iteration": 2,
        "maxIterations": 3,
        "criteria": {"type": "regex", "value": "never found"},
        "status": "running",
        "progressLog": ["a first try"],
    }


@pytest.mark.parametrize("body", [{"loopId": "x"}, {"approved": True}, {"loopId": "", "approved": 1}, {}])
async def test_AB_123_an_approval_without_its_fields_is_refused(home: Served, body: Any) -> None:
    await asked(home)
    answer = await home.post("approve", body)
    assert answer.status_code == 400
    wanted = [name for name in ("loopId", "approved") if not body.get(name) or (body[name] == 1 and name == "approved")]
    error = answer.json()["error"]
    if body.get("approved") is not True:
        assert "`approved`" in error
    assert (";" in error) == (body in ({"loopId": "", "approved": 1}, {})), wanted


async def test_AB_124_a_manual_loop_is_approved_by_polling(home: Served) -> None:
    question = await asked(home)
    assert (question["iteration"], question["output"]) == (1, "the output")
    answer = await home.post("approve", {"loopId": question["loopId"], "approved": True})
    assert (answer.status_code, answer.json()["data"]) == (200, {"resolved": True})
    data = await over(home)
    assert data["lastState"]["status"] == "completed"
    assert data["lastState"]["outcome"]["finalOutput"] == "the output"


async def test_a_decision_nobody_waits_for_resolves_nothing(home: Served) -> None:
    await asked(home)
    answer = await home.post("approve", {"loopId": "another", "approved": True})
    assert (answer.status_code, answer.json()["data"]) == (200, {"resolved": False})
    assert (await home.status()).json()["data"]["active"] is True


async def test_AB_125_what_a_socket_started_http_sees_and_stops(home: Served) -> None:
    home.agent.say({"text": "x", "hang": True})
    client = await home.socket()
    await client.send("loop:start", message="do it")
    call = (await home.calls(1))[0]
    assert (await home.status()).json()["data"]["state"]["iteration"] == 1
    answer = await home.post("stop")
    assert (answer.status_code, answer.json()["data"]) == (200, {"agentId": "fixer", "status": "stopped"})
    last = (await over(home))["lastState"]
    assert (last["outcome"]["cause"], last["iteration"]) == ("stopped", 1)
    assert gone(call["pid"])


async def test_AB_126_a_viewer_reads_and_does_nothing_else(home: Served) -> None:
    viewer = home.token("vera", "viewer")
    await hanging(home)
    assert (await home.status(viewer)).status_code == 200
    for verb, body in (("start", {"message": "x"}), ("stop", None), ("approve", {"loopId": "x", "approved": True})):
        answer = await home.post(verb, body, viewer)
        assert answer.status_code == 403
        assert answer.json()["error"] == "Your role does not permit running or modifying workflows"
    assert (await home.status()).json()["data"]["active"] is True


@pytest.mark.parametrize("token", [None, "wrong"])
async def test_AB_127_without_a_session_every_route_is_closed(home: Served, token: str | None) -> None:
    answers = [await home.status(token)]
    answers += [await home.post(verb, {}, token) for verb in ("start", "stop", "approve", "pause", "resume")]
    assert {answer.status_code for answer in answers} == {401}
    assert {answer.json()["error"] for answer in answers} == {"Authentication required"}


async def test_AB_128_the_status_after_the_end_shows_how_it_ended(home: Served) -> None:
    home.write(maxIterations=1)
    home.agent.say({"text": "word " * 100})
    await started(home)
    last = (await over(home))["lastState"]
    outcome = last["outcome"]
    assert set(last) >= KEYS
    assert (outcome["reason"], outcome["lastOutput"]) == ("max_iterations", "word " * 100)
    assert outcome["finalOutput"] == ("word " * 100)[:300].strip()
    assert outcome["endedAt"].endswith("Z")


async def test_pause_and_resume_are_offered_too(home: Served) -> None:
    go = home.root / "go"
    home.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    await started(home)
    await home.calls(1)
    assert (await home.post("pause")).json()["data"]["status"] == "paused"
    assert (await home.status()).json()["data"]["state"]["status"] == "paused"
    go.touch()
    assert (await home.post("resume")).json()["data"]["status"] == "running"
    assert (await over(home))["lastState"]["status"] == "completed"


async def test_AB_149_a_program_that_nobody_confirmed_is_not_started(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        home.criterion("test_pass", "true")
        refused = await home.post("start", {"message": "x"})
        body = refused.json()
        assert (refused.status_code, body["success"], body["code"]) == (409, False, "consent_required")
        assert sorted(body["programs"]) == sorted([list(home.agent.program), ["true"]])
        assert home.agent.calls == []
        assert body["error"].startswith("The owner has to agree first: this run starts ")
        assert (await home.post("start", {"message": "x", "consent": body["digest"]})).status_code == 409
        await home.agree()
        assert (await home.post("start", {"message": "x"})).status_code == 202
        await home.calls(1)


async def test_AB_153_decisions_that_contradict_each_other_are_refused(home: Served) -> None:
    home.settings["assistants"] = {"revise": True}
    question = await asked(home)
    body = {"loopId": question["loopId"], "approved": True, "decision": "reject"}
    answer = await home.post("approve", body)
    assert answer.status_code == 400
    assert (await pending(home)) == question


async def test_a_revision_goes_on_where_the_project_allows_it(home: Served) -> None:
    home.settings["assistants"] = {"revise": True}
    question = await asked(home)
    body = {"loopId": question["loopId"], "approved": False, "decision": "revise", "feedback": "Shorter."}
    assert (await home.post("approve", body)).json()["data"] == {"resolved": True}
    await pending(home, 2)
    assert "Shorter." in home.agent.messages[1]


async def test_AB_154_where_revisions_are_off_only_approved_counts(home: Served) -> None:
    question = await asked(home)
    body = {"loopId": question["loopId"], "approved": False, "decision": "revise", "feedback": "Shorter."}
    assert (await home.post("approve", body)).json()["data"] == {"resolved": True}
    outcome = (await over(home))["lastState"]["outcome"]
    assert (outcome["cause"], outcome["error"]) == ("rejected", "Manual approval was rejected by user")


async def test_AB_155_there_is_no_way_in_without_a_token_and_the_owners_is_an_editors(home: Served) -> None:
    for token in (None, "wrong"):
        assert (await home.status(token)).status_code == 401
        with pytest.raises(socketio.exceptions.ConnectionError):
            await home.socket(token)
        assert home.last.of("connect_error") == [{"message": "Authentication required", "data": {"status": 401}}]
    assert (await home.status(OWNER_TOKEN)).status_code == 200
    assert (await home.post("start", {"message": "x"}, OWNER_TOKEN)).status_code == 202
    client = await home.socket(OWNER_TOKEN)
    assert client.io.connected
