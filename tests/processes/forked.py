"""Programs of ours as processes that are there at once: `Forked` is a `subprocess.Popen` whose process is forked from
one that has imported everything (`fork_server`). The command, its folder, environment, files and end are as ever.

For tests in which the start itself is not the point. A command that is none of ours, or a system without `fork`, gets
a process as usual.
"""

from __future__ import annotations

import asyncio
import json
import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SERVER = "tests.processes.fork_server"
HAS_FORK = hasattr(os, "fork") and Path("/proc/self/fd").exists()
_PYTHON_PATH = os.environ.get("PYTHONPATH")
_asks: socket.socket | None = None


def asking(asks: socket.socket) -> None:
    """In a process that was forked: engines that it starts are forked as well."""
    from loop_ls.client import launch

    global _asks
    _asks = asks
    launch.subprocess = Subprocess  # type: ignore[attr-defined,assignment]


def program(words: Sequence[str | os.PathLike[str]]) -> tuple[str, list[str]] | None:
    """The module and the argv of a command of ours, as it is written with this Python."""
    first, *rest = map(os.fspath, words)
    if Path(first).parent == Path(sys.executable).parent and Path(first).name == "loop-ls":
        return "loop_ls", [first, *rest]
    if first != sys.executable:
        return None
    rest = rest[rest[:1] == ["-P"] :]
    return (rest[1], [rest[1], *rest[2:]]) if rest[:1] == ["-m"] else None


def _imports_as_here(env: Mapping[str, str] | None) -> bool:
    """Not where an interpreter of its own would find other modules."""
    return (os.environ if env is None else env).get("PYTHONPATH") == _PYTHON_PATH


@cache
def _server() -> socket.socket:
    orders, asks = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ends = (orders.fileno(), asks.fileno())
    words = [sys.executable, "-m", SERVER, *map(str, ends)]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, pass_fds=ends, cwd=ROOT, start_new_session=True)
    server.returncode = 0  # it ends when our end of its standard input is closed, and is nobody's to wait for
    _kept.append(server)
    orders.close()
    return asks


_kept: list[subprocess.Popen[bytes]] = []


class Forked(subprocess.Popen[Any]):
    """Takes of `Popen`: files, `cwd`, `env`, `start_new_session` and how texts are read."""

    _told: int | None = None  # where the fork server says how it ended

    def __del__(self, *given: Any, close: Callable[[int], None] = os.close) -> None:
        """Its parent is the fork server: there is nothing to reap, and no module to do it when the interpreter ends."""
        if self._told is None:
            super().__del__(*given)  # type: ignore[misc]
        elif self.returncode is None:
            close(self._told)

    def _execute_child(self, args: Any, *others: Any) -> None:  # type: ignore[override]
        found = program(args) if HAS_FORK and _imports_as_here(others[5]) else None
        if found is None:
            super()._execute_child(args, *others)  # type: ignore[misc]
            return
        folder, env, session = others[4], others[5], others[-2]
        theirs_in, _, _, theirs_out, _, theirs_err = pipes = others[9:15]
        order = {
            "module": found[0],
            "argv": found[1],
            "folder": os.getcwd() if folder is None else os.fspath(folder),
            "environment": dict(os.environ if env is None else env),
            "session": bool(session),
        }
        self._told, told = os.pipe()
        standard = [
            given if given != -1 else number for number, given in enumerate((theirs_in, theirs_out, theirs_err))
        ]
        try:
            socket.send_fds(_asks or _server(), [json.dumps(order).encode()], [*standard, told])
        finally:
            os.close(told)
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self.pid = int(self._line())
        self._child_created = True

    def _line(self) -> bytes:
        assert self._told is not None
        line = b""
        while not line.endswith(b"\n"):
            more = os.read(self._told, 1)
            if not more:
                raise ChildProcessError("the fork server has ended")
            line += more
        return line

    def _ended(self, seconds: float | None) -> bool:
        """Whether its end is known within that time."""
        if self.returncode is None:
            with selectors.DefaultSelector() as listening:
                listening.register(self._told, selectors.EVENT_READ)  # type: ignore[arg-type]
                if not listening.select(seconds):
                    return False
            self.returncode = os.waitstatus_to_exitcode(int(self._line()))
            os.close(self._told)  # type: ignore[arg-type]
        return True

    def _internal_poll(self, *others: Any, **more: Any) -> int | None:
        if self._told is None:
            found: int | None = super()._internal_poll(*others, **more)  # type: ignore[misc]
            return found
        if self._child_created:
            self._ended(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self._told is None:
            status: int = super()._wait(timeout)  # type: ignore[misc]
            return status
        if not self._ended(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode


class AwaitedProcess:
    """Of `asyncio.subprocess.Process`: its streams and its end."""

    def __init__(self, process: Forked) -> None:
        self._process, self.pid = process, process.pid

    async def open(self) -> AwaitedProcess:
        self.stdout, self.stderr = asyncio.StreamReader(), asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        for reader, pipe in ((self.stdout, self._process.stdout), (self.stderr, self._process.stderr)):
            await loop.connect_read_pipe(partial(asyncio.StreamReaderProtocol, reader), pipe)
        written = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, self._process.stdin)
        self.stdin = asyncio.StreamWriter(*written, None, loop)  # type: ignore[arg-type]
        return self

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    def terminate(self) -> None:
        self._process.terminate()

    async def wait(self) -> int:
        while (status := self.returncode) is None:
            await asyncio.sleep(0.01)
        self.stdin.close()
        return status


async def create_subprocess_exec(*words: str, env: Mapping[str, str] | None = None, **pipes: int) -> AwaitedProcess:
    """As that of asyncio."""
    return await AwaitedProcess(Forked(words, env=env, bufsize=0, **pipes)).open()


def is_ours(command_line: Sequence[str]) -> bool:
    """Whether a process was forked: it has the command line of the one that forked it."""
    return SERVER in command_line


class Subprocess:
    """What `loop_ls.client.launch` uses of `subprocess`."""

    Popen = Forked
    DEVNULL = subprocess.DEVNULL


def run(
    words: Sequence[str | os.PathLike[str]], timeout: float, stdin_text: str | None = None, **more: Any
) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`."""
    with Forked(words, **more) as process:
        try:
            out, err = process.communicate(stdin_text, timeout=timeout)
        except BaseException:
            process.kill()
            raise
        return subprocess.CompletedProcess(words, process.wait(), out, err)
