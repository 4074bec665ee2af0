"""`tool_bound`: the number that a tool gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from loop_ls.text.json_value import Json

_NUMBER = re.compile(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.]\d)")


class Measure(Protocol):
    async def __call__(self, key: str, tool: str, arguments: Mapping[str, Json]) -> str:
        """What the tool answers, recorded under `key`. Raises `Failure`."""
        ...


def number_in(text: str) -> float | None:
    """The number that a text is or begins with (`42 tests passed`)."""
    found = _NUMBER.match(text)
    return None if found is None else float(found[1])
