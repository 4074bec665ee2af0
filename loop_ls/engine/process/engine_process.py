"""The engine as a process: from the lock of its folder to the last word of its log.

What the engine is made of comes from outside (`build`); this module gives it a folder, a port, a
hand-over file and an end. Leaving loses nothing: unfinished runs go on when it is started again.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from loop_ls.engine.api.app import Catalogue, Facts, application, nothing, workspace_id
from loop_ls.engine.api.file_checks import NO_FILE_CHECKS, FileChecks
from loop_ls.engine.api.mcp.server import McpEndpoint
from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.server import Listening, listen
from loop_ls.engine.api.sockets.socket_teardown import sockets_of
from loop_ls.engine.assistants.api_service import AssistantService
from loop_ls.engine.assistants.discovery import Assistants
from loop_ls.engine.core.users import Tokens
from loop_ls.engine.events import RunState
from loop_ls.engine.journal.journal import NO_ROOM
from loop_ls.engine.process.instance_lock import DataFolder, Handover
from loop_ls.engine.process.signals import SHUTDOWN_GRACE, on_signals
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine
from loop_ls.engine.telemetry import run_log
from loop_ls.engine.telemetry.numbers import Numbers
from loop_ls.engine.telemetry.spans import spans_of
from loop_ls.text.record import equal_record

WORKING = frozenset({"queued", "running", "stopping"})
WARM_AFTER = 1.0
FILES = 8192
#: Who starts runs to watch them; what comes by HTTP alone is nobody's window.
WATCHERS = frozenset({"editor", "cli", "socket"})


@equal_record
class Options:
    """`idle` None: stays until it is told to leave. `grace` None: attended runs are never torn down.
    `shutdown_grace`: seconds that calls in progress have to come to their end when it leaves. `catalogue` lists what
    the workspace has that can be started."""

    port: int = 0
    idle: float | None = None
    grace: float | None = 60.0
    shutdown_grace: float = SHUTDOWN_GRACE
    catalogue: Catalogue = nothing
    file_checks: FileChecks = NO_FILE_CHECKS


async def serve(folder: DataFolder, options: Options, build: Callable[[Path, Providers], Engine]) -> None:
    """Run the engine of a folder that is ours until it is told to leave, or nobody needs it."""
    leaving = asyncio.Event()

    now = asyncio.Event()

    def leave() -> None:
        folder.forget()  # at once: whoever looks from now on starts the next engine
        if leaving.is_set():
            now.set()
        leaving.set()

    on_signals(leave)
    _allow_many_files()
    sock = listen(options.port)
    providers = Providers(log_folder=folder.path)
    engine = build(folder.path, providers)
    engine.outdated = partial(_outdated, leave)
    presence = _presence(engine, options, leave)
    listening = Listening(sock)
    assistants = AssistantService(engine, None if engine.home is None else Assistants(engine.home))
    sockets = sockets_of(assistants, presence, options.grace)
    mcp = McpEndpoint()
    engine.begun.append(partial(_expect_watcher, presence))
    await engine.open()
    numbers, spans = Numbers(), spans_of(os.environ)
    engine.journal.listeners += [numbers.hear, run_log.hear]
    if spans is not None:
        engine.journal.listeners.append(spans.hear)
    try:
        port = int(sock.getsockname()[1])
        token = secrets.token_urlsafe(32)
        facts = Facts(token, workspace_id(str(folder.path)), str(folder.path), _now(), port)
        tokens = Tokens(folder.path)
        measured = partial(_measured, engine, presence, numbers, folder.path)
        catalogue = options.catalogue
        app = application(
            engine,
            facts,
            presence,
            leave,
            tokens=tokens,
            catalogue=catalogue,
            file_checks=options.file_checks,
            numbers=measured,
            assistants=assistants,
            sockets=sockets,
            mcp=mcp,
        )
        await listening.start(app)
        sockets.expect()
        folder.hand_over(Handover(port, token, os.getpid()))
        gc.freeze()  # no collection walks what was imported
        gc.enable()
        presence.start()
        warming = asyncio.create_task(_warm(providers, engine))
        await leaving.wait()
        warming.cancel()
        await engine.drain(options.shutdown_grace, now)
    finally:
        folder.forget()
        await sockets.aclose()
        await mcp.aclose()
        await presence.aclose()
        await engine.close()
        await listening.stop()
        await providers.aclose()
        if spans is not None:
            await asyncio.to_thread(spans.close)


def _outdated(leave: Callable[[], None], why: str) -> None:
    logging.getLogger(__name__).error(why)
    leave()


def _measured(engine: Engine, presence: Presence, numbers: Numbers, folder: Path) -> str:
    """The text of `/metrics`, as of now."""
    files = (path.stat().st_size for path in folder.glob("journal.db*") if path.exists())
    gauges = {
        "journal_bytes": sum(files),
        "listeners": presence.listeners,
        "journal_position": int(engine.status["position"]),
        "start_time_seconds": float(engine.status["startedAt"]),
    }
    return numbers.text(engine.live, gauges)


async def _warm(providers: Providers, engine: Engine) -> None:
    """Load what the first model call needs while nobody waits: not at once, since whoever started the engine waits
    for its first answer, and never beside a run, whose facts an import holds up (it keeps the interpreter lock)."""
    await asyncio.sleep(WARM_AFTER)
    while any(state.status in WORKING for state in engine.live):  # noqa: ASYNC110 - one look a second, until loaded
        await asyncio.sleep(WARM_AFTER)
    await providers.warm()


def _expect_watcher(presence: Presence, state: RunState) -> None:
    """For new runs, and for those that go on after a crash: who watched them may not know of this engine."""
    if _is_attended(state.origin, state.detach):
        presence.expect()


def _is_attended(origin: object, detach: object) -> bool:
    return origin in WATCHERS and not detach


def _presence(engine: Engine, options: Options, leave: Callable[[], None]) -> Presence:
    async def attended() -> list[str]:
        answer = await engine.runs("active", limit=1000)
        states = answer["runs"] if answer["ok"] else []
        return [s["runId"] for s in states if _is_attended(s.get("origin"), s.get("detach"))]

    async def teardown() -> None:
        for run_id in await attended():
            await engine.control("stop", run_id, cause="teardown")

    async def busy() -> bool:
        answer = await engine.runs("active", limit=1000)
        states = answer["runs"] if answer["ok"] else []
        soon = (state.get("resumesAt") or state.get("reason") in NO_ROOM for state in states)
        return any(soon) or any(state["status"] in WORKING for state in states)

    return Presence(teardown=teardown, busy=busy, leave=leave, grace=options.grace, idle=options.idle)


def _allow_many_files() -> None:
    """Each listener is an open file; the usual 1,024 are few, and more are there for the asking."""
    if os.name != "nt":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
