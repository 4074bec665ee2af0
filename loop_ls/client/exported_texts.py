"""The texts of an exported enhance loop: the one that its first round ran, and the hash of the one it left behind."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from loop_ls.client.session import Answer
from loop_ls.contract.endings import ENDED


class FirstText(NamedTuple):
    """`left` is the hash of the last text that the loop wrote, None where it wrote none; `ended`: it is over."""

    path: Path
    text: str
    left: str | None
    ended: bool


def first_text(run: Answer) -> FirstText | None:
    """None where the record does not hold the text."""
    facts = run.get("facts") or run.get("events") or []
    started: Answer = next((fact for fact in facts if fact.get("kind") == "run_started"), {})
    body = started.get("body") or started
    name = (body.get("files") or {}).get(body.get("path"))
    found = (run.get("texts") or {}).get(name)
    if not isinstance(found, str):
        return None
    written = [fact.get("body") or fact for fact in facts if fact.get("kind") == "edit_acknowledged"]
    left = str(written[-1].get("textSha256")) if written else None
    path = Path(str(body.get("root") or ""), str(body.get("path")))
    return FirstText(path, found, left, any(fact.get("kind") in ENDED for fact in facts))
