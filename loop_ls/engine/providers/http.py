"""One attempt of one call over HTTP: streaming, time limits, cut answers. Retrying is `retry`'s.

An answer counts only when the provider said that it is finished; everything else is `truncated`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from loop_ls.engine.capabilities.guard import require_endpoint
from loop_ls.engine.core.ports import LONGEST_ANSWER, ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.core.redaction import StreamMask, redact, unquoted
from loop_ls.engine.providers import failures
from loop_ls.engine.providers.attempt import Attempt
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialects.dialect import Call, Dialect, Heard, Reader, StreamError, Unaccepted, without_key
from loop_ls.engine.providers.dialects.sse import EventReader, TooLong
from loop_ls.engine.providers.keys import Keys
from loop_ls.engine.providers.stream_sanitizer import StreamSanitizer
from loop_ls.engine.providers.unpacking import ACCEPTED, NotUnpacked, unpacked
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
KEPT_CONNECTIONS = 16
#: Less than servers of models keep a quiet connection (5 s is usual): none closes one that is about to be used.
KEPT_SECONDS = 3.0
#: Silence in the middle of an answer that is longer than this means it will not go on.
IDLE_SECONDS = 60.0
#: After the last word only the end of the stream is awaited, so that the connection can be used again.
DRAIN_SECONDS = 0.5
ERROR_BODY_BYTES = 64 * 1024
WHOLE_BODY_BYTES = 32 * 1024 * 1024

Hear = Callable[[str], None]


class HttpModels:
    """Speaks one dialect to one provider. Keeps the connections, and what the models did not take."""

    def __init__(self, provider: Provider, dialect: Dialect, keys: Keys, key: str = "") -> None:
        self.provider, self._dialect, self._keys, self._key = provider, dialect, keys, key
        self._client: httpx.AsyncClient | None = None
        self._without: dict[str, frozenset[str]] = {}

    async def ask(self, request: ModelRequest, hear: Hear) -> ModelReply:
        key = await self._usable()
        total = request.timeout or self.provider.timeout
        try:
            async with asyncio.timeout(total):
                return await self._ask(request, hear, key)
        except TimeoutError:
            raise failures.too_slow(self.provider, request.model, "no complete answer", total) from None

    async def post(self, path: str, body: JsonObject, model: str, limit: float | None) -> JsonObject:
        """One question whose answer comes in one piece (`/embeddings`). Raises `ModelFailure`."""
        key, total = await self._usable(), limit or self.provider.timeout
        call = Call(f"{self.provider.socket_url}{path}", self._dialect.headers(self.provider, key), body)
        try:
            async with asyncio.timeout(total), self._answer(call, model, key) as response:
                return self._decode(await _some(unpacked(response), WHOLE_BODY_BYTES), model)
        except TimeoutError:
            raise failures.too_slow(self.provider, model, "no complete answer", total) from None

    async def _usable(self) -> str:
        """The key, where one is needed. Raises `ModelFailure` where the provider cannot be asked."""
        key = self._key or self._keys.at_hand(self.provider.key_env)
        if key is None:
            key = await asyncio.to_thread(self._keys.get, self.provider.key_env)
        if not self.provider.base_url:
            raise failures.missing_address(self.provider)
        if self.provider.key_env and not key:
            raise failures.missing_key(self.provider)
        if not (key.isascii() and key.isprintable()):
            raise failures.unsendable_key(self.provider)
        return key

    @asynccontextmanager
    async def _answer(self, call: Call, model: str, key: str) -> AsyncIterator[httpx.Response]:
        """The response to a call, once it says that it is one. Raises `ModelFailure`."""
        import httpx

        require_endpoint(self.provider.name, self.provider.written, self.provider.base_url)
        try:
            client = await self._open()
            async with client.stream("POST", call.url, headers=call.headers, json=call.body) as response:
                if response.status_code != 200:
                    body = await _some(unpacked(response), ERROR_BODY_BYTES)
                    raise failures.refused(self.provider, model, response.status_code, body, response.headers, key)
                yield response
        except httpx.TransportError as error:
            raise failures.unreachable(self.provider, self._why(error), model) from None
        except (httpx.InvalidURL, NotUnpacked) as error:
            raise failures.unreadable(self.provider, model, self._why(error)) from None

    async def _ask(self, request: ModelRequest, hear: Hear, key: str) -> ModelReply:
        """Again at once, without the parameter, when the model turns out not to take one."""
        while True:
            without = self._without.get(request.model, frozenset())
            call = self._dialect.call(self.provider, key, request, without)
            try:
                return await self._exchange(call, request, hear, key)
            except ModelFailure as failure:
                said = f"{failure.details.get('said', '')} {failure.details.get('type', '')}"
                name = Unaccepted().find(said, call.body) if failure.code == "bad_request" else None
                if name is None or name in without:
                    raise
                self._without[request.model] = without | {name}

    async def _exchange(self, call: Call, request: ModelRequest, hear: Hear, key: str) -> ModelReply:
        began, spoken, reader = time.perf_counter(), StreamSanitizer(), self._dialect.reader()
        mask = StreamMask(key)
        if isinstance(hear, Attempt):
            hear.heard, hear.taken = reader.heard, False

        def shown(text: str) -> None:
            if safe := mask.feed(text):
                hear(safe)

        first = self.provider.first_token
        try:
            async with asyncio.timeout(first) as silence, self._answer(call, request.model, key) as response:
                if isinstance(hear, Attempt):
                    hear.taken = True
                begun = partial(silence.reschedule, None)
                await self._read(response, reader, spoken, request, shown, begun)
        except TimeoutError:
            raise failures.too_slow(self.provider, request.model, "no first token", first or 0.0) from None
        except StreamError as error:
            failure = failures.refused(self.provider, request.model, error.status, error.body, secret=key)
            if reader.heard.begun:  # it is paid: whether it is worth paying again is the workflow's choice
                failure.details["final"] = True
                failure.message += f" {len(spoken.text())} characters of the answer were received."
            raise failure from None
        except ModelFailure as failure:
            text, finished = spoken.text(), bool(reader.heard.finish)
            if failure.code != "unreachable" or not (text or finished or reader.heard.begun):
                raise
            if not finished:
                raise self._cut(request, text, "the connection broke") from None
        if rest := mask.rest():
            hear(rest)
        heard = without_key(reader.heard, key)
        return self._reply(request, heard, unquoted(spoken.text(), key), time.perf_counter() - began)

    async def _read(
        self,
        response: httpx.Response,
        reader: Reader,
        spoken: StreamSanitizer,
        request: ModelRequest,
        hear: Hear,
        begun: Callable[[], None],
    ) -> None:
        if "event-stream" not in response.headers.get("content-type", ""):
            body = await _some(unpacked(response), WHOLE_BODY_BYTES)
            if shown := spoken.add(self._heard(reader.whole, body, request.model)):
                hear(shown)
            return
        events, chunks, limit = EventReader(), unpacked(response), None
        idle = self.provider.idle or IDLE_SECONDS
        try:
            while (chunk := await _next(chunks, limit)) is not None:
                for data in events.feed(chunk):
                    if data.strip() == b"[DONE]":
                        limit = DRAIN_SECONDS
                    elif shown := spoken.add(self._piece(reader, data, request.model)):
                        hear(shown)
                    if spoken.length + reader.heard.unseen_length > LONGEST_ANSWER:
                        raise failures.too_long(self.provider, request.model, spoken.length)
                if reader.heard.begun:
                    begun()
                limit = limit if limit == DRAIN_SECONDS else idle
        except TimeoutError:
            if not reader.heard.finish:
                why = f"nothing was received for {idle:g} s"
                raise self._cut(request, spoken.text(), why) from None
        except TooLong:
            raise failures.unreadable(self.provider, request.model, "one endless line") from None

    def _reply(self, request: ModelRequest, heard: Heard, text: str, duration: float) -> ModelReply:
        if heard.refused:
            raise failures.declined(self.provider, request.model, heard.refused, text)
        if not heard.finish:
            raise self._cut(request, text, "it ended before it was complete")
        if not text.strip() and not heard.calls:
            used_up = heard.finish == "length"
            raise failures.empty(self.provider, request.model, self._dialect.limit(request), used_up)
        if heard.calls and not request.tools:
            raise failures.not_offered(self.provider, request.model, [call.name for call in heard.calls])
        return ModelReply(
            text=text,
            provider=self.provider.name,
            model=request.model,
            usage=heard.usage,
            max_tokens=self._dialect.limit(request),
            duration=duration,
            response_id=heard.response_id,
            finish="tools" if heard.calls else "length" if heard.finish == "length" else "stop",
            calls=heard.calls,
            thoughts=heard.thoughts if heard.calls else "",
        )

    def _cut(self, request: ModelRequest, text: str, why: str) -> ModelFailure:
        return failures.cut(self.provider, request.model, len(text), why)

    def _piece(self, reader: Reader, data: bytes, model: str) -> str:
        """New text of a stream. What was reported before it is not what the whole answer took."""
        heard = reader.heard
        reports, unseen = heard.reports, len(heard.unseen)
        said = self._heard(reader.feed, data, model)
        if heard.reports > reports:
            heard.interim = False
        elif said or any(heard.unseen[unseen:]):
            heard.interim = True
        return said

    def _heard(self, read: Callable[[JsonObject], str], data: bytes, model: str) -> str:
        """New text. A reader that trips over what the provider sends is a fault of what was sent."""
        event = self._decode(data, model)
        try:
            return read(event)
        except (StreamError, ModelFailure):
            raise
        except Exception as error:
            raise failures.unreadable(
                self.provider, model, f"a chunk with an unexpected structure ({error!r})"
            ) from error

    def _decode(self, data: bytes, model: str) -> JsonObject:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise failures.unreadable(self.provider, model, "a chunk that is not valid JSON") from None
        if not isinstance(event, dict):
            raise failures.unreadable(self.provider, model, "a chunk that is not an object")
        return event

    def _why(self, error: Exception) -> str:
        """What the library says, which may quote the address as it was filled."""
        return redact(str(error).strip().rstrip("."), self.provider.filled_in) or type(error).__name__

    async def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            import httpx

            near = self.provider.on_this_machine
            timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
            # llama.cpp's server closes kept connections while the next question is on its way; on this machine a new
            # one costs nothing.
            kept = 0 if near else KEPT_CONNECTIONS
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=kept, keepalive_expiry=KEPT_SECONDS)
            # Loopback needs neither proxy nor certificates; elsewhere the environment says which.
            self._client = await asyncio.to_thread(
                lambda: httpx.AsyncClient(
                    headers={"accept-encoding": ACCEPTED},
                    timeout=timeout,
                    limits=limits,
                    trust_env=not near,
                    verify=not near,
                )
            )
        return self._client

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None


async def _next(chunks: AsyncIterator[bytes], limit: float | None) -> bytes | None:
    async with asyncio.timeout(limit):
        return await anext(chunks, None)


async def _some(chunks: AsyncIterator[bytes], most: int) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) >= most:
            break
    return bytes(body[:most])
