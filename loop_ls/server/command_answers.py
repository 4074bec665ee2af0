"""Answers of commands: success says `ok`, a refusal says which one, in one sentence, and what to do."""

from __future__ import annotations

from typing import Any

from loop_ls.text.json_value import JsonObject

Answer = dict[str, Any]


def refused(code: str, message: str, hint: str = "", **details: Any) -> Answer:
    return {"ok": False, "code": code, "message": message, "hint": hint, **details}


def sentence(answer: JsonObject) -> str:
    """A refusal as a person reads it."""
    words = [str(answer.get("message") or f"The command was refused ({answer.get('code')}).")]
    if hint := answer.get("hint"):
        words.append(str(hint))
    return " ".join(words)
