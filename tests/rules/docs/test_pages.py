"""Every rule has a page, and its examples do what they say."""

from __future__ import annotations

import re

from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.registry import Rule, all_rules
from loop_ls.rules.engine.rule_selection import PROFILES
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of

RULES = all_rules()


def _switch(rule: Rule) -> tuple[str, ...]:
    return (rule.profile,) if rule.profile else ()


def _of_the_bad_example(rule: Rule) -> list[Finding]:
    """In its first file; the others are there to be called."""
    fixture = read_fixture(rule.page.bad)
    return list(findings_of(fixture, _switch(rule))[fixture.main.path])


def test_the_bad_example_gives_exactly_this_rule() -> None:
    found = {rule.code: _of_the_bad_example(rule) for rule in RULES.values()}
    assert len(found) > 150
    assert {code: every for code, every in found.items() if {one.rule for one in every} != {code}} == {}


def test_the_good_example_gives_nothing() -> None:
    found = {rule.code: findings_of(read_fixture(rule.page.good), _switch(rule)) for rule in RULES.values()}
    assert {code: every for code, every in found.items() if any(every.values())} == {}


def test_the_page_is_written_for_people() -> None:
    pages = {rule.code: f"{rule.page.title} {rule.page.text}".lower() for rule in RULES.values()}
    assert [rule.code for rule in RULES.values() if not re.fullmatch(r"[a-z][a-z-]*[a-z]", rule.name)] == []
    assert [rule.code for rule in RULES.values() if not rule.page.title.endswith(".")] == []
    assert [rule.code for rule in RULES.values() if rule.profile is not None and rule.profile not in PROFILES] == []
    odd = ("unexpected token", "might")
    assert [(code, words) for code, page in pages.items() for words in odd if words in page] == []


def test_names_are_unique_within_a_format() -> None:
    names = [(rule.code[:2], rule.name) for rule in RULES.values()]
    assert len(set(names)) == len(names)
