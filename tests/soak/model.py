"""A model server that speaks the OpenAI dialect, remembers what it was asked, and breaks on request.

Prompts say which call they are: `run 17 write 3`, and the judge's question holds the output that it judges.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

_CALL = re.compile(r"run (\w+) (write|review) (\d+)")


def _sound() -> str:
    return "fine"


class ModelServer:
    """`passes_in`: the iteration that the judge likes. `mood` says what becomes of a call: `fine`, `busy`
    (429), `broken` (500), `cut` (half a stream). `asked` counts calls that were answered whole."""

    def __init__(self, passes_in: int, seconds: float, mood: Callable[[], str] = _sound) -> None:
        self.passes_in, self.seconds, self.mood = passes_in, seconds, mood
        self.asked: Counter[str] = Counter()
        self.now = self.most = 0

    async def start(self, host: str = "127.0.0.1") -> None:
        self._server = await asyncio.start_server(self._serve, host, 0)
        self.url = f"http://{host}:{self._server.sockets[0].getsockname()[1]}/v1"

    def close(self) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                body = json.loads(await reader.readexactly(int(found[1]) if found else 0))
                self.now += 1
                self.most = max(self.most, self.now)
                try:
                    if not await self._answer(writer, body["messages"][-1]["content"]):
                        break
                finally:
                    self.now -= 1
        writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, prompt: str) -> bool:
        match self.mood():
            case "busy":
                writer.write(b"HTTP/1.1 429 Busy\r\nRetry-After: 0\r\nContent-Length: 2\r\n\r\n{}")
                return True
            case "broken":
                writer.write(b"HTTP/1.1 500 Broken\r\nContent-Length: 2\r\n\r\n{}")
                return True
            case "cut":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + _piece("half an"))
                return False
        name, text = self.answer(prompt)
        self.asked[name] += 1
        await asyncio.sleep(self.seconds)
        end = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
        whole = _piece(text) + end
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(whole) + whole
        )
        await writer.drain()
        return True

    def answer(self, prompt: str) -> tuple[str, str]:
        """-> which call it is, and the answer."""
        found = _CALL.search(prompt)
        assert found, prompt
        run, what, number = found.groups()
        if prompt.startswith("run "):
            return f"{run} {what} {number}", f"output of {prompt}"
        return f"{run} judge {number}", "YES" if int(number) >= self.passes_in else "NO"


def _piece(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"
