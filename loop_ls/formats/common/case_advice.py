"""Advice for keys with inner capitals that people write with `_`, and for the words of other programs."""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.formats.common.key_table import Advice, Key
from loop_ls.text.pattern import pattern

_CAPITAL = pattern(r"[A-Z]")


def snake(name: str) -> str:
    """`maxIterations` as `max_iterations`."""
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def camel_advice(keys: Iterable[Key], **others: str) -> dict[str, Advice]:
    """`others` are further words with the key that is meant."""
    meant = {snake(key.name): key.name for key in keys if snake(key.name) != key.name} | others
    return {written: Advice(f"did you mean `{name}`?", (name,), rename=True) for written, name in meant.items()}
