"""`loop-ls engine worker`: one of any number of processes, on any host, that run what is in a common queue."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from functools import partial

from loop_ls.cli.engine.database import VARIABLE, DatabaseRefused, add_database, database_of

FAILED = 2
PROBE_PORT = "LOOP_LS_PROBE_PORT"


def configure(parser: argparse.ArgumentParser) -> None:
    add_database(parser)
    parser.add_argument(
        "--probe-port",
        type=int,
        metavar="PORT",
        help=f"Port for `/health` and `/ready` (Kubernetes probes; default: {PROBE_PORT}, else none)",
    )


def run(args: argparse.Namespace) -> int:
    status = _work(args)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # what libraries left sleeping in threads would hold the process up


def _work(args: argparse.Namespace) -> int:
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        url = database_of(args.database_url, None)
    except DatabaseRefused as refused:
        return _failed(refused.message, refused.hint)
    if url is None:
        return _failed("A worker needs a shared database.", f"Pass `--database-url` or set {VARIABLE}.")
    from loop_ls.app.engine import build
    from loop_ls.engine.api.server import PortTaken
    from loop_ls.engine.journal import JournalRefused
    from loop_ls.engine.journal.postgres_connection import where
    from loop_ls.engine.process.worker_process import work
    from loop_ls.engine.runs.secret_mask import RunSecrets
    from loop_ls.engine.telemetry.logs import log_to_stderr

    probe_port = args.probe_port
    if probe_port is None and (given := os.environ.get(PROBE_PORT, "")):
        if not (given.isascii() and given.isdigit() and int(given) < 65536):
            return _failed(
                f"{PROBE_PORT} is `{given}`, which is not a port.", "A port must be a number from 0 to 65535."
            )
        probe_port = int(given)
    secrets = RunSecrets(os.environ)
    log_to_stderr(args.log_format or "text", args.log_level or "warning", secrets.everywhere)
    try:
        built = partial(build, database=url, secrets=secrets)
        why = asyncio.run(work(built, lambda: _ready(where(url)), probe_port))
    except JournalRefused as refused:
        return _failed(refused.message, refused.hint)
    except PortTaken as taken:
        return _failed(str(taken), "Choose another port with `--probe-port`.")
    return 0 if why is None else _failed(why, "")


def _ready(place: str) -> None:
    print(f"loop-ls engine: this worker runs loops from {place} (process {os.getpid()})", file=sys.stderr, flush=True)


def _failed(message: str, hint: str) -> int:
    for line in filter(None, (message, hint)):
        print(f"loop-ls engine: {line}", file=sys.stderr, flush=True)
    return FAILED
