"""The price that a script of answers gives, so that an estimate shows what its run will show.

A scripted provider costs nothing by itself; `price` in its script is there to show costs. Knows no answers:
whether a script can be followed is told by the start of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from loop_ls.formats.common.plain_value import plain
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.json_value import Json
from loop_ls.text.lines import Text

#: Characters of a file of answers that are read for its price; it stands at the top or is small.
MOST = 100_000
Read = Callable[[str], str | None]


def script_price(own: Mapping[str, Json], path: str, read: Read) -> tuple[float, float] | None:
    """Of the scripted provider with these settings, for a run of the file at `path`; `read` gives the text of a
    file, both relative to the workspace. None: its script gives none."""
    script = own.get("script")
    if script is None:
        script = str(PurePosixPath(path).with_suffix("")) + ".answers.yaml"
    if isinstance(script, str):
        text = read(script)
        return None if text is None else _price(_value(text, "price"))
    return _price(script.get("price")) if isinstance(script, Mapping) else None


def _value(text: str, name: str) -> object:
    tree = read_yaml(Text.of(text[:MOST]))
    return next((plain(piece.node) for piece in tree.pieces if piece.key is not None and piece.key.text == name), None)


def _price(value: object) -> tuple[float, float] | None:
    if not isinstance(value, Mapping):
        return None
    sent, got = value.get("input", 0), value.get("output", 0)
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (sent, got))
    return (float(sent), float(got)) if numbers else None
