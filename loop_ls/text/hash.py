"""Hashes of texts: the one by which the engine and an editor agree that they speak of the same text, and the one by
which a journal keeps it."""

from __future__ import annotations

from hashlib import blake2b, sha256


def text_hash(text: str) -> str:
    """SHA-256 in hex; a lone surrogate of an editor counts as it is."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_of(text: str) -> str:
    """The name of a text: 128 bits are enough to tell texts of one data folder apart."""
    return blake2b(text.encode("utf-8"), digest_size=16).hexdigest()
