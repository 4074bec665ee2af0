"""`loop-ls engine`: start, stop and question the engine of a data folder."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from loop_ls.cli.engine import repair, token
from loop_ls.cli.engine import worker as engine_worker
from loop_ls.cli.engine.connect import add_place, data_folder_of, refuse, root_of, running_engine, settled
from loop_ls.cli.engine.database import VARIABLE, DatabaseRefused, add_database, database_of
from loop_ls.index.disk.projects import engine_home

HELP = "start, stop and inspect the engine"

TAKEN = 75
#: Seconds that an engine which leaves is waited for: calls in flight have some, and so have last facts.
PATIENCE = 25.0
FAILED = 2
LEVELS = ("debug", "info", "warning", "error")


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    start = verbs.add_parser("start", help="Start the engine in the background (other commands do so when needed)")
    start.add_argument("--foreground", action="store_true", help="Run in the foreground; log to standard error")
    start.add_argument("--port", type=port, metavar="PORT", help="Port to listen on (default: a free one)")
    start.add_argument(
        "--idle-exit", type=_seconds, metavar="SECONDS", help="Exit after this many seconds without listeners and runs"
    )
    add_database(start)
    worker = verbs.add_parser("worker", help="Run the queue of a database that several engines share")
    engine_worker.configure(worker)
    for verb in (start, worker):
        verb.add_argument("--log-format", choices=("text", "json"), metavar="FORMAT", help="Log format: text or json")
        verb.add_argument(
            "--log-level", choices=LEVELS, metavar="LEVEL", help=f"Minimum log level: {', '.join(LEVELS)}"
        )
    stop = verbs.add_parser("stop", help="Stop the engine; unfinished runs continue when it is started again")
    stop.add_argument("--now", action="store_true", help="Cancel calls in progress instead of waiting for them")
    status = verbs.add_parser("status", help="Show whether the engine is running, and what it does")
    token.configure(verbs.add_parser("token", help="Create, list and revoke tokens of other users"))
    repair.configure(verbs.add_parser("repair", help="Inspect a damaged journal, and continue without the lost data"))
    for verb in (start, stop, status):
        add_place(verb)
    for verb in (stop, status):
        verb.add_argument("--json", action="store_true", help="Print one JSON object instead of text")


def run(args: argparse.Namespace) -> int:
    match args.verb:
        case "start" if args.foreground:
            return _foreground(args)
        case "start":
            return settled(lambda: _start(args))
        case "worker":
            return engine_worker.run(args)
        case "token":
            return token.run(args)
        case "repair":
            return repair.run(args)
        case "stop":
            return settled(lambda: _stop(args), args.json)
        case _:
            return settled(lambda: _status(args), args.json)


# -- in the background -----------------------------------------------------------------------------


async def _start(args: argparse.Namespace) -> int:
    from loop_ls.client.launch import living, start

    root = engine_home(root_of(args.root))
    folder = data_folder_of(args.data_dir, root)
    found = await living(folder)
    if found is not None:
        print(f"The engine is already running: process {found.pid}, port {found.port}, data in {folder}.")
        return 0
    if args.database_url:
        os.environ[VARIABLE] = args.database_url  # an address with a password is none of the process list's business
    given = {"--port": args.port, "--log-format": args.log_format, "--log-level": args.log_level}
    more = [word for option, value in given.items() if value is not None for word in (option, str(value))]
    made = await start(folder, root, args.idle_exit, more)
    print(f"The engine is running: process {made.pid}, port {made.port}, data in {folder}.")
    return 0


async def _stop(args: argparse.Namespace) -> int:
    engine = await running_engine(args)
    if engine is None:
        return _nobody(args)
    async with engine:
        answer = await engine.engine_stop(args.now)
        if not answer["ok"]:
            return refuse(answer, args.json)
        if (calls := int(answer.get("inFlight") or 0)) and not args.now:
            told = f"{calls} call{'s' if calls > 1 else ''} in progress"
            print(f"Waiting a few seconds for {told}; press Ctrl-C to cancel.", file=sys.stderr, flush=True)
        try:
            await _gone(engine.handover.pid)
        except asyncio.CancelledError:  # Ctrl-C
            await engine.engine_stop(now=True)
            raise
    _say(args, answer, "The engine shuts down; unfinished runs continue when it is started again.")
    return 0


async def _status(args: argparse.Namespace) -> int:
    engine = await running_engine(args)
    if engine is None:
        return _nobody(args)
    async with engine:
        answer = await engine.engine_status()
    if not answer["ok"]:
        return refuse(answer, args.json)
    facts = answer["engine"]
    said = (
        f"running, loop-ls {facts['version']}, process {facts['pid']}, port {facts['port']}, data in {facts['dataDir']}"
    )
    _say(args, answer, f"{said}; {facts['running']} unfinished runs, {facts['listeners']} listeners")
    if facts.get("journal") and not args.json:
        print(facts["journal"])
    return 0


def _nobody(args: argparse.Namespace) -> int:
    _say(args, {"ok": True, "engine": None}, "The engine is not running; the next run starts it.")
    return 0


def _say(args: argparse.Namespace, answer: Mapping[str, object], text: str) -> None:
    print(json.dumps(answer, ensure_ascii=False) if args.json else text)


async def _gone(pid: int) -> None:
    """Wait until the process is no more, but not for ever: it lets runs write their last facts."""
    for _ in range(0 if os.name == "nt" else 1400):  # there, asking so would end it
        if not _is_alive(pid):
            return
        await asyncio.sleep(0.05)


def _is_alive(pid: int) -> bool:
    """False for a zombie, too: whoever started it may be slow to collect it, but it writes nothing any more."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True  # no /proc here


# -- in the foreground -----------------------------------------------------------------------------


def _foreground(args: argparse.Namespace) -> int:
    """The lock first, the heavy libraries after it: whoever comes second leaves at once."""
    gc.disable()  # what is imported stays; `serve` enables it
    from loop_ls.client.engine_location import claim
    from loop_ls.engine.process.instance_lock import DataFolder, FolderRefused, FolderTaken

    root = engine_home(root_of(args.root))
    path = data_folder_of(args.data_dir, root)
    with suppress(OSError):  # what is wrong with it is told below
        claim(path)
    folder = DataFolder(path)
    try:
        folder.take(patience=PATIENCE)
    except FolderTaken as taken:
        return _failed(TAKEN, taken.message, taken.hint)
    except FolderRefused as refused:
        return _failed(FAILED, refused.message, refused.hint)
    try:
        status = _serve(folder, args, root)
    finally:
        folder.release()
    sys.stderr.flush()
    # Everything is on the disk; what libraries left sleeping in threads would hold the process up.
    os._exit(status)


def _serve(folder: object, args: argparse.Namespace, root: Path) -> int:
    # Looking for plugins of pydantic reads the metadata of every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from loop_ls.app.catalogue import catalogue
    from loop_ls.app.engine import build, log_manner, options
    from loop_ls.engine.api.server import PortTaken
    from loop_ls.engine.journal import JournalRefused
    from loop_ls.engine.process.engine_process import serve
    from loop_ls.engine.process.instance_lock import DataFolder
    from loop_ls.engine.runs.secret_mask import RunSecrets
    from loop_ls.engine.telemetry.logs import log_to_stderr

    assert isinstance(folder, DataFolder)
    secrets = RunSecrets(os.environ)
    log_to_stderr(*log_manner(args, root), secrets.everywhere)
    manner = replace(options(args.port, args.idle_exit, root), catalogue=catalogue(root, folder.path))
    try:
        database = database_of(args.database_url, root)
        if database is not None:
            manner = replace(manner, grace=None)  # others may watch, and other engines run it
        asyncio.run(serve(folder, manner, partial(build, root=root, database=database, secrets=secrets)))
    except DatabaseRefused as refused:
        return _failed(FAILED, refused.message, refused.hint)
    except JournalRefused as refused:
        return _failed(FAILED, refused.message, refused.hint)
    except PortTaken as taken:
        return _failed(FAILED, str(taken), "Choose another port with `--port` or the setting `engine.port`.")
    except OSError as error:
        where = error.filename2 or error.filename
        why = error.strerror or str(error)
        return _failed(FAILED, f"The engine cannot continue: {f'{where}: {why}' if where else why}.", "")
    return 0


def _failed(status: int, message: str, hint: str) -> int:
    """In lines that whoever started us finds in the log."""
    for line in filter(None, (message, hint)):
        print(f"loop-ls engine: {line}", file=sys.stderr, flush=True)
    return status


def port(text: str) -> int:
    """As a type of an argument."""
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is not a port: use a number from 0 to 65535")
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 10_000_000:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds")
    return seconds
