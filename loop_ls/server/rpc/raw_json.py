"""Answers that are JSON text already. Diagnostics are written once and sent with every keystroke."""

from __future__ import annotations

import json
from collections.abc import Sequence


class Written(str):
    """JSON text. It is put into a message as it is."""

    __slots__ = ()


def written(value: object) -> Written:
    return Written(json.dumps(value, separators=(",", ":")))


def record(**members: object) -> Written:
    """An object whose members are values, or written already."""
    return Written("{" + ",".join(f'"{name}":{_text(value)}' for name, value in members.items()) + "}")


def sequence(items: Sequence[Written]) -> Written:
    return Written("[" + ",".join(items) + "]")


def _text(value: object) -> str:
    return value if isinstance(value, Written) else json.dumps(value, separators=(",", ":"))
