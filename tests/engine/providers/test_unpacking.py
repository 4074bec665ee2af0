"""Bodies that are packed: read whole, and never more of them at once than is asked for."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.unpacking import PIECE, NotUnpacked, unpacked
from tests.engine.money.paid_server import Answer, chunk, events, paid_server

TEXT = b"".join(b"line %d of a page\n" % number for number in range(20_000))


class Wire(httpx.AsyncByteStream):
    """What comes over the wire, in pieces of some size."""

    def __init__(self, body: bytes, size: int) -> None:
        self._pieces = [body[at : at + size] for at in range(0, len(body), size)]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def bare(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-15)
    return packing.compress(data) + packing.flush()


def response(body: bytes, encoding: str = "", size: int = 1000) -> httpx.Response:
    headers = {"content-encoding": encoding} if encoding else {}
    return httpx.Response(200, headers=headers, stream=Wire(body, size))


async def pieces(answer: httpx.Response) -> list[bytes]:
    return [piece async for piece in unpacked(answer)]


def bomb(times: int) -> bytes:
    """A hundred thousand bytes of nothing, packed so often."""
    body = b"\0" * 100_000
    for _ in range(times):
        body = gzip.compress(body, mtime=0)
    return body


@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 20])
@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("", TEXT[:5000]),
        ("identity", TEXT[:5000]),
        ("gzip", gzip.compress(TEXT[:5000])),
        ("x-gzip, identity", gzip.compress(TEXT[:5000])),
        ("deflate", zlib.compress(TEXT[:5000])),
        ("Deflate", bare(TEXT[:5000])),
    ],
)
async def test_every_encoding_that_is_asked_for_is_read(encoding: str, body: bytes, size: int) -> None:
    assert b"".join(await pieces(response(body, encoding, size))) == TEXT[:5000]


async def test_a_little_on_the_wire_is_never_much_in_memory() -> None:
    found = await pieces(response(gzip.compress(b"\0" * 50_000_000), "gzip", 1 << 20))
    assert sum(map(len, found)) == 50_000_000
    assert max(map(len, found)) <= PIECE


async def test_what_fills_the_last_piece_exactly_is_all_there() -> None:
    for length in (PIECE - 1, PIECE, PIECE + 1, 3 * PIECE):
        found = await pieces(response(gzip.compress(b"x" * length), "gzip", 1 << 20))
        assert sum(map(len, found)) == length


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip, gzip", bomb(2)),
        ("gzip,deflate,gzip", bomb(1)),
        ("br", b"whatever"),
        ("zstd", b"whatever"),
        ("gzip", b"no gzip at all"),
        ("gzip", gzip.compress(TEXT)[:100] + b"broken" * 100),
        ("deflate", b"\xff" * 40),
    ],
)
async def test_what_cannot_be_read_a_little_at_a_time_is_not_read(encoding: str, body: bytes) -> None:
    with pytest.raises(NotUnpacked):
        await pieces(response(body, encoding))


async def asked(answer: Answer) -> ModelReply:
    async with paid_server(lambda request, number: answer) as account:
        house = Providers({})
        settings = {"house": {"kind": "openai", "baseUrl": f"{account.url}/v1"}}
        try:
            return await house.models(settings).ask(ModelRequest("house", "m", "Say it.", attempts=1))
        finally:
            await house.aclose()


def packed_answers() -> Iterator[Answer]:
    stream = events(chunk("packed "), chunk("text"), chunk(None, "stop"))
    yield Answer(gzip.compress(stream), headers="content-encoding: gzip\r\n")
    yield Answer(zlib.compress(stream), headers="content-encoding: deflate\r\n")


@pytest.mark.parametrize("answer", list(packed_answers()))
async def test_an_answer_that_is_packed_is_heard(answer: Answer) -> None:
    assert (await asked(answer)).text == "packed text"


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_an_answer_that_is_packed_twice_is_a_failure_of_the_provider(status: int, kind: str) -> None:
    with pytest.raises(ModelFailure) as failure:
        await asked(Answer(bomb(2), status=status, kind=kind, headers="content-encoding: gzip, gzip\r\n"))
    assert "the encoding `gzip, gzip`" in failure.value.message
