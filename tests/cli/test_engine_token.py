"""`loop-ls engine token`: made, listed and taken away, with and without an engine; shown once."""

from __future__ import annotations

import json

import httpx

from loop_ls.client.place import read_handover
from tests.cli.conftest import Place


def status_of(place: Place, token: str, method: str = "GET", path: str = "/loops") -> int:
    found = read_handover(place.data)
    assert found is not None
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.request(method, f"{found.url}/api/v1{path}", headers=headers, trust_env=False).status_code


def test_a_token_is_made_without_an_engine_and_shown_once(alone: Place) -> None:
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


def test_a_running_engine_knows_it_at_once_and_forgets_it_at_once(alone: Place) -> None:
    assert alone.call("engine", "start").returncode == 0
    made = json.loads(alone.call("engine", "token", "create", "--user", "ada", "--role", "viewer", "--json").stdout)
    assert (made["ok"], made["user"], made["role"]) == (True, "ada", "viewer")
    assert status_of(alone, made["token"]) == 200
    assert status_of(alone, made["token"], "POST", "/loops/all/stop") == 403
    gone = json.loads(alone.call("engine", "token", "revoke", "ada", "--json").stdout)
    assert [each["id"] for each in gone["revoked"]] == [made["id"]]
    assert status_of(alone, made["token"]) == 401


def test_what_cannot_be_made_says_what_would_be_right(alone: Place) -> None:
    wrong = alone.call("engine", "token", "create", "--user", "owner")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "`owner` is no name of a user" in wrong.stderr
    gone = alone.call("engine", "token", "revoke", "eve", "--json")
    assert json.loads(gone.stdout)["message"] == "There is no token and no user `eve`."
    assert "Only the owner has a token" in alone.call("engine", "token", "list").stdout
