"""The engine as a process: one for each folder, found, started, ended, and honest about why not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from loop_ls.cli.commands import engine as engine_command
from loop_ls.client import EngineUnavailable, connect, find
from loop_ls.client.engine_location import read_handover
from loop_ls.engine.process.instance_lock import DataFolder
from loop_ls.engine.subprocesses.sandbox import sandbox_in_words
from tests.cli.conftest import SCRIPT, CliProject
from tests.processes.ended import gone

LONG = 60
WORKFLOW = """$schema: "workflow/v2.0"
name: w
version: "1.0.0"
execution: {provider: ollama, model: m}
steps:
  - {name: a, run: "Say {{input}}"}
"""


def wait_gone(pid: int, within: float = LONG) -> None:
    deadline = time.monotonic() + within
    while not gone(pid):
        assert time.monotonic() < deadline, "the process is still there"
        time.sleep(0.02)


def test_start_status_stop(alone: CliProject) -> None:
    assert "The engine is not running" in alone.call("engine", "status").stdout
    started = alone.call("engine", "start")
    assert started.returncode == 0, started.stderr
    pid = alone.engine_pid()
    assert pid is not None and f"process {pid}" in started.stdout
    assert f"already running: process {pid}" in alone.call("engine", "start").stdout
    status = json.loads(alone.call("engine", "status", "--json").stdout)["engine"]
    assert (status["pid"], status["running"], status["dataDir"]) == (pid, 0, str(alone.data))
    assert status["sandbox"] == sandbox_in_words()
    assert alone.call("engine", "stop").returncode == 0
    wait_gone(pid)
    assert read_handover(alone.data) is None
    assert "The engine is not running" in alone.call("engine", "stop").stdout


def test_the_folder_around_the_data_of_all_projects_is_its_owners_alone(tmp_path: Path) -> None:
    around = tmp_path / "loop-ls"
    around.mkdir(mode=0o755)
    DataFolder(around / "project-1").take()
    assert around.stat().st_mode & 0o777 == 0o700
    assert (around / "project-1").stat().st_mode & 0o777 == 0o700


def test_the_folder_and_its_files_are_their_owners_alone(alone: CliProject) -> None:
    alone.call("engine", "start")
    assert alone.data.stat().st_mode & 0o777 == 0o700
    for name in ("engine.json", "engine.lock", "engine.log", "journal.db"):
        assert (alone.data / name).stat().st_mode & 0o077 == 0, name


def test_a_second_engine_leaves_at_once(alone: CliProject) -> None:
    alone.call("engine", "start")
    second = alone.call("engine", "start", "--foreground", "--data-dir", str(alone.data))
    assert second.returncode == 75
    assert "Another engine is using the data folder" in second.stderr
    assert alone.call("engine", "status").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(alone: CliProject, number: signal.Signals) -> None:
    engine = alone.popen("engine", "start", "--foreground", "--data-dir", str(alone.data))
    deadline = time.monotonic() + LONG
    while read_handover(alone.data) is None:
        assert time.monotonic() < deadline and engine.poll() is None
        time.sleep(0.02)
    engine.send_signal(number)
    out, said = engine.communicate(timeout=LONG)
    assert (engine.returncode, out, said) == (0, "", "")
    assert read_handover(alone.data) is None


def test_what_a_killed_engine_left_behind_is_no_hindrance(alone: CliProject) -> None:
    alone.call("engine", "start")
    first = alone.engine_pid()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_gone(first)
    assert read_handover(alone.data) is not None, "a killed process cannot clean up"
    assert "The engine is not running" in alone.call("engine", "status").stdout
    assert alone.call("engine", "start").returncode == 0
    assert alone.engine_pid() != first


async def test_two_windows_start_one_engine(alone: CliProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOP_LS_DATA_DIR", str(alone.data))
    clients = await asyncio.gather(*(connect(alone.root) for _ in range(3)))
    assert len({client.handover.pid for client in clients}) == 1
    assert all([(await client.engine_status())["ok"] for client in clients])
    for client in clients:
        await client.aclose()


async def test_find_never_starts_one(alone: CliProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOP_LS_DATA_DIR", str(alone.data))
    assert await find(alone.root) is None
    assert not alone.data.exists()


async def test_an_engine_of_another_protocol_is_named(alone: CliProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOP_LS_DATA_DIR", str(alone.data))
    alone.call("engine", "start")
    monkeypatch.setattr("loop_ls.client.launch.PROTOCOL", 99)
    with pytest.raises(EngineUnavailable, match="not compatible") as caught:
        await connect(alone.root)
    assert "loop-ls engine stop" in caught.value.hint


async def test_a_stranger_on_the_port_gets_no_token(alone: CliProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine was killed, and another program listens on its port by now."""
    monkeypatch.setenv("LOOP_LS_DATA_DIR", str(alone.data))
    heard = b""

    async def stranger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        heard += await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n{"status": "ok"}')
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(stranger, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    alone.data.mkdir()
    facts = {"port": port, "token": "very-secret", "pid": os.getpid(), "version": "0", "protocol": 1}
    (alone.data / "engine.json").write_text(json.dumps(facts), "utf-8")
    async with server:
        assert await find(alone.root) is None
    assert b"GET /health" in heard
    assert b"very-secret" not in heard


def test_a_folder_that_cannot_be_written_is_one_sentence(alone: CliProject, tmp_path: Path) -> None:
    file = tmp_path / "a-file"
    file.write_text("", "utf-8")
    done = alone.call("engine", "start", "--data-dir", str(file / "below"))
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "LOOP_LS_DATA_DIR" in done.stderr
    assert "Traceback" not in done.stderr
    as_json = json.loads(alone.call("runs", "--json", "--data-dir", str(file / "below")).stdout)
    assert (as_json["ok"], as_json["code"]) == (False, "engine_not_ready")


def test_an_engine_in_the_background_logs_as_it_is_told(alone: CliProject) -> None:
    alone.call("engine", "start", "--log-format", "json", "--log-level", "debug")
    first, *_ = (alone.data / "engine.log").read_text().splitlines()
    assert json.loads(first)["level"] == "debug"


def test_an_engine_in_the_background_logs_little_by_itself(alone: CliProject) -> None:
    alone.call("engine", "start")
    assert "debug" not in (alone.data / "engine.log").read_text().lower()


def test_an_engine_is_told_which_database_it_shares(alone: CliProject) -> None:
    address = "postgresql://me:secret@127.0.0.1:9/runs"
    done = alone.call("engine", "start", "--database-url", address)
    assert done.returncode == 2
    assert "The database at 127.0.0.1:9/runs cannot be reached." in done.stderr
    assert alone.call("engine", "start").returncode == 0


def test_a_taken_port_is_one_sentence(alone: CliProject) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = alone.call("engine", "start", "--port", port)
    assert done.returncode == 2
    assert f"Port {port} cannot be used" in done.stderr
    assert "--port" in done.stderr


def test_a_damaged_journal_is_one_sentence(alone: CliProject) -> None:
    alone.data.mkdir()
    (alone.data / "journal.db").write_bytes(b"no database at all" * 1000)
    done = alone.call("engine", "start")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "journal" in done.stderr


def test_a_journal_that_lost_its_log_is_told_and_accepted_by_a_person(alone: CliProject) -> None:
    alone.call("engine", "start")
    pid = alone.engine_pid()
    assert pid is not None
    (alone.root / "w.yaml").write_text(WORKFLOW, "utf-8")
    assert alone.call("run", "w.yaml", "--mock", "--input", "x").returncode == 0
    os.kill(pid, signal.SIGKILL)
    wait_gone(pid)
    (alone.data / "journal.db-wal").unlink()
    refused = alone.call("engine", "start")
    assert refused.returncode == 2
    assert "entries are missing" in refused.stderr and "loop-ls engine repair" in refused.stderr
    looked = alone.call("engine", "repair")
    assert looked.returncode == 1
    assert "entries are missing" in looked.stdout and "--accept" in looked.stdout
    done = json.loads(alone.call("engine", "repair", "--accept", "--json").stdout)
    assert (done["accepted"], (Path(done["copy"]) / "journal.db-mark").is_file()) == (True, True)
    assert alone.call("engine", "repair").returncode == 0
    assert alone.call("engine", "start").returncode == 0


def test_an_idle_engine_leaves(alone: CliProject) -> None:
    started = alone.call("engine", "start", "--idle-exit", "3")
    assert started.returncode == 0, started.stderr
    pid = int(started.stdout.partition("process ")[2].partition(",")[0])
    wait_gone(pid)
    assert read_handover(alone.data) is None


def test_a_module_of_the_workspace_cannot_pose_as_ours(alone: CliProject) -> None:
    """Opening a folder runs nothing of it: not even a package called like ours."""
    (alone.root / "loop_ls").mkdir()
    (alone.root / "loop_ls" / "__init__.py").write_text("raise SystemExit('posing')", "utf-8")
    done = alone.call("engine", "start")
    assert done.returncode == 0, done.stderr


def test_wrong_words_are_explained() -> None:
    for words in (["engine"], ["engine", "start", "--port", "70000"], ["engine", "start", "--idle-exit", "-1"]):
        done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, timeout=LONG, check=False)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a zombie is told from a process by /proc")
def test_a_process_that_nobody_collected_has_ended() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    try:
        deadline = time.monotonic() + 60
        while engine_command._is_alive(ended.pid):
            assert time.monotonic() < deadline, "a zombie counts as a process that goes on"
            time.sleep(0.01)
    finally:
        ended.wait()
    assert engine_command._is_alive(os.getpid())
