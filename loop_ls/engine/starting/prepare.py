"""The port through which the engine prepares a start, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from loop_ls.engine.events.kinds import RunStarted
from loop_ls.engine.plan import Door, Plan
from loop_ls.engine.request import StartRequest


@dataclass(frozen=True, slots=True)
class Prepared:
    """The first fact of a run, and the texts it names, by hash."""

    started: RunStarted
    texts: Mapping[str, str] = field(default_factory=dict)


class Preparer(Protocol):
    async def prepare(self, request: StartRequest, models: Callable[[Plan], Door]) -> Prepared:
        """Raises `Refused`: the file has errors, something is missing, nobody agreed, ..."""
        ...
