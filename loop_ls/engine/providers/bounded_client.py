"""HTTP clients of other packages, which read no more of an answer into memory than ours.

Whatever package reads an answer unpacks it whole, and keeps a line until it ends. The hook for responses, which
`httpx` and `httpx2` have alike, is the one place before that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Protocol

from loop_ls.engine.providers.dialects.sse import EventReader, TooLong
from loop_ls.engine.providers.http import WHOLE_BODY_BYTES
from loop_ls.engine.providers.unpacking import ACCEPTED, NotUnpacked, unpacked

_PACKED = ("content-encoding", "content-length")


class Stream(Protocol):
    """The body of a response as it comes."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class Response(Protocol):
    headers: MutableMapping[str, str]
    stream: Stream


Hook = Callable[[Response], Awaitable[None]]


class Client(Protocol):
    """An `AsyncClient`."""

    headers: MutableMapping[str, str]
    event_hooks: Mapping[str, list[Hook]]


def bound(client: Client) -> None:
    """From now on, this client reads answers a little at a time, and none without an end."""
    client.headers["accept-encoding"] = ACCEPTED
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [*hooks.get("response", []), _bounded]}


def is_too_long(error: BaseException | None) -> bool:
    """Whether an answer without an end is what an error of another package is about."""
    seen = 0
    while error is not None and seen < 20:
        if isinstance(error, TooLong):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


@dataclass(frozen=True, slots=True)
class _Raw:
    headers: Mapping[str, str]
    stream: Stream

    def aiter_raw(self) -> AsyncIterator[bytes]:
        return self.stream.__aiter__()


async def _bounded(response: Response) -> None:
    raw = _Raw(dict(response.headers), response.stream)
    whole = "event-stream" not in raw.headers.get("content-type", "")
    # The library takes only streams of its own kind.
    own = next(kind for kind in type(raw.stream).__mro__ if kind.__name__ == "AsyncByteStream")
    made = type("BoundedStream", (own,), {"__aiter__": lambda _: _pieces(raw, whole), "aclose": lambda _: _close(raw)})
    response.stream = made()
    for name in _PACKED:
        if name in response.headers:
            del response.headers[name]


async def _close(raw: _Raw) -> None:
    await raw.stream.aclose()


async def _pieces(raw: _Raw, whole: bool) -> AsyncIterator[bytes]:
    """Raises `TooLong`."""
    events, length = EventReader(), 0
    try:
        async for piece in unpacked(raw):
            length += len(piece)
            if whole and length > WHOLE_BODY_BYTES:
                raise TooLong
            for _ in () if whole else events.feed(piece):
                pass
            yield piece
    except NotUnpacked as error:
        raise TooLong(str(error)) from error
