"""`loop-ls engine token`: made, listed and taken away, with and without an engine; shown once."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

from loop_ls.client.engine_location import read_handover
from tests.cli.conftest import CliProject


def status_of(project: CliProject, token: str, method: str = "GET", path: str = "/loops") -> int:
    found = read_handover(project.data)
    assert found is not None
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.request(
        method, f"{found.url}/api/v1{path}", headers=headers, trust_env=False, verify=False
    ).status_code


def test_a_token_is_made_without_an_engine_and_shown_once(alone: CliProject) -> None:
    made = alone.call("engine", "token", "create", "--user", "ada", "--role", "viewer")
    assert made.returncode == 0
    token = made.stdout.strip()
    assert len(token) > 40
    assert "not shown again" in made.stderr
    listed = alone.call("engine", "token", "list")
    assert "ada" in listed.stdout and "viewer" in listed.stdout
    assert token not in listed.stdout
    assert token not in (alone.data / "tokens.json").read_text("utf-8")
    assert alone.engine_pid() is None


def test_a_running_engine_knows_it_at_once_and_forgets_it_at_once(alone: CliProject) -> None:
    assert alone.call("engine", "start").returncode == 0
    made = json.loads(alone.call("engine", "token", "create", "--user", "ada", "--role", "viewer", "--json").stdout)
    assert (made["ok"], made["user"], made["role"]) == (True, "ada", "viewer")
    assert status_of(alone, made["token"]) == 200
    assert status_of(alone, made["token"], "POST", "/loops/all/stop") == 403
    gone = json.loads(alone.call("engine", "token", "revoke", "ada", "--json").stdout)
    assert [each["id"] for each in gone["revoked"]] == [made["id"]]
    assert status_of(alone, made["token"]) == 401


def token_of(project: CliProject, user: str, role: str) -> str:
    return project.call("engine", "token", "create", "--user", user, "--role", role).stdout.strip()


def test_the_command_line_speaks_for_whoever_has_a_token(alone: CliProject) -> None:
    assert alone.call("engine", "start").returncode == 0
    viewer = {"LOOP_LS_TOKEN": token_of(alone, "vera", "viewer")}
    editor, other = ({"LOOP_LS_TOKEN": token_of(alone, name, "editor")} for name in ("ada", "bob"))
    refused = alone.call("run", "develop.yaml", "--input", "x", "--mock", "--json", **viewer)
    assert json.loads(refused.stdout)["code"] == "forbidden"
    started = json.loads(alone.call("run", "develop.yaml", "--input", "x", "--detach", "--json", **editor).stdout)
    run_id = started["runId"]
    assert run_id[:6] in alone.call("runs", **viewer).stdout
    for stranger in (viewer, other):
        stopped = alone.call("runs", "delete", run_id, **stranger)
        assert (stopped.returncode, stopped.stdout) == (2, "")
    assert alone.call("runs", "delete", run_id, **editor).returncode == 0
    wrong = alone.call("runs", LOOP_LS_TOKEN="not-a-token")
    assert wrong.returncode == 2
    assert "token" in wrong.stderr


def test_an_engine_of_somebody_else_is_named_by_its_port(alone: CliProject, tmp_path: Path) -> None:
    assert alone.call("engine", "start").returncode == 0
    token, found = token_of(alone, "vera", "viewer"), read_handover(alone.data)
    assert found is not None
    mine = {"LOOP_LS_DATA_DIR": str(tmp_path / "mine"), "LOOP_LS_ENGINE": f"127.0.0.1:{found.port}"}
    status = alone.call("engine", "status", "--json", LOOP_LS_TOKEN=token, **mine)
    assert json.loads(status.stdout)["engine"]["pid"] == found.pid
    assert not (tmp_path / "mine").exists()
    assert "LOOP_LS_TOKEN is not" in alone.call("runs", **mine).stderr
    for wrong in ("https://elsewhere.example", "127.0.0.1", "1"):
        refused = alone.call("runs", LOOP_LS_TOKEN=token, **{**mine, "LOOP_LS_ENGINE": wrong})
        assert refused.returncode == 2
        assert "LOOP_LS_ENGINE" in refused.stderr
    nobody = alone.call("runs", LOOP_LS_TOKEN=token, **{**mine, "LOOP_LS_ENGINE": "127.0.0.1:1"})
    assert "No engine responds on port 1" in nobody.stderr


def test_what_cannot_be_made_says_what_would_be_right(alone: CliProject) -> None:
    wrong = alone.call("engine", "token", "create", "--user", "owner")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Invalid user name `owner`" in wrong.stderr
    gone = alone.call("engine", "token", "revoke", "eve", "--json")
    assert json.loads(gone.stdout)["message"] == "Unknown token or user `eve`."
    assert "Only the owner has access" in alone.call("engine", "token", "list").stdout
