"""Every rule has a page, and its examples do what they say."""

from __future__ import annotations

import re

import pytest

from loop_ls.rules.engine.registry import Rule, all_rules
from loop_ls.rules.engine.rule_selection import PROFILES
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of

RULES = all_rules()


def _switch(rule: Rule) -> tuple[str, ...]:
    return (rule.profile,) if rule.profile else ()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_bad_example_gives_exactly_this_rule(rule: Rule) -> None:
    """In its first file; the others are there to be called."""
    fixture = read_fixture(rule.page.bad)
    found = findings_of(fixture, _switch(rule))[fixture.main.path]
    assert {finding.rule for finding in found} == {rule.code}, found


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_good_example_gives_nothing(rule: Rule) -> None:
    found = findings_of(read_fixture(rule.page.good), _switch(rule))
    assert not [finding for findings in found.values() for finding in findings]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_page_is_written_for_people(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z][a-z-]*[a-z]", rule.name)
    assert rule.page.title.endswith(".")
    assert rule.profile is None or rule.profile in PROFILES
    for words in ("invalid", "unexpected token", "might"):
        assert words not in f"{rule.page.title} {rule.page.text}".lower()


def test_names_are_unique_within_a_format() -> None:
    names = [(rule.code[:2], rule.name) for rule in RULES.values()]
    assert len(set(names)) == len(names)
