"""`loop-ls repl`: a prompt for the lines `/loops ...`, over the engine that everything else uses.

On a terminal it has a history file and completion by readline, which costs nothing to have; from a pipe
it follows line after line.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from loop_ls.cli.engine.connect import add_place, engine_for, refuse, root_of
from loop_ls.cli.repl.lines import VERBS, Leave, Lines
from loop_ls.client import EngineClient, EngineUnavailable
from loop_ls.contract.endings import FILTERS

HELP = "start an interactive prompt with /loops commands"

PROMPT = "loop-ls> "
HISTORY_LINES = 1000


def configure(parser: argparse.ArgumentParser) -> None:
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    with asyncio.Runner() as runner:
        try:
            engine = runner.run(engine_for(args))
        except EngineUnavailable as gone:
            return refuse(gone.answer())
        try:
            return _prompt(runner, engine, root_of(args.root))
        finally:
            runner.run(engine.aclose())


def _prompt(runner: asyncio.Runner, engine: EngineClient, root: Path) -> int:
    terminal = sys.stdin.isatty()
    readline = _with_history(engine.folder / "repl_history", runner, engine) if terminal else None
    lines = Lines(engine, str(root), lambda line: print(line, flush=True), _ask)
    if terminal:
        print("Type /help for help, Ctrl-D to quit.")
    try:
        while True:
            try:
                text = _ask(PROMPT if terminal else "")
                runner.run(lines.line(text))
            except KeyboardInterrupt:
                print()
            except (EOFError, Leave):
                return 0
    finally:
        if readline is not None:
            with suppress(OSError):
                readline.write_history_file(engine.folder / "repl_history")
                (engine.folder / "repl_history").chmod(0o600)


def _ask(question: str) -> str:
    """Not in a thread: Ctrl-C could not end it there, and nothing else wants to run meanwhile."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(question)
    finally:
        signal.signal(signal.SIGINT, before)


def _with_history(path: Path, runner: asyncio.Runner, engine: EngineClient) -> Any:
    """readline with what was typed before, and completion; None where Python has none."""
    try:
        import readline
    except ImportError:
        return None
    readline.set_history_length(HISTORY_LINES)
    with suppress(OSError):
        readline.read_history_file(path)
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        nonlocal found
        if state == 0:
            before = readline.get_line_buffer()[: readline.get_begidx()].split()
            found = [word for word in _words(before, runner, engine) if word.startswith(text)]
        return f"{found[state]} " if state < len(found) else None

    readline.set_completer_delims(" \t\n")
    readline.set_completer(complete)
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    return readline


def _words(before: list[str], runner: asyncio.Runner, engine: EngineClient) -> list[str]:
    """What may stand behind these words."""
    match before:
        case []:
            return ["/loops", "/help", "/quit"]
        case ["/loops"]:
            return [*VERBS, *FILTERS]
        case ["/loops", "start"]:
            found = runner.run(engine.definitions())
            return [one["name"] for one in found["definitions"]] if found["ok"] else []
        case ["/loops", verb] if verb in VERBS:
            runs = runner.run(engine.runs(limit=100))
            every = ["all"] if verb in ("pause", "resume", "stop") else []
            return [*every, *(state["runId"][:8] for state in (runs["runs"] if runs["ok"] else ()))]
        case _:
            return []
