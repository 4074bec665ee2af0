"""The client against the real API: typed answers, and listening without gap and without double."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import shutil
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client import EngineClient, data_folder, launch
from loop_ls.client.engine_location import MARK_NAME, PROTOCOL, EngineUnavailable, Handover, claim, read_handover
from loop_ls.contract.key_file import made_key, read_key
from loop_ls.engine.process import instance_lock
from tests.engine.api.conftest import EngineProject, opened_project

LONG = 60


def test_both_sides_agree_about_the_file(tmp_path: Path) -> None:
    assert PROTOCOL == instance_lock.PROTOCOL
    folder = instance_lock.DataFolder(tmp_path)
    folder.hand_over(instance_lock.Handover(7, "abc", 99))
    found = read_handover(tmp_path)
    assert found is not None
    assert (found.port, found.token, found.pid, found.protocol) == (7, "abc", 99, instance_lock.PROTOCOL)
    assert found.fingerprint == instance_lock.fingerprint("abc")
    assert (tmp_path / "engine.json").stat().st_mode & 0o777 == 0o600


def test_a_disk_that_is_full_at_the_start_is_named_though_the_engine_cannot_say_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "engine.log").touch()
    assert "no output" in launch._failed(tmp_path, 0).message
    full = shutil.disk_usage(tmp_path)._replace(free=4096)
    monkeypatch.setattr("loop_ls.client.launch.shutil.disk_usage", lambda folder: full)
    told = launch._failed(tmp_path, 0)
    assert told.message == f"The engine cannot start: the disk of the data folder {tmp_path} is full."
    assert "Free some space" in told.hint
    (tmp_path / "engine.log").write_text("loop-ls engine: It is something else.\n")
    assert launch._failed(tmp_path, 0).message == "It is something else."


def test_the_data_folder_is_the_setting_the_variable_or_one_for_each_root(tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    named = env | {"LOOP_LS_DATA_DIR": str(tmp_path / "named")}
    assert data_folder(tmp_path / "a", "own", named) == tmp_path / "a" / "own"
    assert data_folder(tmp_path / "a", None, named) == tmp_path / "named"
    first, second = data_folder(tmp_path / "a", None, env), data_folder(tmp_path / "b", None, env)
    assert first != second
    assert first.parent == second.parent
    assert data_folder(tmp_path / "x" / ".." / "a", None, env) == first


def _filled(folder: Path) -> Path:
    folder.mkdir()
    (folder / "consents.json").write_text("{}")
    return folder


def _with_a_folder_as_mark(folder: Path) -> None:
    (_filled(folder) / MARK_NAME / "x").mkdir(parents=True)


def _with_a_link_in_a_circle_as_mark(folder: Path) -> None:
    (_filled(folder) / MARK_NAME).symlink_to(MARK_NAME)


def _with_a_mark_without_end(folder: Path) -> None:
    (_filled(folder) / MARK_NAME).symlink_to("/dev/zero")


def _with_the_mark_of_another_folder(folder: Path) -> None:
    claim(folder.with_name("other"), {"XDG_STATE_HOME": str(folder.parent / "state")})
    (_filled(folder) / MARK_NAME).write_bytes((folder.with_name("other") / MARK_NAME).read_bytes())


def _with_the_mark_of_no_key(folder: Path) -> None:
    mark = hmac.new(b"", os.fsencode(folder), hashlib.sha256).hexdigest()
    (_filled(folder) / MARK_NAME).write_text(mark)
    keys = folder.with_name("state") / "loop-ls"
    keys.mkdir(parents=True)
    (keys / "folders.key").touch()  # whoever made it was ended in the middle


def _that_is_a_file(folder: Path) -> None:
    folder.write_text("x")


@pytest.mark.parametrize(
    "bring",
    [
        _filled,
        _with_a_folder_as_mark,
        _with_a_link_in_a_circle_as_mark,
        _with_a_mark_without_end,
        _with_the_mark_of_another_folder,
        _with_the_mark_of_no_key,
        _that_is_a_file,
    ],
)
def test_a_data_folder_that_a_project_brings_along_is_refused_whatever_its_mark_is(
    tmp_path: Path, bring: Callable[[Path], object]
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    bring(tmp_path / "own")
    with pytest.raises(EngineUnavailable, match="not created by loop-ls on this machine"):
        data_folder(tmp_path, "own", env)
    assert data_folder(tmp_path, tmp_path / "own", env) == tmp_path / "own"  # a person named it
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / MARK_NAME).touch()  # another process is about to write it
    assert data_folder(tmp_path, "mine", env) == tmp_path / "mine"
    (tmp_path / "mine" / MARK_NAME).unlink()
    claim(tmp_path / "mine", env)
    (tmp_path / "mine" / "consents.json").write_text("{}")
    assert data_folder(tmp_path, "mine", env) == tmp_path / "mine"


@pytest.mark.parametrize("written", ["{theirs}", "{theirs}/deeper", "link", "{theirs}/../new", "{theirs}/.."])
def test_a_project_cannot_name_the_data_folder_of_another(tmp_path: Path, written: str) -> None:
    """An engine there would go on with its runs, and forget as many as this project's settings say."""
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    theirs = data_folder(tmp_path / "theirs", None, env)
    claim(theirs, env)
    (theirs / "journal.db").touch()
    root = tmp_path / "cloned"
    root.mkdir()
    (root / "link").symlink_to(theirs)
    with pytest.raises(EngineUnavailable, match="the parent folder of other projects' data"):
        data_folder(root, written.format(theirs=theirs), env)
    own = data_folder(root, None, env)
    assert data_folder(root, str(own), env) == own


def test_all_who_need_a_key_first_get_the_same(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "a.key"
    with ThreadPoolExecutor(8) as threads:
        keys = list(threads.map(lambda _: made_key(path), range(32)))
    assert len(set(keys)) == 1
    assert len(keys[0]) == 64
    assert [one.name for one in path.parent.iterdir()] == ["a.key"]
    assert path.stat().st_mode & 0o077 == 0
    path.write_text("")
    assert read_key(path) is None
    assert len(made_key(path)) == 64


async def test_half_of_a_character_pair_and_what_is_no_number_get_an_answer(
    project: EngineProject, client: EngineClient
) -> None:
    """An editor can send them; none of them may end the command that they came with."""
    request = {"root": str(project.folder.path), "path": str(project.folder.path / "w.yaml")}
    answer = await client.start({**request, "input": "a \ud800 b"})
    assert answer["ok"], answer
    for run_id in ("\ud800", "a\udfff"):
        for ask in (client.status, client.stop, client.export, client.delete):
            assert (await ask(run_id))["code"] == "not_found"
    assert (await client.runs(uri="file:///\ud800"))["runs"] == []
    assert (await client.take_in({"kind": "\ud800", "facts": ["\ud800"]}))["code"] == "bad_argument"
    assert (await client.start({**request, "limits": {"budgetUsd": float("nan")}}))["code"] == "bad_argument"
    assert (await client.start({**request, "limits": {"budgetUsd": float("inf")}}))["code"] == "bad_argument"


async def test_all_operations(project: EngineProject, client: EngineClient) -> None:
    project.program.hold.clear()
    path = project.folder.path / "w.yaml"
    started = await client.start({"root": str(project.folder.path), "path": str(path), "input": "2", "origin": "cli"})
    assert started["ok"]
    run_id = started["runId"]
    assert (await client.status(run_id[:6]))["state"]["runId"] == run_id
    assert [state["runId"] for state in (await client.runs())["runs"]] == [run_id]
    assert (await client.pause(run_id))["runs"] == [{"runId": run_id, "status": "paused"}]
    assert (await client.resume(run_id))["runs"][0]["status"] == "running"
    project.program.hold.set()
    await project.ended(run_id)
    assert (await client.events(run_id, 1, 2))["events"][0]["seq"] == 2
    assert (await client.history(run_id))["count"] == 2
    engine = (await client.engine_status())["engine"]
    assert engine["protocol"] == PROTOCOL
    assert engine["position"] > 0
    assert (await client.stop("all")) == {"ok": True, "runs": []}
    assert (await client.engine_stop())["ok"]
    assert project.left.is_set()


async def test_refusals_are_answers(project: EngineProject, client: EngineClient) -> None:
    answer = await client.status("nowhere")
    assert (answer["ok"], answer["code"]) == (False, "not_found")
    assert answer["message"] and "hint" in answer
    assert (await client.start({}))["code"] == "missing_field"
    assert (await client.stop("a/../b?c=d"))["code"] == "not_found"


async def test_a_lost_engine_is_an_answer(project: EngineProject) -> None:
    dead = Handover(9, "t", 1, "0", PROTOCOL)
    async with EngineClient(project.folder.path / "elsewhere", dead) as gone:
        answer = await gone.runs()
    assert (answer["ok"], answer["code"]) == (False, "engine_not_ready")


@pytest.mark.parametrize("reads", [True, False])
async def test_what_only_reads_is_asked_again_where_the_engine_dies_before_it_answers(
    project: EngineProject, reads: bool
) -> None:
    """It has a new one by then. What does something may have been done, so nobody does it twice."""
    asked: list[str] = []

    async def die(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).decode())
        writer.close()

    dying = await asyncio.start_server(die, "127.0.0.1", 0)
    async with dying, EngineClient(project.folder.path, project.handover) as client:
        client.handover = Handover(dying.sockets[0].getsockname()[1], "t", 1, "0", PROTOCOL)
        answer = await client.runs() if reads else await client.resume("a")
    assert (answer["ok"], len(asked)) == (reads, 1)


async def test_reading_does_not_bring_back_an_engine_that_was_stopped_and_acting_does(project: EngineProject) -> None:
    begun: list[str] = []

    async def begin() -> Handover:
        begun.append("an engine")
        return project.handover

    dead = Handover(9, "t", 1, "0", PROTOCOL)
    async with EngineClient(project.folder.path / "elsewhere", dead, revive=begin) as client:
        for read in (client.runs(), client.status("a"), client.events("a"), client.history("a")):
            assert (await read)["code"] == "engine_not_ready"
        assert begun == []
        assert (await client.resume("a"))["code"] == "not_found", "the engine that was begun answers"
        assert begun == ["an engine"]


async def take(events: AsyncIterator[dict[str, Any]], until: str, times: int = 1) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(LONG), aclosing(events) as open_events:  # type: ignore[type-var]
        async for event in open_events:
            found.append(event)
            times -= event["kind"] == until
            if not times:
                break
    return found


async def test_following_across_a_restart_has_no_gap_and_no_double(tmp_path: Path) -> None:
    """The engine ends in the middle and comes back on another port with another token."""
    connections: list[bool] = []
    async with opened_project(tmp_path) as first:
        client = EngineClient(tmp_path, first.handover)
        following = asyncio.create_task(take(client.follow(0, None, connections.append), "completed", 2))
        await first.ended(await first.run(5))
        held = await first.run(5)
        first.program.hold.clear()
    async with opened_project(tmp_path) as second:
        await second.ended(held)
        events = [event for event in await following if "position" in event]
        everything = (await second.engine.events(None, 0, 1000))["events"]
        assert [event["position"] for event in events] == [event["position"] for event in everything]
        for run_id in {event["runId"] for event in events}:
            numbers = [event["seq"] for event in events if event["runId"] == run_id]
            assert numbers == list(range(1, len(numbers) + 1))
    assert connections[:3] == [True, False, True]
    await client.aclose()


async def test_a_broken_connection_loses_nothing(project: EngineProject, client: EngineClient) -> None:
    """The stream is cut again and again: what arrives is still each fact once."""
    cuts = 0

    async def cut() -> None:
        nonlocal cuts
        while cuts < 5 and not following.done():
            await asyncio.sleep(0.02)
            if client._http is not None:
                cuts += 1
                await client._drop()

    following = asyncio.create_task(take(client.follow(0), "completed", 3))
    cutting = asyncio.create_task(cut())
    for _ in range(3):
        await project.ended(await project.run(30))
    numbers = [event["position"] for event in await following if "position" in event]
    await cutting
    assert cuts > 0
    assert numbers == list(range(1, len(numbers) + 1))


async def test_following_a_run_that_does_not_exist_ends(project: EngineProject, client: EngineClient) -> None:
    async with asyncio.timeout(LONG):
        assert [event async for event in client.follow(0, "nowhere")] == []


async def test_closing_the_client_ends_the_listening(project: EngineProject) -> None:
    client = EngineClient(project.folder.path, project.handover)
    following = asyncio.create_task(take(client.follow(), "never"))
    while not project.presence.listeners:
        await asyncio.sleep(0.01)
    await client.aclose()
    async with asyncio.timeout(60):
        assert await following == []


async def test_texts_with_every_line_separator_arrive_whole(project: EngineProject, client: EngineClient) -> None:
    odd = "a\u2028b\u0085c\x0cd\re\nf"
    answer = await project.engine.control("pause", "nowhere")
    assert not answer["ok"]
    await project.engine.journal.append("run-x", None, [("progress", {"iteration": 1, "learning": odd})])
    found = await take(client.follow(0), "progress")
    assert found[-1]["learning"] == odd
