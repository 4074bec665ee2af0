"""Colours for a terminal, or none. When to use them is decided by the caller (`wants_colour`)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TextIO

from loop_ls.rules.engine.finding import Severity

_CODES = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFORMATION: "1;36", Severity.HINT: "1;34"}


@dataclass(frozen=True, slots=True)
class Paint:
    on: bool

    def severity(self, text: str, level: Severity) -> str:
        return self._paint(text, _CODES[level])

    def bold(self, text: str) -> str:
        return self._paint(text, "1")

    def faint(self, text: str) -> str:
        return self._paint(text, "2")

    def good(self, text: str) -> str:
        return self._paint(text, "32")

    def added(self, text: str) -> str:
        return self._paint(text, "32")

    def removed(self, text: str) -> str:
        return self._paint(text, "31")

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on else text


def wants_colour(stream: TextIO) -> bool:
    """Only a terminal gets colours, and not when `NO_COLOR` is set to anything (no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
