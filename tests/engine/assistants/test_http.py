"""The documented HTTP interface of assistants."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import socketio

from tests.engine.assistants.support.served import OWNER_TOKEN, ServedProject, serving
from tests.processes.ended import all_gone

KEYS = {"agentId", "sessionId", "iteration", "maxIterations", "criteria", "status", "progressLog"}


async def started(served: ServedProject, **more: Any) -> str:
    answer = await served.post("start", {"message": "do it", **more})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["data"]["runId"])


async def hanging(served: ServedProject) -> str:
    served.agent.say({"text": "x", "hang": True})
    run_id = await started(served)
    await served.calls(1)
    return run_id


async def asked(served: ServedProject) -> dict[str, Any]:
    """What a manual loop that was started over HTTP asks, as polling shows it."""
    served.criterion("manual")
    served.agent.say({"text": "the output"}, {"text": "better"})
    await started(served)
    return await pending(served)


async def pending(served: ServedProject, iteration: int = 1) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            found = (await served.status()).json()["data"]["pendingApproval"]
            if found and found["iteration"] == iteration:
                return found
            await asyncio.sleep(0.01)


async def over(served: ServedProject) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while served.engine is None or served.engine.live:
            await asyncio.sleep(0.01)
    return dict((await served.status()).json()["data"])


async def test_AB_115_a_start_is_answered_before_the_first_iteration_ends(served: ServedProject) -> None:
    served.agent.say({"text": "x", "hang": True})
    answer = await served.post("start", {"message": "do it", "unknown": 1})
    assert answer.status_code == 202
    body = answer.json()
    assert body["success"] is True
    assert (body["data"]["agentId"], body["data"]["status"]) == ("fixer", "started")
    assert (await served.status()).json()["data"]["state"]["progressLog"] == []


@pytest.mark.parametrize("body", [None, {}, {"message": ""}, {"message": 3}, [], "text"])
async def test_AB_116_a_start_without_a_message_names_the_field(served: ServedProject, body: Any) -> None:
    answer = await served.post("start", body)
    assert answer.status_code == 400
    assert answer.json()["success"] is False
    if body is None or isinstance(body, dict):
        assert "message" in answer.json()["error"]


async def test_AB_116_a_blank_message_malformed_json_and_another_type_are_refused(served: ServedProject) -> None:
    assert (await served.post("start", {"message": "  "})).status_code == 400
    url, headers = "/api/agents/fixer/loop/start", {"Authorization": f"Bearer {OWNER_TOKEN}"}
    broken = {**headers, "content-type": "application/json"}
    assert (await served.http.post(url, content="{", headers=broken)).status_code == 400
    plain = {**headers, "content-type": "text/plain"}
    assert (await served.http.post(url, content='{"message": "x"}', headers=plain)).status_code == 415


async def test_AB_117_an_unknown_agent_is_not_found(served: ServedProject) -> None:
    answer = await served.post("start", {"message": "x"}, agent="nobody")
    assert (answer.status_code, answer.json()["success"]) == (404, False)


async def test_AB_118_a_disabled_assistant_is_not_started(served: ServedProject) -> None:
    served.write(loopEnabled=False)
    answer = await served.post("start", {"message": "x"})
    assert answer.status_code == 400
    assert "`Fixer`" in answer.json()["error"]
    assert "loopEnabled" in answer.json()["error"]


async def test_AB_119_an_active_loop_is_not_started_again(served: ServedProject) -> None:
    run_id = await hanging(served)
    answer = await served.post("start", {"message": "x"})
    assert answer.status_code == 400
    assert (await served.state(run_id))["status"] == "running"


@pytest.mark.parametrize("agent", ["fixer", "nobody"])
async def test_AB_120_without_a_loop_there_is_nothing_to_stop_or_approve(served: ServedProject, agent: str) -> None:
    assert (await served.post("stop", agent=agent)).status_code == 400
    assert (await served.post("approve", {"loopId": "x", "approved": True}, agent=agent)).status_code == 400
    assert (await served.post("pause", agent=agent)).status_code == 400


@pytest.mark.parametrize("agent", ["second", "nobody"])
async def test_AB_121_without_a_loop_the_status_is_inactive(served: ServedProject, agent: str) -> None:
    answer = await served.status(agent=agent)
    assert answer.status_code == 200
    data = answer.json()["data"]
    assert (data["agentId"], data["active"], data["state"]) == (agent, False, None)


async def test_AB_122_the_status_of_a_loop_is_its_whole_state(served: ServedProject) -> None:
    await hanging(served)
    data = (await served.status()).json()["data"]
    assert data["active"] is True
    assert set(data["state"]) == KEYS
    assert (data["state"]["status"], data["state"]["iteration"]) == ("running", 1)


async def test_AB_122_the_status_says_what_every_field_of_a_loop_is(served: ServedProject) -> None:
    """In its second iteration: an empty log would be right in the first."""
    served.criterion("regex", "never found")
    served.agent.say({"text": "a first\ntry"}, {"hang": True})
    await served.post("start", {"message": "x"})
    await served.calls(2)
    assert (await served.status()).json()["data"]["state"] == {
        "agentId": "fixer",
        "sessionId": "",
        "iteration": 2,
        "maxIterations": 3,
        "criteria": {"type": "regex", "value": "never found"},
        "status": "running",
        "progressLog": ["a first try"],
    }


@pytest.mark.parametrize("body", [{"loopId": "x"}, {"approved": True}, {"loopId": "", "approved": 1}, {}])
async def test_AB_123_an_approval_without_its_fields_is_refused(served: ServedProject, body: Any) -> None:
    await asked(served)
    answer = await served.post("approve", body)
    assert answer.status_code == 400
    wanted = [name for name in ("loopId", "approved") if not body.get(name) or (body[name] == 1 and name == "approved")]
    error = answer.json()["error"]
    if body.get("approved") is not True:
        assert "`approved`" in error
    assert (";" in error) == (body in ({"loopId": "", "approved": 1}, {})), wanted


async def test_a_loop_that_waits_for_a_decision_is_in_the_list_of_running_ones(served: ServedProject) -> None:
    await asked(served)
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    listed = (await served.http.get("/api/v1/loops?status=running", headers=headers)).json()
    assert [row["status"] for row in listed["loops"]] == ["running"]
    assert (listed["count"], listed["active"]) == (1, 1)
    assert listed["loops"][0]["state"]["status"] == "waiting_approval"
    finer = (await served.http.get("/api/v1/loops?status=waiting_approval", headers=headers)).json()
    assert finer["count"] == 1


async def test_AB_124_a_manual_loop_is_approved_by_polling(served: ServedProject) -> None:
    question = await asked(served)
    assert (question["iteration"], question["output"]) == (1, "the output")
    answer = await served.post("approve", {"loopId": question["loopId"], "approved": True})
    assert (answer.status_code, answer.json()["data"]) == (200, {"resolved": True})
    data = await over(served)
    assert data["lastState"]["status"] == "completed"
    assert data["lastState"]["outcome"]["finalOutput"] == "the output"


async def test_AB_120_a_decision_nobody_waits_for_resolves_nothing(served: ServedProject) -> None:
    await asked(served)
    answer = await served.post("approve", {"loopId": "another", "approved": True})
    assert (answer.status_code, answer.json()["data"]) == (200, {"resolved": False})
    assert (await served.status()).json()["data"]["active"] is True


async def test_UP_96_a_decision_that_comes_late_is_told_of_the_first(served: ServedProject) -> None:
    served.settings["assistants"] = {"revise": True}
    question = await asked(served)
    body = {"loopId": question["loopId"], "approved": False, "decision": "revise", "feedback": "Shorter."}
    assert (await served.post("approve", body)).json()["data"] == {"resolved": True}
    await pending(served, 2)
    late = (await served.post("approve", {"loopId": question["loopId"], "approved": True})).json()["data"]
    assert late["resolved"] is False
    assert "The first answer was `revise`, given over HTTP by `owner` at " in late["told"]
    assert "with the text: Shorter." in late["told"]
    assert (await served.status()).json()["data"]["active"] is True


async def test_AB_125_what_a_socket_started_http_sees_and_stops(served: ServedProject) -> None:
    served.agent.say({"text": "x", "hang": True})
    client = await served.socket()
    await client.send("loop:start", message="do it")
    call = (await served.calls(1))[0]
    assert (await served.status()).json()["data"]["state"]["iteration"] == 1
    answer = await served.post("stop")
    assert (answer.status_code, answer.json()["data"]) == (200, {"agentId": "fixer", "status": "stopped"})
    last = (await over(served))["lastState"]
    assert (last["outcome"]["cause"], last["iteration"]) == ("stopped", 1)
    await all_gone(call["pid"])


async def test_AB_126_a_viewer_reads_and_does_nothing_else(served: ServedProject) -> None:
    viewer = served.token("vera", "viewer")
    await hanging(served)
    assert (await served.status(viewer)).status_code == 200
    for verb, body in (("start", {"message": "x"}), ("stop", None), ("approve", {"loopId": "x", "approved": True})):
        answer = await served.post(verb, body, viewer)
        assert answer.status_code == 403
        assert answer.json()["error"] == "Your role does not permit running or modifying workflows"
    assert (await served.status()).json()["data"]["active"] is True


@pytest.mark.parametrize("token", [None, "wrong"])
async def test_AB_127_without_a_session_every_route_is_closed(served: ServedProject, token: str | None) -> None:
    answers = [await served.status(token)]
    answers += [await served.post(verb, {}, token) for verb in ("start", "stop", "approve", "pause", "resume")]
    assert {answer.status_code for answer in answers} == {401}
    assert {answer.json()["error"] for answer in answers} == {"Authentication required"}


async def test_AB_128_the_status_after_the_end_shows_how_it_ended(served: ServedProject) -> None:
    served.write(maxIterations=1)
    served.agent.say({"text": "word " * 100})
    await started(served)
    last = (await over(served))["lastState"]
    outcome = last["outcome"]
    assert set(last) >= KEYS
    assert (outcome["reason"], outcome["lastOutput"]) == ("max_iterations", "word " * 100)
    assert outcome["finalOutput"] == ("word " * 100)[:300].strip()
    assert outcome["endedAt"].endswith("Z")


async def test_AB_068_pause_and_resume_are_offered_too(served: ServedProject) -> None:
    go = served.root / "go"
    served.agent.say({"text": "a", "wait_for": str(go)}, {"text": "b"})
    await started(served)
    await served.calls(1)
    assert (await served.post("pause")).json()["data"]["status"] == "paused"
    assert (await served.status()).json()["data"]["state"]["status"] == "paused"
    go.touch()
    assert (await served.post("resume")).json()["data"]["status"] == "running"
    assert (await over(served))["lastState"]["status"] == "completed"


async def test_AB_149_a_program_that_nobody_confirmed_is_not_started(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        served.criterion("test_pass", "true")
        refused = await served.post("start", {"message": "x"})
        body = refused.json()
        assert (refused.status_code, body["success"], body["code"]) == (409, False, "consent_required")
        assert sorted(body["programs"]) == sorted([list(served.agent.program), ["true"]])
        assert served.agent.calls == []
        assert body["error"].startswith("The owner must give permission first: this run starts ")
        assert (await served.post("start", {"message": "x", "consent": body["digest"]})).status_code == 409
        await served.agree()
        assert (await served.post("start", {"message": "x"})).status_code == 202
        await served.calls(1)


async def test_AB_153_decisions_that_contradict_each_other_are_refused(served: ServedProject) -> None:
    served.settings["assistants"] = {"revise": True}
    question = await asked(served)
    body = {"loopId": question["loopId"], "approved": True, "decision": "reject"}
    answer = await served.post("approve", body)
    assert answer.status_code == 400
    assert (await pending(served)) == question


async def test_AB_067_a_revision_goes_on_where_the_project_allows_it(served: ServedProject) -> None:
    served.settings["assistants"] = {"revise": True}
    question = await asked(served)
    body = {"loopId": question["loopId"], "approved": False, "decision": "revise", "feedback": "Shorter."}
    assert (await served.post("approve", body)).json()["data"] == {"resolved": True}
    await pending(served, 2)
    assert "Shorter." in served.agent.messages[1]


async def test_AB_154_where_revisions_are_off_only_approved_counts(served: ServedProject) -> None:
    question = await asked(served)
    body = {"loopId": question["loopId"], "approved": False, "decision": "revise", "feedback": "Shorter."}
    assert (await served.post("approve", body)).json()["data"] == {"resolved": True}
    outcome = (await over(served))["lastState"]["outcome"]
    assert (outcome["cause"], outcome["error"]) == ("rejected", "Manual approval was rejected by user")


async def test_AB_155_there_is_no_way_in_without_a_token_and_the_owners_is_an_editors(served: ServedProject) -> None:
    for token in (None, "wrong"):
        assert (await served.status(token)).status_code == 401
        with pytest.raises(socketio.exceptions.ConnectionError):
            await served.socket(token)
        assert served.last.of("connect_error") == [{"message": "Authentication required", "data": {"status": 401}}]
    assert (await served.status(OWNER_TOKEN)).status_code == 200
    assert (await served.post("start", {"message": "x"}, OWNER_TOKEN)).status_code == 202
    client = await served.socket(OWNER_TOKEN)
    assert client.io.connected


async def touched(served: ServedProject) -> dict[str, Any]:
    """The question about a loop of the owner whose agent wrote instructions for the next one."""
    served.agent.say({"text": "done", "bash": "echo > AGENTS.md"}, {"text": "again"})
    await started(served)
    return await pending(served)


@pytest.mark.parametrize("approved", [True, False])
async def test_no_other_user_decides_what_an_agent_may_do_to_protected_files(
    served: ServedProject, approved: bool
) -> None:
    question = await touched(served)
    assert question["loopId"]
    answer = {"loopId": question["loopId"], "approved": approved}
    for name, role, status in (("eve", "viewer", 403), ("eve", "editor", 403)):
        told = await served.post("approve", answer, served.token(name, role))
        assert told.status_code == status, told.text
    assert (await pending(served))["loopId"] == question["loopId"]
    told = await served.post("approve", answer, served.token("ada", "admin"))
    assert told.json()["data"] == {"resolved": True}
    await over(served)


async def test_no_socket_of_another_user_decides_it_either(served: ServedProject) -> None:
    question = await touched(served)
    eve = await served.socket(served.token("eve", "editor"))
    await eve.send("loop:approve", loopId=question["loopId"], approved=True)
    told = await eve.until("agent:error")
    assert told["type"] == "POLICY_ERROR" and "touched protected files" in str(told)
    assert (await pending(served))["loopId"] == question["loopId"]
    assert (await served.post("approve", {"loopId": question["loopId"], "approved": True})).json()["success"]
    await over(served)


async def test_whoever_started_it_decides_about_protected_files(served: ServedProject) -> None:
    served.agent.say({"text": "done", "bash": "echo > AGENTS.md"}, {"text": "again"})
    token = served.token("eve", "editor")
    assert (await served.post("start", {"message": "do it"}, token)).status_code == 202
    question = await pending(served)
    body = {"loopId": question["loopId"], "approved": True}
    assert (await served.post("approve", body, token)).json()["data"] == {"resolved": True}
    await over(served)
