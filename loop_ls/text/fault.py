"""Something that keeps a text from being read as meant. Says nothing about rules or severities."""

from __future__ import annotations

from typing import NamedTuple

from loop_ls.text.position import Span


class Fault(NamedTuple):
    """`message` is a sentence for a person, `code` names the kind of fault for programs."""

    span: Span
    message: str
    code: str

    def shift(self, lines: int) -> Fault:
        return self if lines == 0 else Fault(self.span.shift(lines), self.message, self.code)


def shortened(text: str) -> str:
    """A word of the file as a sentence quotes it."""
    return text if len(text) <= 40 else text[:37].rstrip() + "..."
