"""Texts of megabytes enter the journal without being copied again and again, and come out as they were."""

from __future__ import annotations

import tracemalloc

import pytest

from loop_ls.engine.journal.serialization import BOOK, enter, plain, unpack

MEGABYTE = 1_000_000


@pytest.mark.parametrize("letter", ["x", "ü", "\U0001f600"])
def test_a_long_text_is_kept_as_the_same_object(letter: str) -> None:
    text = letter * BOOK
    texts: dict[str, str] = {}
    found, packed = enter({"text": text, "n": 1, "inner": {"again": text}}, texts)
    assert found["text"] is text or found["text"] == text
    assert len(packed) < 300
    assert len(texts) == 1
    assert unpack(packed, texts.__getitem__) == {"text": text, "n": 1, "inner": {"again": text}}


def test_what_no_database_can_hold_is_replaced_in_long_texts_too() -> None:
    text = "a\0b\ud800c" + "x" * BOOK
    found, _ = enter({"text": text}, {})
    assert found["text"].startswith("a\ufffdb\ufffdc")
    assert plain({"text": text}) == found


def test_a_text_of_ten_megabytes_costs_no_more_than_twice_its_size() -> None:
    text = "x" * (10 * MEGABYTE)
    tracemalloc.start()
    try:
        value = plain({"text": text})
        enter(value, {})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * MEGABYTE
