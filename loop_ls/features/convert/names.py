"""Names that every format takes, each once: of loops, parameters and steps. Knows no file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable


def snake(word: str, otherwise: str = "loop") -> str:
    """A name that every format takes."""
    plain = unicodedata.normalize("NFKD", word).replace("ß", "ss")
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_").lstrip("0123456789_") or otherwise


def named(words: Iterable[str], taken: Iterable[str], otherwise: str) -> list[str]:
    """A name for each word, unlike all others and unlike those that are `taken`."""
    used, names = set(taken), []
    for word in words:
        name = base = snake(word, otherwise)
        number = 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        names.append(name)
    return names
