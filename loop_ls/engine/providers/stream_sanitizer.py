"""The text of an answer while it streams in, made safe for a journal.

Providers may send NUL, and halves of surrogate pairs as separate pieces: pairs are joined again,
what stays half becomes U+FFFD. Whatever the cutting, the whole is the same.
"""

from __future__ import annotations

REPLACEMENT = "\ufffd"


def clean(text: str) -> str:
    """`text` as storable Unicode: pairs joined, lone surrogates and NUL replaced."""
    if text.isascii():
        return text.replace("\0", REPLACEMENT)
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", REPLACEMENT)


class StreamSanitizer:
    """Collects deltas; each `add` answers what may be shown now."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._held = ""
        self.length = 0

    def add(self, delta: str) -> str:
        text = self._held + delta
        self._held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        shown = clean(text)
        if shown:
            self._parts.append(shown)
            self.length += len(shown)
        return shown

    def text(self) -> str:
        return "".join(self._parts) + clean(self._held)
