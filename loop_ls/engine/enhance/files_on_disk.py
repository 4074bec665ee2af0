"""The files that a loop runs, as they are on the disk: whoever changes one meanwhile has another workflow than the one
that was tried, and no round speaks for that.

In an editor the buffer is what runs, and the disk may be behind it: there a file has moved where it holds neither what
it held at the start nor a text of the loop. Without one it has moved where it does not hold what was tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Recorder
from loop_ls.engine.enhance.edit_target import same_workflow
from loop_ls.engine.enhance.plan.bundle import Bundle
from loop_ls.text.hash import text_hash

_KEY = ":enhance:files"


@dataclass(frozen=True)
class FilesOnDisk:
    """`texts` are those that the loop was started with, by path below `root`. `edits`: the engine writes the file
    itself, so nobody else has a text of it."""

    root: Path
    texts: Mapping[str, str]
    bundle: Bundle
    recorder: Recorder
    edits: bool

    async def at_start(self) -> dict[str, str]:
        """The SHA-256 of what is there, recorded once."""

        async def work() -> dict[str, str]:
            found = await asyncio.to_thread(self._read)
            return {path: text_hash(text) for path, text in found.items()}

        return cast("dict[str, str]", await self.recorder.call(_KEY, work))

    async def moved(self, place: Place, tried: str, known: Iterable[str]) -> Sequence[str]:
        """The files that are not what was `tried`; `known` are all texts of the loop."""
        before = await self.at_start()
        mine = [self.bundle.apart(one) for one in known]

        async def work() -> list[str]:
            now = await asyncio.to_thread(self._read)
            return [path for path in before if self._has_moved(path, now.get(path), before[path], tried, mine)]

        key = place.part(f"moved:{self.recorder.run_id}")  # what a fork takes over says nothing of the files of now
        return cast("list[str]", await self.recorder.call(key, work))

    def _has_moved(
        self, path: str, now: str | None, before: str, tried: str, known: Sequence[Mapping[str, str]]
    ) -> bool:
        if now is None:
            return True
        apart = self.bundle.apart(tried)
        if path not in apart:
            return text_hash(now) != before and now != self.texts[path]
        if now == apart[path] or same_workflow(now, apart[path]):
            return False
        return self.edits or (text_hash(now) != before and all(now != one[path] for one in known))

    def _read(self) -> dict[str, str]:
        found = dict[str, str]()
        for path in {*self.texts, *self.bundle.paths}:
            try:
                with (self.root / path).open("r", encoding="utf-8", newline="") as file:
                    found[path] = file.read()
            except (OSError, ValueError):
                continue
        return found


def told_of(moved: Sequence[str]) -> str:
    """A sentence about files that are another text than the one that was tried."""
    names = " and ".join(f"`{path}`" for path in sorted(moved))
    have = "was" if len(moved) == 1 else "were"
    return (
        f"{names} {have} changed while the loop ran, so the text that was tried is not in the file. Start the loop "
        "again to try the current text."
    )
