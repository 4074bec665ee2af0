"""Refusals that are made on this side of the engine: it is gone, or what was typed means nothing to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loop_ls.contract.answers import Refusal


def refusal(code: str, message: str, hint: str = "") -> Refusal:
    return {"ok": False, "code": code, "message": message, "hint": hint}
