"""The texts of an exported enhance loop: the one that its first round ran, and the hash of the one it left behind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from loop_ls.contract.endings import ENDED
from loop_ls.contract.run_view.rounds import listed
from loop_ls.text.json_value import Json, JsonObject, as_object


class FirstText(NamedTuple):
    """`left` is the hash of the last text that the loop wrote, None where it wrote none; `ended`: it is over."""

    path: Path
    text: str
    left: str | None
    ended: bool


def first_text(run: Mapping[str, Json]) -> FirstText | None:
    """None where the record does not hold the text."""
    facts = listed(run.get("facts") or run.get("events"))
    body = next((_body(fact) for fact in facts if fact.get("kind") == "run_started"), {})
    name = as_object(body.get("files")).get(str(body.get("path")))
    found = as_object(run.get("texts")).get(str(name))
    if not isinstance(found, str):
        return None
    written = [_body(fact) for fact in facts if fact.get("kind") == "edit_acknowledged"]
    left = str(written[-1].get("textSha256")) if written else None
    path = Path(str(body.get("root") or ""), str(body.get("path")))
    return FirstText(path, found, left, any(fact.get("kind") in ENDED for fact in facts))


def _body(fact: JsonObject) -> Mapping[str, Json]:
    """What a fact says, in a record of today or of before."""
    return as_object(fact.get("body")) or fact
