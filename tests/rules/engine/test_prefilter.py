"""What a rule says it is about leaves nothing out: it finds the same when it is asked everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine import prefilter
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


def _steps(*steps: str) -> Document:
    head = "$schema: workflow/v2.0\nname: flow\nexecution: {provider: ollama, model: x}\n"
    return Document.open("file:///w/flow.yaml", f"{head}steps:\n" + "".join(f"  - {one}\n" for one in steps))


@pytest.mark.parametrize(
    ("step", "traits"),
    [
        ("{name: a, run: x}", set()),
        ("{name: a, needs: [b], run: x}", {prefilter.NEEDS}),
        ("{name: a, execution_order: 2, run: x}", {prefilter.ORDER}),
        ("{name: a, run: '{{input}}'}", {prefilter.USES}),
        ("{name: a, run: '{{b.c}}'}", {prefilter.USES, prefilter.PATHS}),
        ("{name: a, run: '{{loop}}'}", {prefilter.USES, prefilter.PATHS}),
        ("{name: a, run: '{{loop.x}} {{loop.y}}'}", {prefilter.USES, prefilter.PATHS, prefilter.LOOP_VARIABLES}),
        ("{name: a, run: '{{b | c}} {{d | e}}'}", {prefilter.ODD_BRACES}),
        ("{name: a, run: '{loop.x} ${env.X}'}", {prefilter.SINGLE_BRACES, prefilter.DOLLARS}),
        ("{name: a, run: 'for 5$ and {x}'}", {prefilter.DOLLARS}),
        ("{name: a, run: '{% if x %}'}", {prefilter.TAGS}),
        ("{name: a, run: '{# x #}'}", {prefilter.TAGS}),
        ("{name: a, provider: '{{b}}', run: x}", {prefilter.STRAYS}),
        ("{name: a, if: x == y, run: x}", {prefilter.CONDITION}),
        ("{name: a, template: {name: b}}", {prefilter.CALL}),
        ("{name: a, loop: {workflow: b, until: It says x}}", {prefilter.CALL, prefilter.LOOP, prefilter.UNTIL}),
    ],
)
def test_an_element_has_no_more_traits_than_it_shows(step: str, traits: set[str]) -> None:
    found = prefilter.of_element(_steps(step).steps[0])
    assert set(found) == traits
    assert len(found) == len(traits)


@pytest.mark.parametrize(
    ("step", "traits"),
    [
        ("{name: a, run: x}", ["name", "run"]),
        ("{name: a, colour: x}", ["name", prefilter.UNKNOWN]),
        ("{name: a, temperature: x}", ["name", "temperature", prefilter.FAULTS]),
        ("{name: a, run: }", ["name", "run", prefilter.EMPTY]),
        ("{name: a, needs: [b, ~]}", ["name", "needs"]),
        ("{name: a, colour: , temperature: x, run: }", ["name", "temperature", "run", "unknown", "faults", "empty"]),
    ],
)
def test_a_block_shows_its_keys_and_what_is_wrong_with_them(step: str, traits: list[str]) -> None:
    assert [one.strip("()") for one in prefilter.of_block(_steps(step).steps[0].block)] == [
        one.strip("()") for one in traits
    ]


def test_a_gap_of_a_list_is_empty_too() -> None:
    needs = "name: a\n    needs:\n      - b\n"
    whole, gap = (_steps(f"{needs}{more}    run: x").steps[0].block for more in ("", "      -\n"))
    assert prefilter.EMPTY in prefilter.of_block(gap)
    assert prefilter.EMPTY not in prefilter.of_block(whole)
