"""Which restore is under way, kept in a file beside the folder of its run: the branch is moved before that is recorded,
so an engine that dies in between has to know what it was at."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from loop_ls.engine.runs.isolation.put_in_place import FOLDER
from loop_ls.text.json_value import Json, as_object

_ENDING = ".restoring"


class Restoring(NamedTuple):
    """`loop`: where the person named one."""

    path: Path
    iteration: Json = None
    loop: Json = None

    @staticmethod
    def of(data: Path, run_id: str, iteration: Json = None, loop: Json = None) -> Restoring:
        return Restoring(data / FOLDER / f"{run_id}{_ENDING}", iteration, loop)

    @property
    def run_id(self) -> str:
        return self.path.name.removesuffix(_ENDING)

    def begin(self) -> None:
        self.path.parent.mkdir(0o700, parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"iteration": self.iteration, "loop": self.loop}), "utf-8")

    def forget(self) -> None:
        with suppress(OSError):
            self.path.unlink()


def restoring(data: Path) -> list[Restoring]:
    """Those that had begun when the engine died. One whose file cannot be read has not touched anything yet."""
    found = list[Restoring]()
    for path in sorted((data / FOLDER).glob(f"*{_ENDING}")):
        try:
            told = as_object(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError):
            Restoring(path).forget()
            continue
        found.append(Restoring(path, told.get("iteration"), told.get("loop")))
    return found
