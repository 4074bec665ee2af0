"""Typed answers that say no: what every surface shows when an operation is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from loop_ls.contract.answers import Refusal

Code = Literal[
    "file_has_errors",
    "input_required",
    "consent_required",
    "not_trusted",
    "already_running",
    "not_found",
    "wrong_status",
    "forbidden",
    "engine_not_ready",
    "bad_argument",
    "limit_reached",
    "idempotency_conflict",
    "provider_unavailable",
]


@dataclass(eq=False)
class Refused(Exception):
    """Raised inside the engine, answered at its border. `details` are further fields of the answer."""

    code: Code
    message: str
    hint: str = ""
    details: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message

    def answer(self) -> Refusal:
        refusal: Refusal = {"ok": False, "code": self.code, "message": self.message, "hint": self.hint}
        return cast("Refusal", {**refusal, **self.details})


def in_one_line(messages: Iterable[str]) -> str:
    """Several messages one after the other; the semicolon takes the place of the full stop before it."""
    *before, last = [*messages] or [""]
    return "; ".join([*(one.rstrip(".") for one in before), last])
