"""What the editor counts and what we count, there and back."""

from __future__ import annotations

import pytest

from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.text.encoding import Encoding
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, span

TEXT = Text.of("a: ü😀x\nplain\n")


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 9), ("utf-16", 6), ("utf-32", 5)])
def test_columns_in_every_encoding(encoding: Encoding, units: int) -> None:
    places = PositionMapping(TEXT, encoding)
    assert places.range(span(0, 3, 0, 5))["end"] == {"line": 0, "character": units}
    assert places.read(0, units) == Position(0, 5)


def test_places_behind_the_text_are_its_end() -> None:
    places = PositionMapping(TEXT, "utf-16")
    assert places.read(99, 0) == Position(2, 0)
    assert places.read(1, 99) == Position(1, 5)
    assert places.read_range({"start": {"line": 1, "character": 3}, "end": {"line": 0, "character": 0}}) == span(
        0, 0, 1, 3
    )


@pytest.mark.parametrize(
    "odd",
    [
        *(None, [], {}, {"line": 1}, {"line": "1", "character": 0}, 3),
        *({"line": -1, "character": 0}, {"line": 0, "character": -1}),
    ],
)
def test_what_is_no_position_is_said(odd: object) -> None:
    with pytest.raises(ValueError, match="line"):
        PositionMapping(TEXT, "utf-16").read_position(odd)
