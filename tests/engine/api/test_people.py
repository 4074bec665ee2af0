"""Users and roles by token: viewers read, editors start and control their own, admins all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from loop_ls.engine.api.route_table import ROUTES
from loop_ls.engine.core.users import TokenRefused, Tokens
from tests.engine.api.conftest import TOKEN, EngineProject, opened_project


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def token_of(project: EngineProject, user: str, role: str) -> dict[str, str]:
    return bearer(Tokens(project.folder.path).create(user, role)[1])


async def start(project: EngineProject, who: dict[str, str], **more: Any) -> httpx.Response:
    path = project.folder.path / "w.yaml"
    path.write_text("x", "utf-8")
    body = {"root": str(project.folder.path), "path": str(path), "input": "3", **more}
    return await project.http.post("/api/v1/loops", json=body, headers=who)


def test_AB_155_a_token_is_kept_by_its_hash_and_only_for_the_owner_of_the_folder(tmp_path: Path) -> None:
    made, text = Tokens(tmp_path).create("ada", "editor")
    kept = (tmp_path / "tokens.json").read_text("utf-8")
    assert text not in kept
    assert made.hash in kept
    assert (tmp_path / "tokens.json").stat().st_mode & 0o777 == 0o600


def test_AB_126_who_has_a_token_and_who_has_none(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    assert tokens.who("anything") is None
    _, ada = tokens.create("ada", "viewer")
    _, bob = tokens.create("bob", "admin")
    for text, user in ((ada, "ada"), (bob, "bob")):
        found = tokens.who(text)
        assert found is not None and found.user == user
    assert tokens.who(ada[:-1]) is None
    assert tokens.who("") is None
    [gone] = tokens.revoke("ada")
    assert gone.user == "ada"
    assert tokens.who(ada) is None
    assert tokens.who(bob) is not None


def test_AB_155_another_process_sees_what_was_changed(tmp_path: Path) -> None:
    reader, writer = Tokens(tmp_path), Tokens(tmp_path)
    assert reader.all() == ()
    made, text = writer.create("ada", "editor")
    assert reader.who(text) is not None
    writer.revoke(made.id)
    assert reader.who(text) is None


@pytest.mark.parametrize("user", ["", "owner", "a b", "../ada", "-x", "é", "a" * 65])
def test_AB_155_names_that_are_none(tmp_path: Path, user: str) -> None:
    with pytest.raises(TokenRefused, match="Invalid user name"):
        Tokens(tmp_path).create(user, "editor")


def test_AB_155_a_role_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(TokenRefused, match="viewer, editor, admin"):
        Tokens(tmp_path).create("ada", "root")
    with pytest.raises(TokenRefused, match="Unknown token or user `eve`"):
        Tokens(tmp_path).revoke("eve")


@pytest.mark.parametrize("text", ["", "{", "[1]", "{}", "null", '[{"id": "x"}]', '[{"role": "admin", "hash": ""}]'])
def test_AB_155_a_damaged_file_lets_nobody_in(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens.json").write_text(text, "utf-8")
    assert Tokens(tmp_path).who("") is None
    assert Tokens(tmp_path).who("x") is None


async def test_AB_126_a_viewer_reads_and_changes_nothing(project: EngineProject) -> None:
    project.program.hold.clear()
    run_id = await project.run(3)
    who = token_of(project, "ada", "viewer")
    for path in ("/loops", f"/loops/{run_id}", f"/loops/{run_id}/history", "/loops/definitions", "/engine"):
        assert (await project.http.get(f"/api/v1{path}", headers=who)).status_code == 200
    refused = [await start(project, who), await project.http.delete(f"/api/v1/loops/{run_id}", headers=who)]
    for verb in ("pause", "resume", "stop", "approve"):
        refused.append(await project.http.post(f"/api/v1/loops/{run_id}/{verb}", headers=who))
    refused.append(await project.http.post("/api/v1/loops/all/stop", headers=who))
    refused.append(await project.http.post("/api/v1/engine/stop", headers=who))
    for answer in refused:
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert "viewer" in answer.json()["error"]
    assert (await project.engine.state(run_id))["state"]["status"] == "running"
    assert not project.left.is_set()


async def test_AB_155_only_the_owner_starts_in_another_folder_or_with_other_texts(
    project: EngineProject, tmp_path: Path
) -> None:
    eve = token_of(project, "eve", "editor")
    other = tmp_path / "evehome"
    other.mkdir()
    (other / "w.yaml").write_text("x")
    elsewhere = {"root": str(other), "path": str(other / "w.yaml")}
    for more in (elsewhere, {"texts": {"w.yaml": "y"}}, {"settings": {"providers": {"a": {"kind": "agent-cli"}}}}):
        answer = await start(project, eve, **more)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert "Only the owner of the engine" in answer.json()["error"]
    assert (await start(project, bearer(TOKEN), **elsewhere)).status_code == 201
    assert (await start(project, eve)).status_code == 201


async def test_AB_155_an_editor_controls_what_is_theirs_and_nothing_else(project: EngineProject) -> None:
    project.program.hold.clear()
    ada, bob = token_of(project, "ada", "editor"), token_of(project, "bob", "editor")
    mine = (await start(project, ada)).json()
    assert mine["loop"]["user"] == "ada"
    for verb in ("pause", "resume", "stop", "approve"):
        answer = await project.http.post(f"/api/v1/loops/{mine['runId']}/{verb}", headers=bob)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert "`ada`" in answer.json()["error"]
    assert (await project.http.delete(f"/api/v1/loops/{mine['runId']}", headers=bob)).status_code == 403
    owner = await project.http.post(f"/api/v1/loops/{mine['runId']}/stop", headers=bearer(TOKEN))
    assert owner.status_code == 403  # the owner's role is that of an editor
    stopped = await project.http.post(f"/api/v1/loops/{mine['runId']}/stop", headers=ada)
    assert stopped.json()["status"] == "cancelled"
    assert (await project.http.delete(f"/api/v1/loops/{mine['runId']}", headers=ada)).status_code == 200


async def test_AB_148_all_means_all_of_ones_own_and_for_an_admin_all(project: EngineProject) -> None:
    project.program.hold.clear()
    ada, bob, root = (
        token_of(project, name, role) for name, role in (("a", "editor"), ("b", "editor"), ("r", "admin"))
    )
    hers, his = (await start(project, ada)).json()["runId"], (await start(project, bob)).json()["runId"]
    owned = await project.run(3)
    paused = (await project.http.post("/api/v1/loops/all/pause", headers=ada)).json()
    assert [row["runId"] for row in paused["runs"]] == [hers]
    stopped = (await project.http.post("/api/v1/loops/all/stop", headers=root)).json()
    assert {row["runId"] for row in stopped["runs"]} == {hers, his, owned}


async def test_AB_148_an_admin_controls_every_run_and_ends_the_engine(project: EngineProject) -> None:
    project.program.hold.clear()
    run_id, root = await project.run(3), token_of(project, "root", "admin")
    assert (await project.http.post(f"/api/v1/loops/{run_id}/stop", headers=root)).json()["status"] == "cancelled"
    assert (
        await project.http.post("/api/v1/engine/stop", headers=token_of(project, "ada", "editor"))
    ).status_code == 403
    assert not project.left.is_set()
    assert (await project.http.post("/api/v1/engine/stop", headers=root)).status_code == 200
    assert project.left.is_set()


async def test_AB_155_nobody_starts_a_run_in_the_name_of_another(project: EngineProject) -> None:
    made = await start(project, token_of(project, "ada", "editor"), user="root")
    assert made.json()["loop"]["user"] == "ada"
    assert (await start(project, bearer(TOKEN), user="ada")).json()["loop"]["user"] == "owner"


async def test_AB_155_a_token_that_was_taken_away_is_nobodys(project: EngineProject) -> None:
    who = token_of(project, "ada", "admin")
    assert (await project.http.get("/api/v1/loops", headers=who)).status_code == 200
    Tokens(project.folder.path).revoke("ada")
    answer = await project.http.get("/api/v1/loops", headers=who)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


async def test_AB_155_a_listener_whose_token_was_taken_away_hears_no_more(
    project: EngineProject, monkeypatch: Any
) -> None:
    import asyncio

    monkeypatch.setattr("loop_ls.engine.api.stream.HEARTBEAT_SECONDS", 0.05)
    who, names = token_of(project, "ada", "viewer"), []
    async with asyncio.timeout(60), project.http.stream("GET", "/api/v1/events", headers=who) as response:
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                names.append(line)
                if len(names) == 1:
                    Tokens(project.folder.path).revoke("ada")
    assert names == ["event: hello", "event: bye"]


async def test_whose_a_run_is_outlives_the_engine(tmp_path: Path) -> None:
    async with opened_project(tmp_path) as first:
        run_id = (await start(first, token_of(first, "ada", "editor"), input="1")).json()["runId"]
        await first.ended(run_id)
    async with opened_project(tmp_path) as second:
        row = (await second.http.get(f"/api/v1/loops/{run_id}")).json()
        assert row["loop"]["user"] == "ada"
        assert json.loads((tmp_path / "tokens.json").read_text("utf-8"))[0]["user"] == "ada"


#: Makes a run of one's own out of a run that everybody may read.
COPIES = {"forkLoop", "replayLoop"}


async def test_AB_126_every_route_that_changes_something_refuses_viewers_and_strangers(project: EngineProject) -> None:
    """Made from the table, so that a new route cannot forget it."""
    project.program.hold.clear()
    run_id = await project.run(3)
    viewer, stranger = token_of(project, "eve", "viewer"), token_of(project, "bob", "editor")
    changing = [route for route in ROUTES if route.operation.role in ("editor", "admin")]
    assert len(changing) > 8
    for route in changing:
        path = route.operation.path.replace("{id}", run_id)
        answer = await project.http.request(route.operation.method, path, json={}, headers=viewer)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), route.operation.operation_id
        if "{id}" in route.operation.path and route.operation.operation_id not in COPIES:
            answer = await project.http.request(route.operation.method, path, json={}, headers=stranger)
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), route.operation.operation_id
    assert (await project.engine.state(run_id))["state"]["status"] == "running"
    assert not project.left.is_set()
