"""A text as a model reads it: without what is written in a word and not seen, and in the usual form of each letter.

Whoever looks for words in a text looks here first: `D<soft hyphen>ONE`, full-width letters, accents, and letters of
other scripts that look the same say DONE as well.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
#: Nothing is seen of these either, though they are no format characters: joiners, fillers and variation selectors.
_SELECTORS = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0").union(
    chr(code) for first, last in _SELECTORS for code in range(first, last + 1)
)


#: Cyrillic, Greek and small capital letters, each above the Latin one that it looks like.
_LIKE = (
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22"
)
_LATIN = "ABEKMHOPCTXIJSaeopcyxijsdhABEZHIKMNOPTYXoabcdefghijklmnoprstuvwyz"
_AS_LATIN = str.maketrans(dict(zip(_LIKE, _LATIN, strict=True)))


def as_read(text: str) -> str:
    """Letters that are taken for one another as one, without accents and characters that are not seen."""
    if text.isascii():
        return text
    seen = "".join(one for one in text if one not in _UNSEEN and unicodedata.category(one) != "Cf")
    apart = unicodedata.normalize("NFKD", seen).translate(_AS_LATIN)
    return unicodedata.normalize("NFKC", "".join(one for one in apart if unicodedata.category(one) != "Mn"))


def words_of(text: str) -> str:
    """The words alone, in small letters: marks and line ends between them do not count."""
    return " ".join(_WORD.findall(as_read(text).casefold()))
