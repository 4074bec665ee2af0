"""A client that sends bytes and keeps every byte that comes back: for what a library would hide."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from loop_ls.server.rpc.framing import Frames, frame
from tests.processes.forked import Forked

Json = dict[str, Any]
SERVE = [sys.executable, "-m", "loop_ls", "serve"]
LIMIT = 60.0


class RawClient:
    """One server process. Everything waits with a limit; leaving the block ends the process. `fresh`: started by an
    interpreter of its own, whose memory and time it is."""

    def __init__(
        self, command: list[str] | None = None, env: dict[str, str] | None = None, fresh: bool = False
    ) -> None:
        self.process = (subprocess.Popen if fresh else Forked)(
            command or SERVE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            bufsize=0,
        )
        self.received: list[Json] = []
        #: Number of messages up to the last one that was waited for.
        self.heard = 0
        self.raw = bytearray()
        self.log = bytearray()
        self._news = threading.Condition()
        self._ended = False
        self._last_id = 0
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._read, self._read_log)]
        for thread in self._threads:
            thread.start()

    # -- sending ------------------------------------------------------------------------------

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: Any) -> None:
        """Several messages go out in one write."""
        self.send_bytes(b"".join(frame(json.dumps(message).encode()) for message in messages))

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any = None, limit: float = LIMIT) -> Json:
        """The whole answer, `result` or `error`."""
        self._last_id += 1
        key = self._last_id
        self.send({"jsonrpc": "2.0", "id": key, "method": method, "params": params})
        return self.answer(key, limit)

    def answer(self, key: Any, limit: float = LIMIT) -> Json:
        return self.wait(lambda m: "method" not in m and m.get("id") == key, limit)

    # -- waiting ------------------------------------------------------------------------------

    def wait(self, wanted: Callable[[Json], bool], limit: float = LIMIT, after: int = 0) -> Json:
        """The first message, from number `after` on, that is wanted."""
        until = time.monotonic() + limit
        at = after
        with self._news:
            while True:
                while at < len(self.received):
                    at += 1
                    if wanted(self.received[at - 1]):
                        self.heard = max(self.heard, at)
                        return self.received[at - 1]
                left = until - time.monotonic()
                if left <= 0 or self._ended:
                    raise AssertionError(f"nothing came; log:\n{self.log.decode(errors='replace')}")
                self._news.wait(left)

    def diagnostics(self, uri: str, version: int | None = None, limit: float = LIMIT) -> list[Json]:
        """What was published for a document, for this version of it."""

        def wanted(message: Json) -> bool:
            params = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and (version is None or params.get("version") == version)
            )

        found: list[Json] = self.wait(wanted, limit)["params"]["diagnostics"]
        return found

    def exit_status(self, limit: float = LIMIT) -> int:
        status = self.process.wait(limit)
        for thread in self._threads:
            thread.join(limit)
        return status

    # -- sessions -----------------------------------------------------------------------------

    def begin(self, capabilities: Json | None = None, folder: Path | None = None, options: Any = None) -> Json:
        params: Json = {"processId": os.getpid(), "capabilities": capabilities or {}, "rootUri": None}
        if folder is not None:
            params["workspaceFolders"] = [{"uri": folder.as_uri(), "name": folder.name}]
        if options is not None:
            params["initializationOptions"] = options
        result: Json = self.ask("initialize", params)["result"]
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, version: int = 1, language: str = "yaml") -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Json) -> None:
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
        )

    def end(self) -> int:
        self.ask("shutdown")
        self.notify("exit")
        return self.exit_status()

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(60)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        frames = Frames()
        while data := self.process.stdout.read(65536):
            with self._news:
                self.raw += data
                self.received += [json.loads(body) for body in frames.feed(data)]
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        while data := self.process.stderr.read(65536):
            self.log += data


def insert(line: int, character: int, text: str) -> Json:
    at = {"line": line, "character": character}
    return {"range": {"start": at, "end": at}, "text": text}
