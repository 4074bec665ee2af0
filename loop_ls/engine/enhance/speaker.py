"""Who speaks to an enhance loop: an editor that holds its file, or a person on any other surface.

An edit has arrived when the editor that took it shows the text, and only that editor can say so. Each editor has a
random name of its own process, which it sends along (`Loop-Ls-Client: editor/NAME`); the record keeps a hash of it.
After a reload the editor has another name: it counts as long as it listens to the engine.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from loop_ls.contract.questions import Surface, speaker_at, surface_of
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.events import RunState

HEADER = "loop-ls-client"
#: Seconds in which an editor that speaks has begun to listen.
ARRIVES_IN = 3.0
_EDITORS: tuple[Surface, ...] = ("editor", "vscode")


@dataclass(frozen=True, slots=True)
class Speaker:
    """`user` as runs keep it; `editor` is the hash of an editor's name, empty for whoever is none."""

    user: str | None = None
    surface: Surface = "http"
    editor: str = ""

    @staticmethod
    def of(user: str | None, header: str) -> Speaker:
        surface, name = surface_of(header), header.strip().partition("/")[2]
        editor = hashlib.sha256(name.encode()).hexdigest() if surface in _EDITORS and name else ""
        return Speaker(user, surface, editor)

    @property
    def told(self) -> str:
        who = speaker_at(self.surface)
        return who if self.user is None else f"{who} ({self.user})"


class Editors:
    """The editors that listen to this engine at the moment."""

    def __init__(self) -> None:
        self._there = Counter[tuple[str | None, str]]()
        self._came = asyncio.Event()

    @contextmanager
    def listening(self, speaker: Speaker) -> Iterator[None]:
        key = (speaker.user, speaker.editor)
        self._there[key] += 1
        self._came.set()
        try:
            yield
        finally:
            self._there[key] -= 1

    async def has(self, speaker: Speaker) -> bool:
        """One that was reloaded may speak before it listens: it gets a moment."""
        if not speaker.editor:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(ARRIVES_IN):
                while not self._listens(speaker):
                    self._came.clear()
                    await self._came.wait()
        return self._listens(speaker)

    def _listens(self, speaker: Speaker) -> bool:
        return self._there[speaker.user, speaker.editor] > 0


async def require_editor(speaker: Speaker, editors: Editors, state: RunState, holder: str, what: str) -> None:
    """Raises `Refused` for whoever cannot speak for the editor that holds the file. `holder` is the one that started
    the loop, empty where it did not say its name; `what` is what only that editor can do."""
    if speaker.user != state.user:
        raise Refused("forbidden", f"Run {state.run_id} belongs to another user; only their editor can {what}.")
    if holder and speaker.editor != holder and not await editors.has(speaker):
        raise Refused(
            "forbidden",
            f"Only the editor that has the file of run {state.run_id} open can {what}.",
            "Any client can answer a pause: `continue`, `skip` or `stop`, without a text.",
        )
