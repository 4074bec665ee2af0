"""The hash by which the engine and an editor agree that they speak of the same text."""

from __future__ import annotations

from hashlib import sha256


def text_hash(text: str) -> str:
    """SHA-256 in hex; a lone surrogate of an editor counts as it is."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
