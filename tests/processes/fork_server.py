"""Forks Python programs from a process that has imported what they need, so that none of them waits for imports.

`python -m tests.processes.fork_server ORDERS ASKS`: two ends of a socket, which `forked.py` has opened. An order is one
JSON object (`{module, argv, folder, environment, session}`) with four files: the program's standard ones, and where its
process number and, later, its end are told. What is forked may order in turn (an engine that a command starts). The
end of standard input ends this process, and none of those that it forked.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any

from loop_ls.server.rpc.lean_import import import_lean
from tests.processes import forked

#: What the programs import: not what they run, which each of them runs by itself.
IMPORTS = (
    *("dbos", "httpx", "uvicorn", "loop_ls.app.engine", "loop_ls.engine.process.engine_process"),
    *("loop_ls.cli.main", "loop_ls.cli.commands.run", "loop_ls.cli.commands.engine", "loop_ls.cli.commands.runs"),
    *("loop_ls.cli.commands.check", "loop_ls.server.serve", "loop_ls.server.language_server"),
    *("loop_ls.testing.models", "loop_ls.engine.roles.program", "loop_ls.engine.assistants.program"),
)
ORDER = 1 << 20


def main() -> None:
    orders, asks = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    import_lean()
    for name in IMPORTS:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    woken.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests and for what they run
    listening = selectors.DefaultSelector()
    for each in (orders, woken, 0):
        listening.register(each, selectors.EVENT_READ)
    told: dict[int, int] = {}
    while True:
        ready = {key.fileobj for key, _ in listening.select()}
        if 0 in ready:
            return
        if woken in ready:
            with suppress(BlockingIOError):
                woken.recv(1 << 16)
        if orders in ready:
            text, files, _, _ = socket.recv_fds(orders, ORDER, 4)
            child = os.fork()
            if child == 0:
                try:
                    become(json.loads(text), files, asks)
                finally:
                    os._exit(1)
            for file in files[:3]:
                os.close(file)
            told[child] = files[3]
            _tell(files[3], child)
        _reap(told)


def _reap(told: dict[int, int]) -> None:
    while told:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        file = told.pop(child)
        _tell(file, status)
        os.close(file)


def _tell(file: int, number: int) -> None:
    with suppress(OSError):  # nobody may listen any more
        os.write(file, f"{number}\n".encode())


# -- in the child ------------------------------------------------------------------------------------


def become(order: dict[str, Any], files: list[int], asks: socket.socket) -> None:
    """The program that was ordered, in place of this one. Never returns."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if order["session"]:
        os.setsid()
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2 and number != asks.fileno():
            with suppress(OSError):
                os.close(number)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    _open_standard_files()
    forked.asking(asks)
    sys.argv = order["argv"]
    os._exit(_run(order["module"]))


def _open_standard_files() -> None:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        buffer = io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
        errors = "backslashreplace" if number == 2 else "surrogateescape"
        lines = number == 2 or os.isatty(number)
        file = io.TextIOWrapper(buffer, "utf-8", errors, line_buffering=lines)
        setattr(sys, name, file)
        setattr(sys, f"__{name}__", file)


def _run(module: str) -> int:
    """As an interpreter runs it and ends; its exit status."""
    status = _ended(module)
    for end in (threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
        with suppress(Exception):
            end()
    for file in (sys.stdout, sys.stderr):
        try:
            file.flush()
        except (OSError, ValueError):
            status = status or 120
    return status


def _ended(module: str) -> int:
    try:
        runpy.run_module(module, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
