"""The body of a response, unpacked a little at a time.

httpx unpacks each piece that comes as a whole, as often as the response says that it is packed: two kilobytes that are
packed twice fill the memory of the engine, and all of its runs end with it.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

#: What is asked for: what can be unpacked here, whatever else is installed.
ACCEPTED = "gzip, deflate"
#: Bytes that are unpacked at once.
PIECE = 64 * 1024
_KNOWN = frozenset({"gzip", "x-gzip", "deflate"})
#: zlib's own number for "with the head of gzip or of zlib, whichever there is", and for "with none".
_WITH_HEAD, _BARE = 47, -15


class Streamed(Protocol):
    """A response of httpx whose body is still to come."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_raw(self) -> AsyncIterator[bytes]: ...


class NotUnpacked(Exception):
    """Why the body cannot be read, as the end of a sentence."""


async def unpacked(response: Streamed) -> AsyncIterator[bytes]:
    """The pieces of the body of a streamed response. Raises `NotUnpacked`, and what httpx raises."""
    names = [name.strip().lower() for name in response.headers.get("content-encoding", "").split(",")]
    packed = [name for name in names if name not in ("", "identity")]
    if not packed:
        async for piece in response.aiter_raw():
            yield piece
        return
    if len(packed) > 1 or packed[0] not in _KNOWN:
        raise NotUnpacked(f"a body with the encoding `{', '.join(packed)[:80]}`")
    unpack = zlib.decompressobj(_WITH_HEAD)
    before = b"" if packed[0] == "deflate" else None  # what came before the first text: it may have no head
    async for rest in response.aiter_raw():
        while True:
            try:
                piece = unpack.decompress(rest, PIECE)
            except zlib.error as error:
                if before is None:
                    raise NotUnpacked(f"a body that cannot be decompressed ({error})") from None
                unpack, rest, before = zlib.decompressobj(_BARE), before + rest, None
                continue
            if before is not None:
                before = None if piece else before + rest
            rest = unpack.unconsumed_tail
            if piece:
                yield piece
            if not rest and len(piece) < PIECE:
                break
            await asyncio.sleep(0)  # a long way to the end of it is nobody else's wait
