"""Where an engine lives: its data folder, and the hand-over file in it that says how to reach it.

The engine writes the file (`engine.process.instance_lock`) and holds the lock; this side only reads.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from loop_ls.client.refusal import refusal
from loop_ls.contract.key_file import made_key

if TYPE_CHECKING:
    from loop_ls.contract.answers import Refusal

#: Version of the HTTP interface. Both sides compare; they must be equal.
PROTOCOL = 1
FILE_NAME, MARK_NAME = "engine.json", "made-here"
LOG_NAME = "engine.log"
#: The token of whoever is not the owner, and where the engine answers, for those who may not read its folder.
TOKEN_VARIABLE, ENGINE_VARIABLE = "LOOP_LS_TOKEN", "LOOP_LS_ENGINE"
HERE = ("127.0.0.1", "localhost", "::1")


class EngineUnavailable(Exception):
    """No engine can be reached or started. Says why in one sentence, and what to do."""

    def __init__(self, message: str, hint: str = "", code: str = "engine_not_ready") -> None:
        super().__init__(message)
        self.message, self.hint, self.code = message, hint, code

    def answer(self) -> Refusal:
        """As a typed answer of a command."""
        return refusal(self.code, self.message, self.hint)


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


def speaks_as_owner(environ: Mapping[str, str] | None = None) -> bool:
    """Whether what we ask is asked by the owner of the data folder: no token of another person is set."""
    return not (os.environ if environ is None else environ).get(TOKEN_VARIABLE)


def data_folder(root: Path | str, setting: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """The setting (relative to the root), else LOOP_LS_DATA_DIR, else one folder per root in the user's state. A
    `Path` is what a person named, and taken as it is. Raises `EngineUnavailable` for a folder of the settings that
    somebody else has filled: what lies in it goes on by itself, and says what was agreed to."""
    env = os.environ if environ is None else environ
    root = Path(root).resolve()
    if isinstance(setting, Path):
        return setting.resolve()
    if setting:
        return _ours((root / Path(setting).expanduser()).resolve(), root, env)
    if named := env.get("LOOP_LS_DATA_DIR"):
        return Path(named).expanduser().resolve()
    return _usual(root, env)


def _usual(root: Path, env: Mapping[str, str]) -> Path:
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", root.name).strip("-.") or "root"
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return _state_home(env) / "loop-ls" / f"{label[:40]}-{digest}"


def claim(folder: Path, environ: Mapping[str, str] | None = None) -> None:
    """Make a data folder, with a mark that no other machine can write: whoever finds it filled knows that it is
    ours."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        with suppress(OSError):  # a home that nobody may write into; only a folder of the settings needs the mark
            (folder / MARK_NAME).write_text(_mark(folder, os.environ if environ is None else environ), "ascii")


def _ours(folder: Path, root: Path, env: Mapping[str, str]) -> Path:
    """Raises `EngineUnavailable`. What is kept for other projects is not this one's, to go on with or to forget.
    Whatever cannot be looked at, or is no plain mark, is not ours: a repository chooses what lies there, a folder in
    the place of the mark as well."""
    usual = _usual(root, env).resolve()
    if folder.is_relative_to(usual.parent) and folder != usual:
        told = f"The data folder {folder} in `engine.dataDir` is the parent folder of other projects' data."
        raise EngineUnavailable(told, "Choose one inside the project, or remove the setting.")
    try:
        if not folder.exists() or not _is_filled(folder) or _is_marked(folder, env):
            return folder
    except OSError:
        pass
    raise EngineUnavailable(
        f"The data folder {folder} in `engine.dataDir` was not created by loop-ls on this machine.",
        "Remove it or choose another one; `--data-dir` or LOOP_LS_DATA_DIR accepts it as is.",
    )


def _is_filled(folder: Path) -> bool:
    """A mark alone may be one that another process is writing."""
    return any(one.name != MARK_NAME for one in folder.iterdir())


def _is_marked(folder: Path, env: Mapping[str, str]) -> bool:
    """Raises `OSError`."""
    mark = folder / MARK_NAME
    written = mark.read_bytes() if mark.is_file() else b""
    return hmac.compare_digest(written.strip(), _mark(folder, env).encode())


def _mark(folder: Path, env: Mapping[str, str]) -> str:
    key = made_key(_state_home(env) / "loop-ls" / "folders.key")
    return hmac.new(key.encode(), os.fsencode(folder), hashlib.sha256).hexdigest()


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
    hint = f"Set {ENGINE_VARIABLE}=127.0.0.1:PORT, and {TOKEN_VARIABLE} to the token that you were given."
    try:
        parts = urlsplit(named if "://" in named else f"http://{named}")
        port = parts.port
    except ValueError:
        port, parts = None, urlsplit("")
    if port is None or parts.scheme != "http" or parts.hostname not in HERE:
        raise EngineUnavailable(
            f"{ENGINE_VARIABLE} is not the address of an engine on this machine: {named}.", hint, "bad_argument"
        )
    if not env.get(TOKEN_VARIABLE):
        raise EngineUnavailable(f"{ENGINE_VARIABLE} is set, but {TOKEN_VARIABLE} is not.", hint, "bad_argument")
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
