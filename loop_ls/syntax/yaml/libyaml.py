"""libyaml's events through PyYAML; its pure Python twin where the compiled part is missing (16 times slower)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # pragma: no cover - depends on the platform's wheel
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]


class Events(Protocol):
    def get_event(self) -> Any: ...


class Feed:
    """Lines as the stream that libyaml reads block by block, no further than it needs."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    def read(self, size: int = 4096, /) -> str:
        parts, length = [], 0
        for line in self._lines:
            parts.append(line + "\n")
            length += len(line) + 1
            if length >= size:
                break
        return "".join(parts)


def events(source: str | Feed) -> Events:
    """The events of a text, errors included: `YAMLError`, and `UnicodeEncodeError` for lone surrogates."""
    return _Parser(source)
