"""The `loop.*` variables at each place of a loop's life.

Each loop starts with fresh ones; failed iterations leave no trace in last output and history.
Long histories are joined only when somebody reads them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

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
    outputs: tuple[str, ...]

    def get(self, name: str) -> str | None:
        match name:
            case "iteration":
                return str(self.number)
            case "last.output" | "output":
                return self.outputs[-1] if self.outputs else ""
            case "history":
                return joined(self.outputs)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class AfterIteration:
    """What `until` sees after iteration `number`, whose output stands last in `outputs`."""

    number: int
    outputs: tuple[str, ...]

    def get(self, name: str) -> str | None:
        match name:
            case "iteration":
                return str(self.number)
            case "output":
                return self.outputs[-1]
            case "last.output":
                return self.outputs[-2] if len(self.outputs) > 1 else ""
            case "history":
                return joined(self.outputs)
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
    """What `with` and the callee of an iterate loop see for one item; `succeeded` and `failed` so far."""

    index: int
    count: int
    item: Argument
    succeeded: int = 0
    failed: int = 0

    def get(self, name: str) -> str | None:
        match name:
            case "index":
                return str(self.index)
            case "count" | "total":
                return str(self.count)
            case "current" | "item":
                return item_text(self.item)
            case "stats.succeeded" | "succeeded":
                return str(self.succeeded)
            case "stats.failed" | "failed":
                return str(self.failed)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class AfterIterate:
    """What later steps see of a finished iterate loop."""

    output: str
    succeeded: int
    failed: int

    def get(self, name: str) -> str | None:
        match name:
            case "output":
                return self.output
            case "iterations":
                return str(self.succeeded + self.failed)
            case "succeeded":
                return str(self.succeeded)
            case "failed":
                return str(self.failed)
            case _:
                return None


def item_text(item: object) -> str:
    """An item as `{{item}}` and `loop.current`: text as it is, anything else as compact JSON."""
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, separators=(",", ":"))
