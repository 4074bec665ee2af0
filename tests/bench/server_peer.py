"""yaml-language-server on the same file: installed from npm, pinned, into a cache folder of this bench's own.

It is told our schema for the file, as a user of it would. Its diagnostics carry no version and come 200 ms
after the last key; both are part of what its users wait for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.server_process import Json, TimedServer

PEER = "yaml-language-server"
VERSION = "2.0.0"
SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "workflow.schema.json"


def installed(cache: Path | None = None) -> Path | None:
    """The entry of the peer; None, with a reason on the screen, where it cannot be installed."""
    base = cache or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "loop-ls-bench")
    folder = base / f"{PEER}-{VERSION}"
    entry = folder / "node_modules" / PEER / "bin" / PEER
    if entry.exists():
        return entry
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        print(f"{PEER} is not measured: there is no node and npm")
        return None
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"{PEER}@{VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if not entry.exists():
        print(f"{PEER} is not measured: npm says {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
        return None
    return entry


class Peer(TimedServer):
    """Answers what the peer asks, so that it knows the schema."""

    def __init__(self, entry: Path) -> None:
        node = os.environ.get("LOOP_LS_NODE") or shutil.which("node") or "node"
        super().__init__([node, str(entry), "--stdio"], dict(os.environ))
        schemas = {SCHEMA.as_uri(): "*.yaml"} if SCHEMA.exists() else {}
        self._settings: Json = {"schemas": schemas, "validate": True, "completion": True, "hover": True}

    def answered(self, message: Json) -> object:
        if message["method"] != "workspace/configuration":
            return None
        wanted = [item.get("section") for item in message["params"]["items"]]
        return [self._settings if section == "yaml" else {} for section in wanted]

    def until_diagnostics(self, uri: str, version: int) -> float:
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return time.perf_counter()

    def begin(self, folder: Path | None = None) -> float:
        at = super().begin(folder)
        self.send({"method": "workspace/didChangeConfiguration", "params": {"settings": {"yaml": self._settings}}})
        return at


@contextmanager
def peer(entry: Path) -> Iterator[Peer]:
    one = Peer(entry)
    try:
        yield one
    finally:
        one.end()


def schema_is_used() -> bool:
    return SCHEMA.exists() and "$schema" in json.loads(SCHEMA.read_text())
