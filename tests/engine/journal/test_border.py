"""What enters the journal comes out the same, whatever a provider or a program put in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loop_ls.engine.journal.serialization import LONG, enter, pack, plain, unpack
from loop_ls.engine.runs.secret_mask import SecretMask
from loop_ls.text.hash import hash_of

texts = st.text() | st.text(alphabet=st.characters(categories=["Cs", "Cc", "Lu"])) | st.text(min_size=LONG)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


#: How quickly values are made says nothing about them.
on_any_machine = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@on_any_machine
@given(values)
def test_a_plain_value_is_json_that_any_database_can_hold(value: Any) -> None:
    found = plain(value)
    written = json.dumps(found, allow_nan=False, ensure_ascii=False)
    assert written.encode("utf-8")
    assert "\\u0000" not in json.dumps(found)
    assert plain(found) == found


@on_any_machine
@given(values)
def test_packing_loses_nothing(value: Any) -> None:
    texts: dict[str, str] = {}
    found = plain(value)
    assert unpack(pack(found, texts), texts.__getitem__) == found


def test_NUL_and_lone_surrogates_become_the_replacement_character() -> None:
    assert plain({"a\x00": ["b\ud800", "c\x00"]}) == {"a\ufffd": ["b\ufffd", "c\ufffd"]}


def test_what_is_no_json_is_kept_as_text_because_it_was_paid_for() -> None:
    @dataclass
    class Reply:
        text: str

    assert plain({1: Reply("x"), "set": (1, 2)}) == {"1": str(Reply("x")), "set": [1, 2]}
    assert plain(float("nan")) is None


@pytest.mark.parametrize("levels", [150, 500, 900])
def test_an_answer_that_is_nested_deep_is_kept_as_far_as_it_can_be_gone_through(levels: int) -> None:
    """The encoder takes more of it than whoever masks and packs it: arguments of a tool, an imported run."""
    told = {"text": "long " * 100, "calls": [{"arguments": json.loads("[" * levels + '"in"' + "]" * levels)}]}
    kept: dict[str, str] = {}
    seen, packed = enter(told, kept)
    assert seen["text"] == told["text"]
    assert unpack(packed, kept.__getitem__) == seen
    assert SecretMask(["secret-value"]).value(seen) == seen
    shallow = {"calls": [{"arguments": json.loads("[" * 60 + '"in"' + "]" * 60)}] * 50}
    assert plain(shallow) == shallow


def test_a_value_that_is_nested_without_end_is_cut() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert plain(deep)


def test_a_long_text_is_packed_once_and_cannot_be_forged() -> None:
    long, texts = "x" * LONG, {}
    packed = pack({"a": long, "b": [long]}, texts)
    assert texts == {hash_of(long): long}
    assert long not in packed
    assert plain({"\x00": hash_of(long)}) == {"\ufffd": hash_of(long)}
