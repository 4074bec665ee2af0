"""Finding a running engine, and starting one where there is none.

Two callers that start at the same time start one engine: the second process sees the lock of the
first and leaves, and both callers read the same hand-over file.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from loop_ls.client.engine_location import (
    ENGINE_VARIABLE,
    LOG_NAME,
    PROTOCOL,
    TOKEN_VARIABLE,
    EngineUnavailable,
    Handover,
    claim,
    data_folder,
    named_engine,
    read_handover,
)
from loop_ls.client.session import EngineClient
from loop_ls.text.json_value import JsonObject

START_SECONDS = 30.0
LOOK_SECONDS = 0.02
#: An engine that was started because it was needed leaves after this long without listener and run.
IDLE_SECONDS = 60.0

#: How an engine ends that finds another one in its folder: that one is waited for.
TAKEN = 75

#: Bytes that an engine needs of a disk to say anything at all.
ROOM = 64 * 1024

#: Children of ours that were started and not yet reaped.
_started: list[subprocess.Popen[bytes]] = []


async def find(root: Path | str, data_dir: str | Path | None = None) -> EngineClient | None:
    """The client of a running engine, or None: never starts one."""
    folder = data_folder(root, data_dir)
    handover = await _named() or await living(folder)
    return EngineClient(folder, handover) if handover else None


async def connect(root: Path | str, data_dir: str | Path | None = None) -> EngineClient:
    """The client of the engine of `root`, started when there is none (two callers start one).

    `data_dir` is the setting `engine.dataDir`, or the `Path` that a person named. Raises `EngineUnavailable` with one
    sentence.
    """
    folder = data_folder(root, data_dir)
    if (named := await _named()) is not None:
        return EngineClient(folder, named)

    async def revive() -> Handover:
        return await living(folder) or await start(folder, root)

    return EngineClient(folder, await revive(), revive)


async def _named() -> Handover | None:
    """The engine that the environment names, which somebody else has started. Raises `EngineUnavailable`."""
    port = named_engine()
    if port is None:
        return None
    found = Handover(port, os.environ[TOKEN_VARIABLE], 0, "", PROTOCOL)
    health = await _health(found)
    if health is None:
        told = f"No engine responds on port {port} of this machine ({ENGINE_VARIABLE})."
        raise EngineUnavailable(told, "Ask the person who started it: `loop-ls engine status` shows the port.")
    if health.get("protocol") != PROTOCOL:
        told = (
            f"The engine on port {port} has version {health.get('version')}, which is not compatible with this version."
        )
        raise EngineUnavailable(told, "Use the same version of loop-ls as the engine.")
    return replace(found, version=str(health.get("version")))


async def living(folder: Path) -> Handover | None:
    """What the hand-over file says, when the engine that wrote it answers."""
    handover = read_handover(folder)
    if handover is None or not _alive(handover.pid):
        return None
    health = await _health(handover)
    if health is None or health.get("engine") != handover.fingerprint:
        return None
    if handover.protocol != PROTOCOL:
        raise EngineUnavailable(
            f"An engine of loop-ls {handover.version} is using the data folder {folder}; it is not "
            "compatible with this version.",
            "Stop it with `loop-ls engine stop` of that version, or end its process ({handover.pid}); "
            "its runs continue with the new one.",
        )
    return handover


async def start(
    folder: Path, root: Path | str, idle: float | None = IDLE_SECONDS, more: Sequence[str] = ()
) -> Handover:
    """Start an engine in the background and wait until it answers. `more` are further options of `engine start`.
    Raises `EngineUnavailable`."""
    _reap()
    log, begin = _log(folder)
    argv = [sys.executable, "-P", "-m", "loop_ls", "engine", "start", "--foreground"]
    argv += ["--root", _whole(root), "--data-dir", str(folder)]
    argv += ["--idle-exit", str(idle)] if idle is not None else []
    argv += more
    child = await asyncio.to_thread(_spawn, argv, folder, log)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        gone = child.poll() is not None
        if handover := await living(folder):
            return handover
        if gone and child.returncode != TAKEN:
            raise _failed(folder, begin)
        await asyncio.sleep(LOOK_SECONDS)
    raise EngineUnavailable(
        f"The engine did not answer within {START_SECONDS:g} s.", f"See its log: {folder / LOG_NAME}."
    )


def _spawn(argv: list[str], folder: Path, log: int) -> subprocess.Popen[bytes]:
    """Detached: in its own session, with nothing of ours but the environment, where keys live."""
    flags: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        flags = {"creationflags": 0x00000008 | 0x00000200}  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
    try:
        child = subprocess.Popen(
            argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, **flags
        )
    except OSError as error:
        raise EngineUnavailable(f"The engine cannot be started: {error.strerror or error}.") from None
    finally:
        os.close(log)
    _started.append(child)
    return child


def _whole(root: Path | str) -> str:
    return str(Path(root).resolve())


def _reap() -> None:
    _started[:] = [child for child in _started if child.poll() is None]


def _log(folder: Path) -> tuple[int, int]:
    """The open log and where this start begins in it. A log that grew large begins anew."""
    try:
        claim(folder)
        path = folder / LOG_NAME
        fresh = os.O_TRUNC if path.exists() and path.stat().st_size > 4_000_000 else 0
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | fresh, 0o600)
        return handle, path.stat().st_size
    except OSError as error:
        raise EngineUnavailable(
            f"The data folder {folder} cannot be written: {error.strerror or error}.",
            "Choose another folder with the setting `engine.dataDir` or the variable LOOP_LS_DATA_DIR.",
        ) from None


def _failed(folder: Path, begin: int) -> EngineUnavailable:
    """The last words of the engine, which are one sentence, and maybe what to do."""
    try:
        said = (folder / LOG_NAME).read_bytes()[begin:].decode("utf-8", "replace").strip().splitlines()
    except OSError:
        said = []
    words = [line.removeprefix("loop-ls engine: ") for line in said if line.startswith("loop-ls engine: ")]
    if words:
        return EngineUnavailable(words[0], words[1] if len(words) > 1 else "")
    if _is_full(folder):  # then its last words could not be written either
        return EngineUnavailable(
            f"The engine cannot start: the disk of the data folder {folder} is full.",
            "Free some space, or choose another folder with the setting `engine.dataDir` or the variable "
            "LOOP_LS_DATA_DIR.",
        )
    last = said[-1] if said else "no output"
    return EngineUnavailable(f"The engine exited on startup: {last}.", f"See its log: {folder / LOG_NAME}.")


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < ROOM
    except OSError:
        return False


def _alive(pid: int) -> bool:
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError, OSError):
        return True
    return True


async def _health(handover: Handover) -> JsonObject | None:
    httpx = await asyncio.to_thread(import_module, "httpx")
    try:
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=2.0) as http:
            response = await http.get(f"{handover.url}/health")
            found = json.loads(response.content)
    except (httpx.HTTPError, ValueError):
        return None
    return found if isinstance(found, dict) else None
