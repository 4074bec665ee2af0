"""`{{parameter}}` in the texts of a role-loop definition: exact, without blanks, filled in once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from loop_ls.text.pattern import pattern

PLACEHOLDER = pattern(r"\{\{([a-z][a-z0-9_]*)\}\}")

#: The texts of parameters by name; None: it has none until somebody gives one.
Values = Mapping[str, str | None]


class Filled(NamedTuple):
    """A text with what is known filled in. `names` were filled in, `open` has those without a text."""

    text: str
    names: tuple[str, ...] = ()
    open: bool = False


def fill(text: str, values: Values) -> Filled:
    """`text` with its placeholders replaced. What they bring is not looked at again; names that nobody
    declared stay as they are."""
    names: list[str] = []
    left = False

    def replaced(found: re.Match[str]) -> str:
        nonlocal left
        name = found[1]
        if name not in values:
            return found[0]
        names.append(name)
        value = values[name]
        if value is None:
            left = True
            return found[0]
        return value

    filled = PLACEHOLDER.sub(replaced, text) if "{{" in text else text
    return Filled(filled, tuple(names), left)
