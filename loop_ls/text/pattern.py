"""Regular expressions that are compiled when they are first used.

Compiling one takes as long as importing a module. There are a hundred, and the first file that a
server is shown uses a dozen.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("finditer", "findall", "fullmatch", "match", "search", "split", "sub")


class _Pattern:
    """Looks like what it compiles to. After the first use a method costs what it costs there."""

    __slots__ = (*_METHODS, "_flags", "pattern")

    def __init__(self, source: str, flags: int) -> None:
        self.pattern, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile`, later."""
    return cast("re.Pattern[str]", _Pattern(source, flags))
