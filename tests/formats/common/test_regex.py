"""Patterns that users write: Python's dialect, JavaScript's spellings, and no search without end."""

from __future__ import annotations

import re

import pytest

from loop_ls.formats.common.regex_check import always_matches, compiled, found_in, is_explosive
from loop_ls.formats.common.regex_dialect import difference, translated


@pytest.mark.parametrize(
    ("written", "python"),
    [
        ("(?<n>x)", "(?P<n>x)"),
        (r"(?<n>x)\k<n>", "(?P<n>x)(?P=n)"),
        (r"(?<n>x)\k<m>", "(?P<n>x)k<m>"),
        ("[]", "(?!)"),
        ("a[^]b", r"a[\s\S]b"),
        (r"\q\h\e", "qhe"),
        (r"\p{L}", "p{L}"),
        (r"\N", "N"),
        (r"[\q]", "[q]"),
        (r"\cA\q", r"\x01q"),
        (r"(?<=a)\/\q", r"(?<=a)\/q"),
    ],
)
def test_spellings_of_javascript_are_translated(written: str, python: str) -> None:
    assert translated(written) == python
    assert compiled(written).source == python
    re.compile(python)


@pytest.mark.parametrize("pattern", ["(a", "(?<=a+)b", "*a", "a{2,1}", "(?P<1>a)", "[z-a]"])
def test_what_neither_takes_has_a_reason(pattern: str) -> None:
    found = compiled(pattern)
    assert found.source is None
    assert found.problem


@pytest.mark.parametrize(
    "pattern", ["DONE", r"\d+\w\s.$", "(?:a|b)", "(?=a)(?!b)(?<=c)(?<!d)", r"[\]a]+", r"\\A", "a{2,}", "x{"]
)
def test_what_both_read_alike(pattern: str) -> None:
    assert compiled(pattern).source == pattern
    assert difference(pattern) is None


@pytest.mark.parametrize("pattern", ["(?i)a", "(?P<n>a)", "a++", r"\A", r"\Z", "a{,2}", "(?>a)", "[]a]", r"\q"])
def test_what_only_one_takes_is_named(pattern: str) -> None:
    assert difference(pattern)


def test_letter_case_is_ignored() -> None:
    assert found_in("done", "all DONE") is True
    assert found_in("done", "doing") is False


def test_a_search_ends() -> None:
    assert found_in("^(a|a)+$", "a" * 60 + "b") in (None, False)
    assert always_matches("(?:|||){60}b") is False


@pytest.mark.parametrize(
    ("pattern", "always"), [("x*", True), ("", True), (".*", True), ("$", True), ("^$", False), ("a", False)]
)
def test_patterns_that_are_found_everywhere(pattern: str, always: bool) -> None:
    assert always_matches(pattern) is always


EXPLOSIVE = [
    "(a+)+",
    "(a*)*",
    "(a|b+)*",
    r"(\w+\s?)*",
    "(.*,)*",
    "(a{1,3})+",
    "(a+a)+",
    r"(?:[^x\\]+|\\.)*x",
    "((a+))+",
]
HARMLESS = [
    r"(\w+\s)*",
    r"(\d+,)*\d+",
    "(a+){2}",
    "(a+)?",
    "(ab+)+",
    "(a++)+",
    "(a?)+",
    "a+b+",
    r"(\w+\b)+",
    "(foo|bar)+",
]


@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_repetitions_that_can_be_taken_apart_in_many_ways(pattern: str) -> None:
    assert is_explosive(pattern)


@pytest.mark.parametrize("pattern", HARMLESS)
def test_repetitions_that_cannot(pattern: str) -> None:
    assert not is_explosive(pattern)


def test_deep_and_long_patterns_are_no_danger() -> None:
    deep = "(" * 3000 + ")" * 3000
    assert compiled(deep).source is None
    assert is_explosive(deep) is False
    assert is_explosive("a" * 6000) is False


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:a{60000}){60000}",
        "(?:(?:a{1000}){1000}){1000}",
        "(?=(?:b{400}){400})",
        "x|((?:a{400}){400})++",
        "(a{0,9}b){60000}",
    ],
)
def test_a_pattern_that_would_be_written_out_for_ever_is_none(pattern: str) -> None:
    """`regex` compiles it as often as it has to match, and no limit of time ends that."""
    assert "expand to more than" in compiled(pattern).problem
    assert compiled(pattern).source is None


@pytest.mark.parametrize("pattern", ["a{60000}", "(?:a{1000}){99}", "(?:a{1,60000}){1,60000}", "[a-zA-Z0-9_.-]{50000}"])
def test_many_repetitions_alone_are_no_fault(pattern: str) -> None:
    assert compiled(pattern) == (pattern, "")
    assert found_in(pattern, "b", 5.0) is not None
