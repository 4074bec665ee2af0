"""The items of an iterate loop: from a text to values."""

from __future__ import annotations

import json
from typing import NamedTuple, NoReturn, cast

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.journal.serialization import plain
from loop_ls.formats.workflow.model import Argument
from loop_ls.text.json_value import as_object


class Items(NamedTuple):
    """`doubt` is what may be wrong with the way the text was read."""

    values: list[Argument]
    doubt: str = ""


def parse_items(text: str) -> Items:
    """A JSON array, JSON Lines, or one item for each line that is not blank. Raises `Failure`."""
    bare = text.strip()
    if not bare:
        raise Failure("no_items", "`items` is empty", "use an empty JSON array, `[]`, if there is nothing to do")
    if bare.startswith("["):
        whole = _json(bare)
        if isinstance(whole, list):
            return Items(cast("list[Argument]", whole))
    lines = [line.strip() for line in _lines(bare) if line.strip()]
    values = [_json(line) for line in lines]
    if _NOT_JSON not in values:
        return Items(cast("list[Argument]", values))
    doubt = "`items` looks like JSON on several lines; each line is an item" if bare[0] in "{[" else ""
    return Items([*lines], doubt)


def label(item: Argument, index: int) -> str:
    """How an item is called in the record: its `id`, `control_id` or `name`, else its number."""
    for key in ("id", "control_id", "name"):
        if isinstance(named := as_object(item).get(key), str | int):
            return str(named)
    return f"ITEM-{index:03d}"


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


_NOT_JSON = object()


def _json(text: str) -> object:
    try:
        return cast("object", plain(json.loads(text, parse_constant=_refused)))
    except (ValueError, RecursionError):
        return _NOT_JSON


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not valid JSON")
