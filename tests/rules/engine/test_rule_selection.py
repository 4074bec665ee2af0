"""Which functions of rules run: profiles, switches of a call, settings, and what a place has."""

from __future__ import annotations

import pytest

from loop_ls.rules.engine import rule_selection
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.prefilter import CALL
from loop_ls.rules.engine.registry import CHECKS, Check, all_rules
from loop_ls.rules.engine.rule_selection import LATE, Selection, plan

all_rules()  # so that all functions are there


def functions(selection: Selection) -> set[Check]:
    found = plan(selection)
    return {one for table in (found.local, found.wide, {"": found.last}) for every in table.values() for one in every}


def codes(selection: Selection) -> set[str]:
    return {one.rule.code for one in functions(selection)}


def test_the_settings_switch_and_the_call_wins_over_them() -> None:
    rules = {"WF301": "off", "WF407": "hint", "WF115": "odd"}
    selection = Selection.of(settings=rules)
    assert selection.disabled == {"WF301"}
    assert selection.levels == {"WF407": Severity.HINT}
    assert Selection.of(enable=["WF301"], settings=rules).disabled == frozenset()
    assert Selection.of(enable=["WF115"], disable=["WF301"]).disabled == {"WF301"}


def test_a_rule_of_a_profile_speaks_where_somebody_asks_for_it() -> None:
    quiet = next(one.rule.code for one in CHECKS if one.rule.profile == "pedantic" and one.rule.code.startswith("WF"))
    assert quiet not in codes(Selection.of())
    assert quiet not in codes(Selection.of(enable=["compat"]))
    for asked in ({"enable": ["pedantic"]}, {"enable": [quiet]}):
        assert quiet in codes(Selection.of(**asked))
        assert quiet not in codes(Selection.of(**asked, disable=[quiet]))
    assert quiet in codes(Selection.of(settings={quiet: "error"}))


def test_what_stands_for_a_rule_in_a_profile_stands_alone() -> None:
    of_rule = [one for one in CHECKS if one.rule.code == "WF606"]
    stands, usual = (next(one for one in of_rule if one.replaces is which) for which in (True, False))
    assert functions(Selection.of()) & {stands, usual} == {usual}
    assert functions(Selection.of(enable=["compat"])) & {stands, usual} == {stands}


def test_what_looks_at_other_files_comes_last() -> None:
    found = plan(Selection.of())
    assert {one.rule.code for one in found.last} == LATE
    assert (
        not {one.rule.code for table in (found.local, found.wide) for every in table.values() for one in every} & LATE
    )


def test_only_what_is_about_something_that_is_there_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_selection, "_MOST", 3)
    found = plan(Selection.of())
    idle, calling = found.wide_on("element", ()), found.wide_on("element", (CALL,))
    assert [one for one in found.wide["element"] if not one.about] == list(idle)
    assert [one for one in found.wide["element"] if not one.about or CALL in one.about] == list(calling)
    assert len(calling) > len(idle)
    assert len(found.picked) == 2
    for number in range(2):
        assert found.wide_on("element", (f"{number}",)) == idle
    assert len(found.picked) == 4
    found.wide_on("element", ("more",))
    assert list(found.picked) == [(False, "element", ("more",))]
