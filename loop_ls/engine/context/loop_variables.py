"""The `loop.*` variables at each place of a loop's life.

Each loop starts with fresh ones; failed iterations leave no trace in last output and history.
Long histories are joined only when somebody reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loop_ls.engine.core.loop_driver import Outputs
from loop_ls.formats.workflow.model import Argument

#: What stands between outputs in `loop.history` and in an `accumulate` variable (D01).
SEPARATOR = "---"


def joined(outputs: Sequence[str]) -> str:
    """All outputs with the separator between them and nothing trimmed."""
    return SEPARATOR.join(outputs)


@dataclass(frozen=True, slots=True)
class BeforeIteration:
    """What `with` of iteration `number` sees, and the callee with it: no current output exists yet."""

    number: int
    outputs: Outputs

    def get(self, name: str) -> str | None:
        match name:
            case "iteration":
                return str(self.number)
            case "last.output" | "output":
                return self.outputs.last()
            case "history":
                return joined(self.outputs.all())
            case _:
                return None


@dataclass(frozen=True, slots=True)
class AfterIteration:
    """What `until` sees after iteration `number`, whose output stands last in `outputs`."""

    number: int
    outputs: Outputs

    def get(self, name: str) -> str | None:
        match name:
            case "iteration":
                return str(self.number)
            case "output":
                return self.outputs.last()
            case "last.output":
                return self.outputs.last(2)
            case "history":
                return joined(self.outputs.all())
            case _:
                return None


@dataclass(frozen=True, slots=True)
class AfterRefine:
    """What later steps see of a finished refine loop: the number of iterations that were run (D14)."""

    iterations: int
    output: str

    def get(self, name: str) -> str | None:
        match name:
            case "iteration":
                return str(self.iterations)
            case "output":
                return self.output
            case _:
                return None


@dataclass(frozen=True, slots=True)
class DuringItem:
    """What `with` and the callee of an iterate loop see for one item; `so_far` tells how many before it have
    succeeded and failed."""

    index: int
    count: int
    item: Argument
    so_far: Callable[[], tuple[int, int]] = lambda: (0, 0)

    def get(self, name: str) -> str | None:
        match name:
            case "index":
                return str(self.index)
            case "count" | "total":
                return str(self.count)
            case "current" | "item":
                return item_text(self.item)
            case "stats.succeeded" | "succeeded":
                return str(self.so_far()[0])
            case "stats.failed" | "failed":
                return str(self.so_far()[1])
            case _:
                return None


@dataclass(frozen=True, slots=True)
class AfterIterate:
    """What later steps see of a finished iterate loop."""

    outputs: Outputs
    total: int

    def get(self, name: str) -> str | None:
        match name:
            case "output":
                return self.outputs.last()
            case "iterations":
                return str(self.total)
            case "succeeded":
                return str(len(self.outputs.all()))
            case "failed":
                return str(self.total - len(self.outputs.all()))
            case _:
                return None


def item_text(item: object) -> str:
    """An item as `{{item}}` and `loop.current`: text as it is, anything else as compact JSON."""
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, separators=(",", ":"))
