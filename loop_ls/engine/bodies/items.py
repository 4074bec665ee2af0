"""The items of an iterate loop: from a text or a file to values (workflow spec 4.7)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from loop_ls.engine.ports import Failure

FILE = "file://"
OUTPUTS = "/outputs/"
#: A file of items larger than this is a mistake: it would be copied into the journal.
LARGEST_FILE = 32 * 1024 * 1024


class Items(NamedTuple):
    """`doubt` is what may be wrong with the way the text was read."""

    values: list[Any]
    doubt: str = ""


def parse_items(text: str) -> Items:
    """A JSON array, JSON Lines, or one item for each line that is not blank. Raises `Failure`."""
    bare = text.strip()
    if not bare:
        raise Failure("no_items", "`items` is empty", "an empty JSON array, `[]`, means that there is nothing to do")
    if bare.startswith("["):
        whole = _json(bare)
        if isinstance(whole, list):
            return Items(whole)
    lines = [line.strip() for line in _lines(bare) if line.strip()]
    values = [_json(line) for line in lines]
    if _NOT_JSON not in values:
        return Items(values)
    doubt = "`items` looks like JSON on several lines; each line is an item" if bare[0] in "{[" else ""
    return Items(lines, doubt)


def read_items_file(reference: str, root: Path, folder: Path) -> str:
    """The text of a `file://` reference: from the folder of the workflow file, else from the root.

    A file outside of the workspace is not read, wherever the reference came from. Raises `Failure`.
    """
    path = reference.removeprefix(FILE)
    if path.startswith(OUTPUTS):
        outputs = Path(tempfile.gettempdir()) / "mcp-outputs"
        candidates, allowed = [outputs / path.removeprefix(OUTPUTS)], outputs
    else:
        candidates, allowed = [folder / path, root / path], root
    for candidate in candidates:
        try:
            whole = candidate.resolve()
            if not whole.is_relative_to(allowed.resolve()):
                continue
            if whole.is_file():
                return _read(whole, path)
        except (OSError, ValueError) as error:
            raise Failure("not_found", f"the items file {path} cannot be read: {error}") from None
    raise Failure(
        "not_found", f"there is no items file {path} in the workspace", "give it relative to the workflow file"
    )


def label(item: Any, index: int) -> str:
    """How an item is called in the record: its `id`, `control_id` or `name`, else its number."""
    if isinstance(item, dict):
        for key in ("id", "control_id", "name"):
            if isinstance(item.get(key), str | int):
                return str(item[key])
    return f"ITEM-{index:03d}"


def _read(path: Path, shown: str) -> str:
    if path.stat().st_size > LARGEST_FILE:
        raise Failure("limit_reached", f"the items file {shown} is larger than {LARGEST_FILE // 2**20} MiB")
    return path.read_bytes().decode("utf-8-sig", errors="replace")


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


_NOT_JSON = object()


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
