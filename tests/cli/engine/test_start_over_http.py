"""What a start and an estimate say over HTTP: whom to ask in one run, and which part of a workflow runs."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from loop_ls.client.engine_location import read_handover
from tests.cli.conftest import CliProject


@pytest.fixture
def project(shared: CliProject) -> CliProject:
    """The shared project, whose engine runs."""
    assert shared.call("engine", "start").returncode == 0
    return shared


def ask(project: CliProject, path: str, body: dict[str, Any]) -> httpx.Response:
    found = read_handover(project.data)
    assert found is not None
    headers = {"Authorization": f"Bearer {found.token}"}
    with httpx.Client(trust_env=False, timeout=60, verify=False) as client:
        return client.post(f"{found.url}/api/v1/{path}", json=body, headers=headers)


def facts(project: CliProject, run_id: str) -> list[dict[str, Any]]:
    project.call("runs", "events", run_id, "--follow")
    lines = project.call("runs", "events", run_id, "--json").stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_a_start_over_http_names_whom_to_ask_and_what_runs(project: CliProject) -> None:
    start = {"root": str(project.root), "path": str(project.root / "develop.yaml"), "input": "ships"}
    answer = ask(project, "loops", {**start, "provider": "scripted", "model": "large"})
    assert answer.status_code in (200, 201, 202), answer.text
    first = answer.json()["runId"]
    calls = [(one["provider"], one["model"]) for one in facts(project, first) if one["kind"] == "call"]
    assert len(calls) == 7
    assert set(calls) == {("scripted", "large")}
    part = {**start, "startFrom": "report", "outputsOf": first}
    second = ask(project, "loops", part).json()["runId"]
    told = facts(project, second)
    assert [(one["step"], one["output"]) for one in told if one["kind"] == "step_completed"] == [
        ("report", "the report")
    ]
    assert {one["model"] for one in told if one["kind"] == "call"} == {"m"}
    unknown = ask(project, "loops", {**start, "provider": "scriptde", "model": "m"})
    assert (unknown.status_code, unknown.json()["code"]) == (400, "bad_argument")
    assert "did you mean `scripted`?" in unknown.text


def test_an_estimate_over_http_follows_whom_the_run_asks(project: CliProject) -> None:
    project.write("keyed.yaml", (project.root / "develop.yaml").read_text().replace("develop_it", "keyed"))
    body = {"path": "keyed.yaml"}
    plain = ask(project, "estimate", body).json()
    assert plain["usd"] == {"min": 0.0, "max": 0.0}
    dear = ask(project, "estimate", {**body, "provider": "openai", "model": "gpt-4o"}).json()
    assert dear["calls"] == plain["calls"]
    assert dear["usd"]["max"] > 0, dear
    default = ask(project, "estimate", {**body, "provider": "openai"}).json()
    assert default["usd"]["max"] > 0, default
    unknown = ask(project, "estimate", {**body, "provider": "opnai"})
    assert "did you mean `openai`?" in unknown.text
