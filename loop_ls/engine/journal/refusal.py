"""Why a journal cannot be opened, read or written, as data: one code, one sentence, what to do."""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.contract.answers import Refusal


@dataclass(eq=False)
class JournalRefused(Exception):
    """`code`: `disk_full`, `read_only`, `damaged`, `newer_format`, `not_a_journal`, `busy`, `io`, `closed`."""

    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return self.message

    def answer(self) -> Refusal:
        """As a typed answer of a command."""
        return {"ok": False, "code": "engine_not_ready", "message": self.message, "hint": self.hint}
