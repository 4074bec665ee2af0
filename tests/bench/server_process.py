"""One language server under a stop watch: blocking, without threads, so that only the server is measured."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import deque
from pathlib import Path
from typing import Any

from loop_ls.server.rpc.framing import Frames, frame

Json = dict[str, Any]
CAPABILITIES: Json = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "completion": {"completionItem": {"snippetSupport": True, "resolveSupport": {"properties": ["documentation"]}}},
        "hover": {"contentFormat": ["markdown"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
    "window": {"workDoneProgress": True},
}


class TimedServer:
    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.spawned = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()
        self._frames, self._ready = Frames(), deque[bytes]()
        self._id = 0

    def send(self, *messages: Json) -> None:
        data = b"".join(frame(json.dumps({"jsonrpc": "2.0", **m}).encode()) for m in messages)
        view = memoryview(data)
        while view:
            view = view[os.write(self._in, view) :]

    def receive(self) -> Json:
        """The next message; requests of the server are answered."""
        while not self._ready:
            data = os.read(self._out, 1 << 18)
            if not data:
                raise EOFError("the server ended")
            self._ready.extend(self._frames.feed(data))
        message: Json = json.loads(self._ready.popleft())
        if "method" in message and "id" in message:
            self.send({"id": message["id"], "result": self.answered(message)})
        return message

    def answered(self, message: Json) -> object:
        """What a request of the server gets: nothing is known here."""
        return None

    def until_diagnostics(self, uri: str, version: int) -> float:
        """The moment in which the diagnostics of this version are here."""
        while True:
            message = self.receive()
            params = message.get("params") or {}
            if (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and params.get("version") == version
            ):
                return time.perf_counter()

    def until_answer(self, key: int) -> float:
        self.until_message(key)
        return time.perf_counter()

    def until_message(self, key: int) -> Json:
        while True:
            message = self.receive()
            if message.get("id") == key and "method" not in message:
                assert "error" not in message, message
                return message

    def until_progress_ends(self, token: str) -> float:
        while True:
            message = self.receive()
            params = message.get("params") or {}
            if message.get("method") == "$/progress" and params["token"] == token and params["value"]["kind"] == "end":
                return time.perf_counter()

    def next_id(self) -> int:
        self._id += 1
        return self._id

    def begin(self, folder: Path | None = None, more: Json | None = None) -> float:
        """Start the session; `more` are capabilities of text documents beside the usual ones."""
        text = {**CAPABILITIES["textDocument"], **(more or {})}
        params: Json = {"processId": None, "rootUri": None, "capabilities": {**CAPABILITIES, "textDocument": text}}
        if folder is not None:
            params["workspaceFolders"] = [{"uri": folder.as_uri(), "name": "bench"}]
        key = self.next_id()
        self.send({"id": key, "method": "initialize", "params": params})
        at = self.until_answer(key)
        self.send({"method": "initialized", "params": {}})
        return at

    def open(self, uri: str, text: str) -> None:
        item = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": item}})

    # -- what it costs ------------------------------------------------------------------------

    def cpu(self) -> float:
        """Milliseconds on a processor, all threads."""
        total = 0
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except OSError:
                continue
        return total / 1e6

    def until_quiet(self, seconds: float = 0.5, limit: float = 60.0) -> None:
        """Wait until it does what it does when nobody waits, and has done it."""
        time.sleep(seconds)
        until = time.perf_counter() + limit
        before = self.cpu()
        while time.perf_counter() < until:
            time.sleep(seconds)
            now = self.cpu()
            if now - before < 5:
                return
            before = now

    def peak(self) -> float:
        """MB of memory at most."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
