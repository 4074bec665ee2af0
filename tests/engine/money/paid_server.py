"""A provider over HTTP that misbehaves on cue and keeps its own account: what it really charges.

Its prices are those of the settings that `settings` gives, and its tokens are counted by one rule: four
characters of text are one token. What it reports may say something else; the account says what is true.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

#: Dollars for a million tokens.
INPUT, OUTPUT = 1000.0, 1000.0
PRICE = {"input": INPUT, "output": OUTPUT}


def counted(text: str) -> int:
    return -(-len(text) // 4)


@dataclass
class Answer:
    """What goes over the wire, and what is charged for it. `hold`: the connection stays open and silent."""

    body: bytes
    sent: int = 0
    got: int = 0
    status: int = 200
    kind: str = "text/event-stream"
    hold: bool = False
    usd: float | None = None
    headers: str = ""

    @property
    def cost(self) -> float:
        return (INPUT * self.sent + OUTPUT * self.got) / 1e6 if self.usd is None else self.usd


@dataclass
class Account:
    """`answers` gives the next answer for a request; the last one stays."""

    answer: Callable[[dict[str, Any], int], Answer]
    charged: list[float] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    @property
    def total(self) -> float:
        return sum(self.charged)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length: ")[2].split("\r\n")[0])
            request = json.loads(await reader.readexactly(length))
            self.requests.append(request)
            found = self.answer(request, len(self.requests))
            self.charged.append(found.cost)
            first = f"HTTP/1.1 {found.status} X\r\ncontent-type: {found.kind}\r\nconnection: close\r\n"
            writer.write(f"{first}{found.headers}\r\n".encode() + found.body)
            await writer.drain()
            if found.hold:
                await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # whoever asked has left, or the test has ended
        finally:
            writer.close()


@asynccontextmanager
async def paid_server(answer: Callable[[dict[str, Any], int], Answer]) -> AsyncIterator[Account]:
    account = Account(answer)
    listening = await asyncio.start_server(account.serve, "127.0.0.1", 0)
    async with listening:
        account.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield account
        listening.close()


def prompt_of(request: dict[str, Any]) -> int:
    return counted("".join(str(message["content"]) for message in request["messages"]))


def events(*found: Any, done: bool = True) -> bytes:
    lines = [f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n" for each in found]
    return "".join(lines + ["data: [DONE]\n\n"] * done).encode()


def chunk(text: str | None, finish: str | None = None, **others: Any) -> dict[str, Any]:
    """A piece of an answer in the OpenAI dialect."""
    return {"choices": [{"delta": {"content": text, **others}, "finish_reason": finish}]}
