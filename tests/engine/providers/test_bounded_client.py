"""What other packages read over HTTP is as bounded as what we read: their clients, with a server that has no end."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from pydantic_ai.exceptions import ModelConnectionError
from pydantic_ai.models import Model
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.providers import Provider

from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.bounded_client import bound, is_too_long
from loop_ls.engine.providers.dialects.sse import TooLong
from tests.engine.providers.conftest import Asked

LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
SSE, JSON = "text/event-stream", "application/json"
MB = 1 << 20


@asynccontextmanager
async def serving(kind: str, *pieces: bytes, times: int = 1, packed: str = "") -> AsyncIterator[str]:
    """A server that answers everything with these pieces, so often."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            more = f"content-encoding: {packed}\r\n" if packed else ""
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{more}connection: close\r\n\r\n".encode())
            for _ in range(times):
                for piece in pieces:
                    writer.write(piece)
                await writer.drain()
        except OSError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


def packed(text: bytes) -> bytes:
    return gzip.compress(text, 1)  # quickly: each worker does it while it collects the tests


@LIBRARIES
@pytest.mark.parametrize(
    ("kind", "piece", "times", "packing"),
    [
        (SSE, b"x" * MB, 64, ""),
        (SSE, b"data: " + b"x" * MB + b"\n", 64, ""),
        (JSON, b" " * MB, 64, ""),
        (JSON, packed(b" " * 64 * MB), 1, "gzip"),
        (SSE, packed((b"data: " + b"x" * 1000 + b"\n") * 64_000), 1, "gzip"),
        (SSE, zlib.compress(b"x" * 64 * MB, 1), 1, "deflate"),
        (JSON, packed(packed(b" " * 64 * MB)), 1, "gzip, gzip"),
    ],
    ids=["line", "event", "body", "packed body", "packed event", "packed line", "packed twice"],
)
async def test_an_answer_without_end_is_left_before_it_fills_the_memory(
    library: Any, kind: str, piece: bytes, times: int, packing: str
) -> None:
    async with (
        serving(kind, piece, times=times, packed=packing) as url,
        library.AsyncClient(trust_env=False, verify=False) as client,
    ):
        bound(client)
        tracemalloc.start()
        try:
            with pytest.raises(TooLong):
                await client.get(url)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < 100 * MB  # httpx keeps what it has read of a body, and joins it


@LIBRARIES
@pytest.mark.parametrize("packing", ["", "gzip", "deflate"])
async def test_what_has_an_end_is_read_as_before(library: Any, packing: str) -> None:
    text = b"data: {}\n\n" * 30_000
    sent = {"": text, "gzip": packed(text), "deflate": zlib.compress(text)}[packing]
    async with serving(SSE, sent, packed=packing) as url, library.AsyncClient(trust_env=False, verify=False) as client:
        bound(client)
        assert (await client.get(url)).content == text
        async with client.stream("GET", url) as response:
            assert b"".join([piece async for piece in response.aiter_bytes()]) == text
        assert sum([1 async for _ in _lines(client, url)]) == 60_000


async def _lines(client: Any, url: str) -> AsyncIterator[str]:
    async with client.stream("GET", url) as response:
        async for line in response.aiter_lines():
            yield line


class Owner(Provider[None]):
    """A provider that has made a client of its own, as those of services do."""

    name, base_url, client = "owner", "", None

    def __init__(self, client: Any) -> None:
        self._own_http_client = client


class Owned(FunctionModel):
    @property
    def provider(self) -> Any:
        return self._provider


async def test_the_client_of_a_model_is_bounded_and_its_failure_is_a_cut_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = httpx2.AsyncClient(trust_env=False, verify=False)

    async with serving(SSE, b"x" * MB, times=50) as url:

        async def speak(messages: list[Any], info: Any) -> AsyncIterator[str]:
            try:
                await client.get(url)
            except Exception as error:
                raise ModelConnectionError("m", "broken") from error
            yield "never"

        def infer(name: str | Model) -> Model:
            if isinstance(name, Model):
                return name
            made = Owned(stream_function=speak)
            made._provider = Owner(client)
            return made

        monkeypatch.setattr("pydantic_ai.models.infer_model", infer)
        ask = Asked(Providers({}).models({"bedrock": {"kind": "pydantic-ai"}}))
        with pytest.raises(ModelFailure, match="it is longer than") as caught:
            await ask("bedrock", attempts=1)
        assert caught.value.code == "truncated"
    await client.aclose()


def test_an_error_that_goes_round_in_circles_is_looked_at_once() -> None:
    one, other = ValueError(), ValueError()
    one.__cause__, other.__cause__ = other, one
    assert not is_too_long(one)
    other.__cause__ = TooLong()
    assert is_too_long(one)
