"""`loop-ls ui`: lets one browser in; what is secret in it is in no command line, log or record."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import httpx
import pytest

from loop_ls.client.engine_location import read_handover
from loop_ls.contract.process_marks import IN_A_STAGE, IN_AN_AGENT
from tests.cli.conftest import CliProject


def signed_in(url: str) -> httpx.Response:
    page, _, code = url.partition("#code=")
    return httpx.post(page.replace("/ui/", "/api/v1/page/sign-in"), json={"code": code}, trust_env=False, timeout=60)


def test_the_address_lets_one_browser_in_and_nothing_of_it_is_kept(alone: CliProject) -> None:
    said = alone.call("ui", "--no-browser", "--role", "viewer")
    assert said.returncode == 0
    [url] = [line.strip() for line in said.stdout.splitlines() if "#code=" in line]
    found = read_handover(alone.data)
    assert found is not None and found.token not in said.stdout
    assert url.startswith(f"http://127.0.0.1:{found.port}/ui/#code=")
    answer = signed_in(url)
    assert (answer.status_code, answer.json()["role"]) == (200, "viewer")
    assert signed_in(url).status_code == 403
    secrets = (answer.json()["token"], url.partition("=")[2], found.token)
    for path in alone.data.rglob("*"):
        if path.is_file() and path.name != "engine.json":
            assert not [one for one in secrets if one.encode() in path.read_bytes()], path.name
    listed = alone.call("engine", "token", "list").stdout
    assert "owner" in listed and "page of a browser" in listed
    assert alone.call("engine", "token", "revoke", "owner").returncode == 0
    headers = {"Authorization": f"Bearer {answer.json()['token']}"}
    assert httpx.get(f"{found.url}/api/v1/loops", headers=headers, trust_env=False).status_code == 401


@pytest.mark.skipif(os.name == "nt", reason="the browser of this test is a shell script")
def test_a_browser_is_started_with_a_file_that_only_its_user_reads(alone: CliProject, tmp_path: Path) -> None:
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(f'#!{sys.executable}\nimport sys\nopen({str(seen)!r}, "w").write(" ".join(sys.argv[1:]))\n')
    browser.chmod(0o700)
    said = alone.call("ui", BROWSER=f"{browser} %s", SSH_CONNECTION="")
    assert said.returncode == 0 and "open in your browser" in said.stdout
    argument = seen.read_text()
    assert argument.startswith("file://") and "code" not in argument.rpartition("/")[2]
    path = Path(argument.removeprefix("file://"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    [url] = [line.strip() for line in said.stdout.splitlines() if "#code=" in line]
    assert url in path.read_text("utf-8")


def test_as_json_it_opens_nothing(alone: CliProject, tmp_path: Path) -> None:
    said = json.loads(alone.call("ui", "--json", BROWSER="/bin/false %s").stdout)
    assert said["ok"] is True and said["expiresInSeconds"] == 120
    assert signed_in(said["url"]).status_code == 200


def test_a_port_is_for_an_engine_that_this_command_starts(alone: CliProject) -> None:
    assert alone.call("engine", "start").returncode == 0
    found = read_handover(alone.data)
    assert found is not None
    same = alone.call("ui", "--no-browser", "--port", str(found.port))
    assert same.returncode == 0
    other = alone.call("ui", "--no-browser", "--port", "1")
    assert other.returncode == 2 and f"already running on port {found.port}" in other.stderr


@pytest.mark.parametrize("mark", [IN_A_STAGE, IN_AN_AGENT])
def test_an_agent_of_a_loop_is_not_let_in(alone: CliProject, mark: str) -> None:
    said = alone.call("ui", "--no-browser", **{mark: "1"})
    assert (said.returncode, said.stdout) == (2, "")
    assert "An agent of a loop cannot decide this" in said.stderr
