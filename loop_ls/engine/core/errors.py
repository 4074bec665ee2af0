"""Typed answers that say no: what every surface shows when an operation is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

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
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message

    def answer(self) -> dict[str, Any]:
        return {"ok": False, "code": self.code, "message": self.message, "hint": self.hint, **self.details}
