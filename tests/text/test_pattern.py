"""Patterns behave like compiled ones, and every one in the product compiles."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import loop_ls
from loop_ls.text.pattern import _Pattern, pattern

ROOMS = ("text", "syntax", "formats", "index", "rules", "server")
ROOT = Path(loop_ls.__file__).parent


def test_it_matches_like_what_it_compiles_to() -> None:
    words = pattern(r"(\w+)-(\w+)", re.ASCII)
    assert words.sub(r"\2-\1", "a-b") == "b-a"
    found = words.fullmatch("a-b")
    assert found is not None
    assert found.groups() == ("a", "b")
    assert words.pattern == r"(\w+)-(\w+)"
    assert words.flags & re.ASCII


def test_it_is_compiled_when_it_is_used() -> None:
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.match("x")


@pytest.mark.parametrize("room", ROOMS)
def test_every_pattern_of_a_room_compiles(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        for one in vars(import_module(name)).values():
            if isinstance(one, _Pattern):
                assert one.flags is not None
