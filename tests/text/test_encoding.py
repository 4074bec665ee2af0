"""Columns in the units of the three LSP encodings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loop_ls.text.encoding import Encoding, from_units, to_units

WIDTHS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
SIZE = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
encodings = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@given(st.text(st.sampled_from("aé²😀"), max_size=12), encodings)
def test_units_are_those_of_the_encoded_text(line: str, encoding: Encoding) -> None:
    for column in range(len(line) + 1):
        units = len(line[:column].encode(WIDTHS[encoding])) // SIZE[encoding]
        assert to_units(line, column, encoding) == units
        assert from_units(line, units, encoding) == column


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_outside_the_line_are_moved_inside(encoding: Encoding) -> None:
    assert to_units("é", 7, encoding) == to_units("é", 1, encoding)
    assert to_units("é", -1, encoding) == 0
    assert from_units("é", 99, encoding) == 1
    assert from_units("é", -5, encoding) == 0


def test_a_place_inside_a_character_counts_as_in_front_of_it() -> None:
    assert from_units("a😀b", 2, "utf-16") == 1
    assert from_units("a😀b", 4, "utf-8") == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_a_line_of_a_megabyte_is_measured_at_once(encoding: Encoding) -> None:
    line = "é😀x" * 300_000
    assert from_units(line, to_units(line, 850_000, encoding), encoding) == 850_000


def test_lone_surrogates_have_a_width() -> None:
    assert to_units("\ud800x", 1, "utf-8") == 3
    assert from_units("\ud800x", 3, "utf-8") == 1
    assert from_units("\ud83d\ude00x", 2, "utf-16") == 2
