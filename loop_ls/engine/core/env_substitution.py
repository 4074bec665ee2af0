"""`${NAME}`: the only way in which a text may ask for a variable of the process environment.

Where it is looked for is decided elsewhere: in `env` of a workflow (D33), and in `env`, `headers` and
addresses of servers. How it is written is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

Lookup = Callable[[str], str | None]


def names_in(text: str) -> tuple[str, ...]:
    """The variables that a text asks for, each once, in order."""
    return tuple(dict.fromkeys(VARIABLE.findall(text)))


def filled(text: str, lookup: Lookup) -> tuple[str, tuple[str, ...]]:
    """The text with the values in place, and the names that are unset (empty text)."""
    unset: dict[str, None] = {}

    def value(match: re.Match[str]) -> str:
        found = lookup(match[1])
        if found is None:
            unset[match[1]] = None
        return found or ""

    return VARIABLE.sub(value, text), tuple(unset)
