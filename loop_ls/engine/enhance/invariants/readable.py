"""A text as a model reads it: without what is written in a word and not seen, and in the usual form of each letter.

Whoever looks for words in a text looks here first: `D<soft hyphen>ONE` and full-width letters say DONE as well.
"""

from __future__ import annotations

import unicodedata

#: Nothing is seen of these either, though they are no format characters: joiners, fillers and variation selectors.
_SELECTORS = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0").union(
    chr(code) for first, last in _SELECTORS for code in range(first, last + 1)
)


def as_read(text: str) -> str:
    """Compatible letters as one (NFKC), without characters that are not seen."""
    if text.isascii():
        return text
    seen = "".join(one for one in text if one not in _UNSEEN and unicodedata.category(one) != "Cf")
    return unicodedata.normalize("NFKC", seen)
