"""One engine as the server sees it: found or started when needed, listened to as long as it is there.

Importing the client's libraries takes long enough to be felt while typing, so a thread does it.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import secrets
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from loop_ls.contract.questions import Surface
from loop_ls.text.json_value import JsonObject, plain_object

if TYPE_CHECKING:
    from loop_ls.client.session import EngineClient

logger = logging.getLogger(__name__)

#: An engine answers or starts within this; afterwards the command says so.
LIMIT = 30.0
#: By what the engine knows this editor among others: nobody else can report the result of an edit.
_NAME = f"editor/{secrets.token_hex(16)}"
#: Seconds between two looks for an engine that somebody else started.
_LOOK_EVERY = 1.0
_TRIES = 20


class EngineAccess(Protocol):
    """How an engine is reached: `connect` starts one where there is none, `find` never does."""

    async def connect(self, root: Path, data_dir: str | None) -> EngineClient: ...
    async def find(self, root: Path, data_dir: str | None) -> EngineClient | None: ...

    async def handover(self, root: Path, data_dir: str | None) -> Path | None:
        """The file that an engine writes when it starts; None where there is nothing to look for."""
        ...

    async def recorded(self, root: Path, data_dir: str | None) -> bool:
        """Whether an engine may have recorded anything: nobody starts one to read an empty record."""
        ...


class LocalEngineAccess:
    """The real one."""

    async def connect(self, root: Path, data_dir: str | None) -> EngineClient:
        room = await _room()
        client = cast("EngineClient", await room.connect(root, data_dir))
        client.name = _NAME
        return client

    async def find(self, root: Path, data_dir: str | None) -> EngineClient | None:
        room = await _room()
        client = cast("EngineClient | None", await room.find(root, data_dir))
        if client is not None:
            client.name = _NAME
        return client

    async def handover(self, root: Path, data_dir: str | None) -> Path | None:
        place = await asyncio.to_thread(importlib.import_module, "loop_ls.client.engine_location")
        try:
            return cast(Path, place.data_folder(root, data_dir) / place.FILE_NAME)
        except place.EngineUnavailable:
            return None  # whoever wants the engine is told

    async def recorded(self, root: Path, data_dir: str | None) -> bool:
        place = await asyncio.to_thread(importlib.import_module, "loop_ls.client.engine_location")
        try:
            folder = place.data_folder(root, data_dir)
        except place.EngineUnavailable:
            return False
        return await asyncio.to_thread(lambda: folder.is_dir() and any(folder.iterdir()))


async def _room() -> Any:
    return await asyncio.to_thread(importlib.import_module, "loop_ls.client")


def _stamp(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


def refusal(error: BaseException) -> JsonObject:
    """What kept us from the engine, as a typed answer."""
    from loop_ls.client.engine_location import EngineUnavailable

    if isinstance(error, EngineUnavailable):
        return plain_object(error.answer())
    if isinstance(error, TimeoutError):
        message = f"The engine did not answer within {LIMIT:.0f} seconds."
        return {"ok": False, "code": "engine_not_ready", "message": message, "hint": "Try `loopLs.engine.restart`."}
    logger.error("The engine cannot be used", exc_info=error)
    message = f"The engine cannot be used: {error or type(error).__name__}."
    return {"ok": False, "code": "engine_not_ready", "message": message, "hint": "See the server log for details."}


class EngineLink:
    """The engine of one root. `listen` is run, with this link, for as long as there is a client."""

    def __init__(
        self,
        access: EngineAccess,
        root: Path,
        data_dir: str | None,
        listen: Callable[[EngineLink], Coroutine[object, None, None]],
        own: Callable[[Coroutine[object, None, None], str], asyncio.Task[None]],
        surface: Surface = "editor",
    ) -> None:
        self.root, self.data_dir = root, data_dir
        self._access, self._listen, self._own, self._surface = access, listen, own, surface
        self._lock, self._restarting, self._restarts = asyncio.Lock(), asyncio.Lock(), 0
        self.client: EngineClient | None = None
        self._starts = False
        self._listener: asyncio.Task[None] | None = None

    async def connect(self) -> EngineClient:
        """The client; an engine is started where there is none. One at a time (UP-37, UP-38)."""
        async with self._lock:
            if self.client is None or not self._starts:
                # A client that was only found would not start the engine again if it died.
                client = await asyncio.wait_for(self._access.connect(self.root, self.data_dir), LIMIT)
                await self.close()
                self._use(client, starts=True)
            assert self.client is not None
            return self.client

    async def find(self) -> EngineClient | None:
        """The client if an engine runs already."""
        async with self._lock:
            if self.client is None:
                found = await asyncio.wait_for(self._access.find(self.root, self.data_dir), LIMIT)
                if found is not None:
                    self._use(found, starts=False)
            return self.client

    async def restart(self) -> EngineClient:
        """End the engine, wait until it is gone, and start it. Unfinished runs go on.

        Whoever asks while that is under way gets the engine that comes of it (UP-38)."""
        before = self._restarts
        async with self._restarting:
            if self._restarts == before:
                client = await self.find()
                if client is not None:
                    await asyncio.wait_for(client.engine_stop(), LIMIT)
                    await self.close()
                    await asyncio.wait_for(self._until_gone(), LIMIT)
                self._restarts += 1
            return await self.connect()

    async def attach(self) -> None:
        """Find an engine as soon as somebody starts one (UP-73). Looks at the time of one file, no more."""
        place, seen, tries = await self._access.handover(self.root, self.data_dir), None, 0
        while place is not None and self.client is None:
            stamp = _stamp(place)
            if stamp != seen:
                seen, tries = stamp, _TRIES
            if stamp is not None and tries:
                tries -= 1  # it may say where it is before it answers; what a dead one left is given up
                try:
                    await self.find()
                except Exception as error:
                    logger.info("The engine of %s cannot be used: %s", self.root, error)
            await asyncio.sleep(_LOOK_EVERY)

    async def _until_gone(self) -> None:
        while (client := await self._access.find(self.root, self.data_dir)) is not None:
            await client.aclose()
            await asyncio.sleep(0.05)

    async def close(self) -> None:
        listener, self._listener = self._listener, None
        client, self.client = self.client, None
        if listener is not None:
            listener.cancel()
        if client is not None:
            await client.aclose()

    def _use(self, client: EngineClient, starts: bool) -> None:
        self.client, self._starts = client, starts
        client.name = client.name.replace("editor/", f"{self._surface}/", 1)
        self._listener = self._own(self._listen(self), f"events of {self.root}")
