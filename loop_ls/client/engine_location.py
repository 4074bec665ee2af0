"""Where an engine lives: its data folder, and the hand-over file in it that says how to reach it.

The engine writes the file (`engine.process.instance_lock`) and holds the lock; this side only reads.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

#: Version of the HTTP interface. Both sides compare; they must be equal.
PROTOCOL = 1
FILE_NAME = "engine.json"
LOG_NAME = "engine.log"
#: The token of whoever is not the owner, and where the engine answers, for those who may not read its folder.
TOKEN_VARIABLE, ENGINE_VARIABLE = "LOOP_LS_TOKEN", "LOOP_LS_ENGINE"
HERE = ("127.0.0.1", "localhost", "::1")


class EngineUnavailable(Exception):
    """No engine can be reached or started. Says why in one sentence, and what to do."""

    def __init__(self, message: str, hint: str = "", code: str = "engine_not_ready") -> None:
        super().__init__(message)
        self.message, self.hint, self.code = message, hint, code

    def answer(self) -> dict[str, object]:
        """As a typed answer of a command."""
        return {"ok": False, "code": self.code, "message": self.message, "hint": self.hint}


@dataclass(frozen=True, slots=True)
class Handover:
    """What a running engine says about itself."""

    port: int
    token: str
    pid: int
    version: str
    protocol: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def shown_token(self) -> str:
        """Whose name is on what we ask: that of the person whose token is set, else the owner's."""
        return os.environ.get(TOKEN_VARIABLE) or self.token

    @property
    def fingerprint(self) -> str:
        """What `/health` shows: proves that the answering program knows the token without saying it."""
        return hashlib.sha256(self.token.encode()).hexdigest()[:16]


def data_folder(root: Path | str, setting: str | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """The setting (relative to the root), else LOOP_LS_DATA_DIR, else one folder per root in the user's state."""
    env = os.environ if environ is None else environ
    root = Path(root).resolve()
    if setting:
        return (root / Path(setting).expanduser()).resolve()
    if named := env.get("LOOP_LS_DATA_DIR"):
        return Path(named).expanduser().resolve()
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", root.name).strip("-.") or "root"
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return _state_home(env) / "loop-ls" / f"{label[:40]}-{digest}"


def _state_home(env: Mapping[str, str]) -> Path:
    if named := env.get("XDG_STATE_HOME"):
        return Path(named)
    home = Path(env.get("HOME") or Path.home())
    match sys.platform:
        case "win32":
            return Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
        case "darwin":
            return home / "Library" / "Application Support"
        case _:
            return home / ".local" / "state"


def named_engine(environ: Mapping[str, str] | None = None) -> int | None:
    """The port of the engine that the environment names; None: it names none. Raises `EngineUnavailable`."""
    env = os.environ if environ is None else environ
    named = env.get(ENGINE_VARIABLE)
    if not named:
        return None
    hint = f"Write {ENGINE_VARIABLE}=127.0.0.1:PORT, and the token that you were given into {TOKEN_VARIABLE}."
    try:
        parts = urlsplit(named if "://" in named else f"http://{named}")
        port = parts.port
    except ValueError:
        port, parts = None, urlsplit("")
    if port is None or parts.scheme != "http" or parts.hostname not in HERE:
        raise EngineUnavailable(f"{ENGINE_VARIABLE} names no engine of this machine: {named}.", hint, "bad_argument")
    if not env.get(TOKEN_VARIABLE):
        raise EngineUnavailable(f"{ENGINE_VARIABLE} is set, and {TOKEN_VARIABLE} is not.", hint, "bad_argument")
    return port


def read_handover(folder: Path) -> Handover | None:
    """None where no engine said anything readable. Whether it still lives is asked of `/health`."""
    try:
        found = json.loads((folder / FILE_NAME).read_text("utf-8"))
        return Handover(
            port=int(found["port"]),
            token=str(found["token"]),
            pid=int(found["pid"]),
            version=str(found["version"]),
            protocol=int(found["protocol"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
