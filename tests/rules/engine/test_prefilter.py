"""What a rule says it is about leaves nothing out: it finds the same when it is asked everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.prefilter import Traits
from loop_ls.rules.engine.registry import CHECKS, Check, all_rules
from loop_ls.rules.engine.rule_selection import PROFILES, Plan
from loop_ls.testing.fixture import read_fixture

RULES = {code: rule for code, rule in all_rules().items() if code.startswith("WF")}


def _everywhere(plan: Plan, local: bool, place: str, traits: Traits) -> tuple[Check, ...]:
    return (plan.local if local else plan.wide).get(place, ())


def _texts(code: str) -> Iterator[str]:
    """The examples of a page, as they are and with one line missing: other keys, other faults."""
    for example in (RULES[code].page.bad, RULES[code].page.good):
        text = read_fixture(example).main.text
        lines = text.splitlines(keepends=True)
        yield text
        for gone in range(4, len(lines), 6):
            yield "".join(lines[:gone] + lines[gone + 1 :])


def _found(text: str) -> list[tuple[str, object, str]]:
    document = Document.open("file:///w/flow.yaml", text)
    found: tuple[Finding, ...] = Checker(enable=PROFILES).findings(Workspace.of(Roots("/w"), [document]), document)
    return [(one.rule, one.span, one.message) for one in found]


def test_nothing_is_found_where_a_rule_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {code: list(_texts(code)) for code in RULES}
    asked_where_it_matters = {code: [_found(text) for text in every] for code, every in texts.items()}
    assert all(any(found) for found in asked_where_it_matters.values())
    monkeypatch.setattr(Plan, "_pick", _everywhere)
    asked_everywhere = {code: [_found(text) for text in every] for code, every in texts.items()}
    assert [code for code in RULES if asked_everywhere[code] != asked_where_it_matters[code]] == []


def test_many_rules_say_what_they_are_about() -> None:
    assert sum(bool(check.about) for check in CHECKS) > 50
