"""Answers of commands: success says `ok`, a refusal says which one, in one sentence, and what to do."""

from __future__ import annotations

from loop_ls.text.json_value import Json, JsonObject


def refused(code: str, message: str, hint: str = "", **details: Json) -> JsonObject:
    return {"ok": False, "code": code, "message": message, "hint": hint, **details}


def sentence(answer: JsonObject) -> str:
    """A refusal as a person reads it."""
    words = [str(answer.get("message") or f"The command was rejected ({answer.get('code')}).")]
    if hint := answer.get("hint"):
        words.append(str(hint))
    return " ".join(words)
