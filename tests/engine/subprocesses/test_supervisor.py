"""UP-61: nothing that the engine started outlives its end, its stop or its crash."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.subprocesses import supervisor
from tests.processes.ended import gone

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="process groups are POSIX")

#: Starts a grandchild that ignores SIGTERM, says both ids, and waits.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", code])
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""
MILD = STUBBORN.replace("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "pass")


async def started(program: str) -> tuple[supervisor.SupervisedProcess, list[int]]:
    held = await supervisor.start([sys.executable, "-c", program])
    assert held.process.stdout
    line = await asyncio.wait_for(held.process.stdout.readline(), 60)
    return held, [int(word) for word in line.split()]


async def all_gone(pids: list[int]) -> float:
    began = time.monotonic()
    async with asyncio.timeout(60):
        while not all(map(gone, pids)):
            await asyncio.sleep(0.002)
    return time.monotonic() - began


async def test_the_exit_status_and_output_are_the_programs_own() -> None:
    held = await supervisor.start([sys.executable, "-c", "import sys; print('out'); sys.exit(7)"])
    assert held.process.stdout
    assert await held.process.stdout.read() == b"out\n"
    assert await held.wait() == 7


async def test_a_program_that_does_not_exist_says_so() -> None:
    held = await supervisor.start(["no-such-program-at-all"])
    assert held.process.stderr
    assert b"no-such-program-at-all: No such file or directory" in await held.process.stderr.read()
    assert await held.wait() == 127


async def test_a_word_that_no_program_can_be_told_is_an_error_of_the_system_like_others() -> None:
    with pytest.raises(OSError, match="null byte"):
        await supervisor.start([sys.executable, "a\0b"])


async def test_UP_61_stop_ends_the_whole_group() -> None:
    held, pids = await started(MILD)
    stopping = asyncio.create_task(held.stop())
    await all_gone(pids)
    assert await stopping == 128 + signal.SIGTERM


async def test_UP_61_stop_ends_a_group_that_ignores_it() -> None:
    held, pids = await started(STUBBORN)
    stopping = asyncio.create_task(held.stop())
    assert await all_gone(pids) >= 0.15, "it had its fifth of a second"
    assert await stopping == 128 + signal.SIGKILL


async def test_UP_61_a_start_that_is_given_up_leaves_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program runs already, and waits for its input, while asyncio still connects its pipes."""
    loop, connecting, go = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    connect = loop.connect_write_pipe

    async def held_up(*given: Any) -> Any:
        connecting.set()
        await go.wait()
        return await connect(*given)

    monkeypatch.setattr(loop, "connect_write_pipe", held_up)
    told = tmp_path / "pid"
    program = f"import os, sys; open({str(told)!r}, 'w').write(f'{{os.getpid()}};'); sys.stdin.read()"
    starting = asyncio.create_task(supervisor.start([sys.executable, "-c", program], stdin=PIPE))
    async with asyncio.timeout(60):
        await connecting.wait()
        while not told.exists() or not told.read_text().endswith(";"):
            await asyncio.sleep(0.005)
        starting.cancel()
        await asyncio.sleep(0)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await starting
    assert gone(int(told.read_text()[:-1]))


async def test_UP_61_a_stop_does_not_wait_until_somebody_reads_what_was_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervisor, "LAST_RESORT", 300)
    held = await supervisor.start([sys.executable, "-c", "while True: print('x' * 1000)"])
    output = held.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
    async with asyncio.timeout(60):
        while output.is_reading():
            await asyncio.sleep(0.005)
        assert await held.stop() == 128 + signal.SIGTERM
    await held.discard()


async def test_UP_61_what_a_program_leaves_behind_is_ended_with_it() -> None:
    held, pids = await started(MILD.replace("time.sleep(600)\n", "\n"))
    await held.wait()
    await all_gone(pids)


async def test_UP_61_letting_go_kills_at_once() -> None:
    held, pids = await started(STUBBORN)
    held.release()
    await all_gone(pids)
    await held.wait()


async def test_UP_61_a_killed_engine_leaves_nobody(tmp_path: Path) -> None:
    engine = f"""
import asyncio, sys
from loop_ls.engine.capabilities import guard
from loop_ls.engine.subprocesses import supervisor
from tests.engine.conftest import Everything
guard.OUTSIDE = Everything()
async def main():
    held = await supervisor.start([sys.executable, "-c", {STUBBORN!r}])
    print((await held.process.stdout.readline()).decode(), end="", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", engine, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout
    pids = [int(word) for word in (await asyncio.wait_for(process.stdout.readline(), 60)).split()]
    assert pids  # it has started, or there is nothing to be left
    process.kill()
    await process.wait()
    await all_gone(pids)


async def test_a_program_does_not_see_our_keys() -> None:
    env = supervisor.reduced({"PATH": os.environ["PATH"], "OPENAI_API_KEY": "secret", "LC_ALL": "C"}, EXTRA="1")
    assert env == {"PATH": os.environ["PATH"], "LC_ALL": "C", "EXTRA": "1"}
    held = await supervisor.start([sys.executable, "-c", "import os; print(sorted(os.environ))"], env=env)
    assert held.process.stdout
    assert b"OPENAI_API_KEY" not in await held.process.stdout.read()
    await held.wait()


@pytest.mark.parametrize("entry", [".", "", "./node_modules/.bin", "bin", "../bin"])
async def test_no_program_of_the_folder_takes_the_place_of_one_that_is_installed(tmp_path: Path, entry: str) -> None:
    """Relative folders in PATH are usual, and each repository has other programs in them."""
    own = tmp_path / "a" / entry / "ls"
    own.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "a").mkdir(exist_ok=True)
    own.write_text("#!/bin/sh\necho evil\n")
    own.chmod(0o755)
    env = supervisor.reduced({"PATH": os.pathsep.join([entry, os.environ["PATH"]])})
    held = await supervisor.start(["ls", "/dev/null"], cwd=tmp_path / "a", env=env)
    assert held.process.stdout
    assert await held.process.stdout.read() == b"/dev/null\n"
    assert await held.wait() == 0


def test_folders_that_have_one_name_from_everywhere_stay_in_their_order() -> None:
    assert supervisor.search_path(os.pathsep.join(["/b", "x", "", "/a b", "~/bin"])) == os.pathsep.join(["/b", "/a b"])
    assert supervisor.reduced({"LANG": "C"}) == {"LANG": "C"}


async def test_a_signal_to_the_supervisor_ends_the_program() -> None:
    held, pids = await started(MILD)
    held.process.send_signal(signal.SIGTERM)
    await all_gone(pids)
    await held.wait()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only /proc tells what a program knows")
@pytest.mark.parametrize("told", ["stop", "let go", "ended"])
async def test_a_program_with_a_session_of_its_own_is_ended_as_well(tmp_path: Path, told: str) -> None:
    stray = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    program = (
        "import subprocess, sys, time;"
        f"stray = subprocess.Popen([sys.executable, '-c', {stray!r}], start_new_session=True);"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(stray.pid));"
        f"time.sleep({0 if told == 'ended' else 600})"
    )
    held = await supervisor.start([sys.executable, "-c", program])
    async with asyncio.timeout(60):
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await asyncio.sleep(0.01)
    pid = int((tmp_path / "pid").read_text())
    match told:
        case "stop":
            await held.stop()
        case "let go":
            held.release()
        case _:
            await held.wait()
    async with asyncio.timeout(60):
        while not gone(pid):
            await asyncio.sleep(0.01)
