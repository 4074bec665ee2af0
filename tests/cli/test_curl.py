"""Every row of the two documented HTTP tables, walked with plain `curl` against a real engine: status and body.

Nothing here knows the product's own client; what is asked for is what the documents list.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.engine_location import read_handover
from tests.cli.conftest import CliProject

Json = Any
LOOPS = "/api/v1/loops"
PAIR = {
    "name": "pair",
    "description": "One thinks, one judges.",
    "parameters": [{"name": "tone", "description": "How.", "required": False, "default": "calm"}],
    "roles": [
        {"name": "think", "role": "plan", "prompt": "Think, {{tone}}."},
        {"name": "judge-it", "role": "reviewer", "prompt": "Say APPROVED or what is missing."},
    ],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": 4}},
}
ENDLESS = {**PAIR, "name": "endless", "termination_condition": {"type": "manual"}}
STRICT = {**PAIR, "name": "strict", "parameters": [{"name": "subject", "description": "What."}]}
SAYS = 'answers:\n  - when: {step: judge-it}\n    say: ["more, please", "APPROVED"]\n  - say: "a thought"\n'
MANUAL = """\
name: Asker
persona: You answer.
loopEnabled: true
loopCriteria: {type: manual}
"""
LOOP = {
    *("id", "definition_name", "session_id", "project_id", "goal", "status", "current_iteration", "current_stage"),
    *("max_iterations", "termination_criteria", "started_at", "completed_at", "metadata"),
}
ITERATION = {"id", "loop_id", "iteration_number", "sprint_id", "status", "outcome_summary", "started_at"}
STAGE = {"id", "iteration_id", "stage_index", "role", "label", "status", "result_summary", "task_id", "artifact_id"}
STATE = {"agentId", "sessionId", "iteration", "maxIterations", "criteria", "status", "progressLog"}


class Curl:
    def __init__(self, project: CliProject) -> None:
        self.place = project
        found = read_handover(project.data)
        assert found is not None
        self.url, self.token = found.url, found.token

    def __call__(self, method: str, path: str, body: Json = None, *more: str, token: str = "") -> tuple[int, Json]:
        """`body`: an object, or a text as it is to be sent. Status and what came."""
        words = ["curl", "-sS", "--noproxy", "*", "--max-time", "60", "-X", method, "-w", "\n%{http_code}"]
        words += ["-H", f"Authorization: Bearer {token or self.token}", *more]
        if body is not None:
            words += ["-H", "Content-Type: application/json", "--data-binary", "@-"]
        sent = body if isinstance(body, str) else json.dumps(body)
        done = subprocess.run(
            [*words, f"{self.url}{path}"], input=sent, capture_output=True, text=True, timeout=90, check=False
        )
        assert done.returncode == 0, done.stderr
        said, _, status = done.stdout.rpartition("\n")
        return int(status), json.loads(said)

    def until(self, path: str, wanted: Callable[[Json], bool]) -> Json:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = self("GET", path)[1]
            if wanted(found):
                return found
            time.sleep(0.05)
        raise AssertionError(found)

    def fault(self, status: int, code: str, method: str, path: str, body: Json = None) -> Json:
        """A refusal in the envelope of the first table."""
        came, said = self(method, path, body)
        assert (came, said["code"]) == (status, code), said
        assert isinstance(said["error"], str)
        assert said["error"]
        return said


@pytest.fixture
def curl(alone: CliProject) -> Iterator[Curl]:
    for one in (PAIR, ENDLESS, STRICT):
        alone.write(f"loops/{one['name']}.json", json.dumps(one))
    alone.write("loops/pair.answers.yaml", SAYS)
    alone.write("loops/endless.answers.yaml", 'delay: 0.2\nanswers:\n  - say: "a thought"\n')
    alone.write("loops/broken.json", "{")
    alone.write("asker.assistant.yaml", MANUAL)
    alone.write("off.assistant.yaml", MANUAL.replace("Asker", "Off").replace("loopEnabled: true", "loopEnabled: false"))
    alone.write("asker.assistant.answers.yaml", 'answers:\n  - say: "the output"\n')
    alone.write(".loop-ls.yaml", "assist: {provider: scripted, model: m}\n")
    assert alone.call("engine", "start", "--root", str(alone.root)).returncode == 0
    yield Curl(alone)


def test_every_row_of_the_table_of_loops(curl: Curl) -> None:
    status, made = curl("POST", LOOPS, {"definition": "pair", "goal": "Say hello.", "parameters": {"tone": "loud"}})
    assert (status, made["loop"]["status"], made["iteration"]["iteration_number"]) == (201, "running", 1)
    assert [stage["stage_index"] for stage in made["stages"]] == [0, 1]
    assert made["loop"].keys() >= LOOP
    assert made["iteration"].keys() >= ITERATION
    assert made["stages"][0].keys() >= STAGE
    own = f"{LOOPS}/{made['loop']['id']}"
    done = curl.until(own, lambda said: said["loop"]["status"] == "completed")
    assert (done["loop"]["completion_reason"], done["iteration"]["iteration_number"]) == ("approved", 2)
    assert done["loop"]["completed_at"].endswith("Z")
    again = {"definition": "endless", "goal": "x", "session_id": made["loop"]["session_id"], "max_iterations": 500}
    status, going = curl("POST", LOOPS, again)
    assert (status, going["loop"]["max_iterations"]) == (201, 500)
    assert going["loop"]["project_id"] == made["loop"]["project_id"]
    other = f"{LOOPS}/{going['loop']['id']}"

    assert curl("GET", f"{LOOPS}/active/count") == (200, {"ok": True, "active": 1})
    status, listed = curl("GET", LOOPS)
    assert (status, listed["count"], listed["active"]) == (200, 2, 1)
    assert [row["id"] for row in listed["loops"]] == [going["loop"]["id"], made["loop"]["id"]]  # newest first
    assert curl("GET", f"{LOOPS}?status=completed")[1]["count"] == 1
    status, found = curl("GET", f"{LOOPS}/definitions")
    named = {row["name"]: row for row in found["definitions"]}
    assert (status, found["count"]) == (200, len(found["definitions"]))
    assert named["pair"].keys() >= {"name", "description", "parameters", "roles", "termination"}
    assert named["broken"]["error"]
    assert {"harness", "research", "goal-driven"} <= named.keys()

    status, told = curl("GET", f"{own}/history")
    assert (status, told["count"], [row["iteration_number"] for row in told["history"]]) == (200, 2, [1, 2])
    assert told["history"][0].keys() >= ITERATION | {"duration_seconds", "stage_count", "completed_stage_count"}
    status, counted = curl("GET", f"{own}/metrics")
    assert (status, counted["iterations"]["total"], counted["stages"]["by_role"]) == (
        200,
        2,
        {"plan": 2, "reviewer": 2},
    )
    assert counted.keys() >= {"loop_id", "status", "current_iteration", "duration_seconds", "timings"}
    assert len(counted["timings"]["iteration_timings"]) == 2
    status, rows = curl("GET", f"{own}/iterations")
    assert (status, rows["count"], rows["iterations"][0]["status"]) == (200, 2, "needs_rework")
    status, one = curl("GET", f"{own}/iterations/{rows['iterations'][1]['id']}")
    assert (status, [stage["result_summary"] for stage in one["stages"]]) == (200, ["a thought", "APPROVED"])

    changes = {"goal": "y", "max_iterations": None, "metadata": {"a": {"b": 1}}, "labels": [" l ", "l"]}
    status, changed = curl("PATCH", other, changes)
    assert (status, changed["loop"]["goal"], changed["loop"]["max_iterations"]) == (200, "y", None)
    assert changed["loop"]["metadata"]["a"] == {"b": 1}
    assert changed["loop"]["metadata"]["labels"] == ["l"]
    for verb, becomes in (("pause", "paused"), ("resume", "running"), ("pause", "paused"), ("stop", "cancelled")):
        status, said = curl("POST", f"{other}/{verb}")
        assert (status, said["id"], said["status"]) == (200, going["loop"]["id"], becomes)
    curl.until(other, lambda said: said["loop"]["status"] == "cancelled")
    assert curl("DELETE", other) == (
        200,
        {"ok": True, "runId": going["loop"]["id"], "deleted": True, "id": going["loop"]["id"]},
    )
    curl.fault(404, "not_found", "GET", other)


def test_every_refusal_of_the_table_of_loops(curl: Curl) -> None:
    curl.fault(400, "invalid_format", "POST", LOOPS, "{")
    curl.fault(400, "validation_error", "POST", LOOPS, "[1]")
    curl.fault(400, "missing_field", "POST", LOOPS, {})
    curl.fault(400, "missing_field", "POST", LOOPS, {"definition": "pair"})
    curl.fault(400, "missing_field", "POST", LOOPS, {"definition": "pair", "goal": " "})
    curl.fault(400, "missing_field", "POST", LOOPS, {"definition": "strict", "goal": "x"})
    curl.fault(400, "file_has_errors", "POST", LOOPS, {"definition": "broken", "goal": "x"})
    for wrong in ({"parameters": "x"}, {"parameters": {"tone": [1]}}, {"max_iterations": 0}, {"max_iterations": "a"}):
        curl.fault(400, "validation_error", "POST", LOOPS, {"definition": "pair", "goal": "x", **wrong})
    both = {"project_id": "a", "project_slug": "b"}
    curl.fault(400, "validation_error", "POST", LOOPS, {"definition": "pair", "goal": "x", **both})
    said = curl.fault(404, "not_found", "POST", LOOPS, {"definition": "nosuch", "goal": "x"})
    assert "pair" in said["error"]
    for unknown in ({"session_id": "s"}, {"project_id": "p"}, {"project_slug": "p"}):
        curl.fault(404, "not_found", "POST", LOOPS, {"definition": "pair", "goal": "x", **unknown})
    curl.fault(400, "validation_error", "GET", f"{LOOPS}?status=sleeping")
    assert curl("GET", LOOPS)[1]["count"] == 0  # nothing of all this was made

    first, second = (curl("POST", LOOPS, {"definition": "endless", "goal": "x"})[1]["loop"]["id"] for _ in range(2))
    here = f"{LOOPS}/{first}"
    curl.until(f"{LOOPS}/{second}/iterations", lambda said: said["count"] > 2)
    curl.until(f"{here}/iterations", lambda said: said["count"] > 2)
    for wrong in ({}, {"status": "completed"}, {"goal": " "}, {"max_iterations": 0}, {"metadata": 3}, {"labels": [""]}):
        curl.fault(400, "validation_error", "PATCH", here, wrong)
    curl.fault(400, "invalid_format", "PATCH", here, "nonsense")
    curl.fault(409, "wrong_status", "PATCH", here, {"max_iterations": 1})
    curl.fault(409, "wrong_status", "DELETE", here)
    curl.fault(409, "wrong_status", "POST", f"{here}/resume")
    curl("POST", f"{here}/pause")
    curl.fault(409, "wrong_status", "POST", f"{here}/pause")
    curl.fault(409, "wrong_status", "DELETE", here)
    curl.fault(404, "not_found", "GET", f"{here}/iterations/99")
    for method, path in (
        *(("GET", ""), ("GET", "/history"), ("GET", "/metrics"), ("GET", "/iterations"), ("GET", "/iterations/1")),
        *(("DELETE", ""), ("POST", "/pause"), ("POST", "/resume"), ("POST", "/stop")),
    ):
        curl.fault(404, "not_found", method, f"{LOOPS}/nosuch{path}")
    curl.fault(404, "not_found", "PATCH", f"{LOOPS}/nosuch", {"goal": "x"})
    curl.fault(404, "not_found", "GET", "/api/v1/nosuch")
    curl("POST", f"{here}/stop")
    curl.until(here, lambda said: said["loop"]["status"] == "cancelled")
    for verb in ("pause", "resume", "stop"):
        curl.fault(409, "wrong_status", "POST", f"{here}/{verb}")
    status, said = curl("GET", LOOPS, None, token="wrong")
    assert (status, said["code"]) == (401, "unauthorized")
    token = curl.place.call("engine", "token", "create", "--user", "vera", "--role", "viewer").stdout.split()[-1]
    assert curl("GET", LOOPS, token=token)[0] == 200
    status, said = curl("POST", LOOPS, {"definition": "pair", "goal": "x"}, token=token)
    assert (status, said["code"]) == (403, "forbidden")


def test_every_row_of_the_table_of_agents(curl: Curl) -> None:
    base = "/api/agents/asker/loop"

    def refused(status: int, verb: str, body: Json = None, agent: str = "asker", method: str = "POST") -> str:
        came, said = curl(method, f"/api/agents/{agent}/loop/{verb}", body)
        assert (came, said["success"], set(said) <= {"success", "error", "code", "hint", "names"}) == (
            status,
            False,
            True,
        ), said
        return str(said["error"])

    assert (
        curl("GET", f"{base}/status")[1]["data"].items() >= {"agentId": "asker", "active": False, "state": None}.items()
    )
    for body in ("{", None, {}, {"message": ""}, {"message": 3}, [], {"message": " "}):
        assert refused(400, "start", body)
    assert "asker" not in refused(404, "start", {"message": "x"}, "nobody")
    assert "loopEnabled" in refused(400, "start", {"message": "x"}, "off")
    for verb in ("stop", "pause", "resume"):
        assert refused(400, verb)
    assert refused(400, "approve", {"loopId": "x", "approved": True})
    status, _ = curl("POST", f"{base}/start", "message=x", "-H", "Content-Type: text/plain")
    assert status == 415

    status, said = curl("POST", f"{base}/start", {"message": "Do it.", "unknown": 1, "mock": True})
    assert (status, said["success"], said["data"]["agentId"], said["data"]["status"]) == (202, True, "asker", "started")
    told = curl.until(f"{base}/status", lambda said: said["data"]["pendingApproval"])["data"]
    assert (told["active"], set(told["state"]), told["state"]["sessionId"]) == (True, STATE, "")
    assert (told["pendingApproval"]["iteration"], told["pendingApproval"]["output"]) == (1, "the output")
    assert "already" in refused(400, "start", {"message": "y"})
    problems = refused(400, "approve", {"loopId": "", "approved": 1})
    assert problems.count(";") == 1
    assert refused(400, "approve", {"loopId": told["pendingApproval"]["loopId"]})
    status, said = curl("POST", f"{base}/approve", {"loopId": "another", "approved": True})
    assert (status, said["data"]) == (200, {"resolved": False})
    status, said = curl("POST", f"{base}/approve", {"loopId": told["pendingApproval"]["loopId"], "approved": True})
    assert (status, said) == (200, {"success": True, "data": {"resolved": True}})
    last = curl.until(f"{base}/status", lambda said: not said["data"]["active"])["data"]["lastState"]
    assert (last["status"], last["outcome"]["finalOutput"]) == ("completed", "the output")

    assert curl("POST", f"{base}/start", {"message": "Once more.", "mock": True})[0] == 202
    curl.until(f"{base}/status", lambda said: said["data"]["pendingApproval"])
    for verb, becomes in (("pause", "paused"), ("resume", "running"), ("stop", "stopped")):
        assert curl("POST", f"{base}/{verb}") == (
            200,
            {"success": True, "data": {"agentId": "asker", "status": becomes}},
        )
    last = curl.until(f"{base}/status", lambda said: not said["data"]["active"])["data"]["lastState"]
    assert (last["status"], last["outcome"]["cause"]) == ("failed", "stopped")

    assert curl("GET", f"{base}/status", token="wrong") == (401, {"success": False, "error": "Authentication required"})
    token = curl.place.call("engine", "token", "create", "--user", "vera", "--role", "viewer").stdout.split()[-1]
    assert curl("GET", f"{base}/status", token=token)[0] == 200
    for verb in ("start", "stop", "approve", "pause", "resume"):
        status, said = curl("POST", f"{base}/{verb}", {"message": "x", "loopId": "x", "approved": True}, token=token)
        assert (status, said["error"]) == (403, "Your role does not permit running or modifying workflows")
    assert curl("GET", f"{base}/nosuch")[0] == 404


def test_curl_follows_the_stream_of_a_loop_and_goes_on_after_its_last_id(curl: Curl, tmp_path: Path) -> None:
    made = curl("POST", LOOPS, {"definition": "pair", "goal": "x"})[1]["loop"]["id"]
    curl.until(f"{LOOPS}/{made}", lambda said: said["loop"]["status"] == "completed")

    def streamed(*more: str) -> list[str]:
        words = ["curl", "-sN", "--noproxy", "*", "-H", f"Authorization: Bearer {curl.token}", *more]
        stream = subprocess.Popen(
            [*words, f"{curl.url}/api/v1/events?run={made}&after=0"], stdout=subprocess.PIPE, text=True
        )
        assert stream.stdout is not None
        lines: list[str] = []
        for line in stream.stdout:
            lines.append(line.strip())
            if "event: completed" in line or '"kind":"completed"' in line.replace(" ", ""):
                break
        stream.kill()
        stream.wait()
        return lines

    ids = [line.removeprefix("id: ") for line in streamed("--max-time", "60") if line.startswith("id: ")]
    assert ids == sorted(ids, key=int)
    rest = streamed("--max-time", "60", "-H", f"Last-Event-ID: {ids[2]}")
    assert [line.removeprefix("id: ") for line in rest if line.startswith("id: ")] == ids[
        2:
    ]  # the greeting repeats where it goes on
