"""After a fix the file has no finding that it did not have: every fix of every bad example, under every setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding, Fix
from loop_ls.rules.engine.registry import all_rules
from loop_ls.rules.fixes.apply import applied
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import ROOT, document_of, workspace_of

RULES = all_rules()

SETTINGS: dict[str, dict[str, Any]] = {
    "none": {},
    "local judge": {"judge": {"local": True}},
    "revise": {"assistants": {"revise": True}},
    "limits": {"limits": {"maxIterations": 2, "budgetUsd": 1}},
}


def workspace(source: str, values: dict[str, Any]) -> tuple[Workspace, str]:
    fixture = read_fixture(source)
    settings, problems = settings_of(values)
    assert not problems
    return workspace_of(fixture, settings), fixture.main.path


def codes(workspace: Workspace, profiles: tuple[str, ...]) -> Counter[tuple[str, str]]:
    checker = Checker(profiles)
    documents = sorted(workspace.documents.values(), key=lambda one: one.path)
    return Counter((one.path, found.rule) for one in documents for found in checker.findings(workspace, one))


def fixes_of(workspace: Workspace, path: str, profiles: tuple[str, ...]) -> Iterator[tuple[Finding, Fix]]:
    for finding in Checker(profiles).findings(workspace, document_of(workspace, path)):
        for fix in finding.fixes:
            yield finding, fix


def news(source: str, values: dict[str, Any], profiles: tuple[str, ...]) -> list[str]:
    """What each fix of the main file brings that was not there before."""
    before, path = workspace(source, values)
    known = codes(before, profiles)
    found = []
    for finding, fix in fixes_of(before, path, profiles):
        document = document_of(before, path)
        after = Workspace.of(
            Roots(ROOT),
            [
                *(one for one in before.documents.values() if one is not document),
                applied(document, fix.edits(document)),
            ],
            before.settings,
        )
        new = codes(after, profiles) - known
        found += [f"{finding.rule} `{fix.title}` brings {code} in {where}" for where, code in new]
    return found


#: Fixes that have something looked at which was passed over before: a file that did not say what it is, a loop that was
#: not switched on, both halves of a merge. What is said then was true all the time.
REVEALING = {"WF002", "WF010", "AL022"}

DRAFT = """
#- draft.yaml
steps:
  - {name: write, run: "Improve {{input}}, write READY below it"}
"""
MORE = {
    "a result without needs": 'steps:\n  - {name: plan, run: "{{input}}"}\n  - {name: use, run: "Use {{plna}}"}\n',
    "a path without needs": 'steps:\n  - {name: plan, run: "{{input}}"}\n  - {name: use, run: "Use {{Step.plan}}"}\n',
    "variables of a loop where none runs": 'steps:\n  - {name: use, run: "{{Loop.output}} of {{loop.iteratoin}}"}\n',
    "with parallel": (
        "execution: {provider: ollama, model: llama3.2, parallel: true}\nsteps:\n"
        '  - {name: plan, run: "{{input}}"}\n  - {name: next, needs: [plan], run: "{{plan}}"}\n'
        '  - {name: use, needs: [next], run: "{{next}} {{plna}}"}\n'
    ),
    "nearest to itself": 'steps:\n  - {name: again, template: {name: flou, with: {input: "{{input}}"}}}\n',
    "blocks": (
        "loops:\n  - name: l\n    workflow: |\n      draft\n    max_iterations: |\n      3\n    mode: |\n      refine\n"
        f"    until: It says READY\n{DRAFT}"
    ),
    **{
        until: f'loops:\n  - {{name: l, workflow: draft, max_iterations: 3, until: "{until}"}}\n{DRAFT}'
        for until in (
            "{{loop.output}}",
            "{{loop.output}} is good",
            "{{l}} is good",
            "{{write}} == 'READY'",
            "Iteration {{loop.iteration}} of 5 reached",
            "{{loop.history}} shows three",
            "{{loop.last.output}} contains READY",
            "It repeats {{loop.output}}",
            "{{loop.ouput}} says READY",
            "{{Loop.output}} says READY",
            "{{output}} says READY",
            "${loop.output} says READY",
            "${{loop.output}} says READY",
            "{{l.output}} says READY",
        )
    },
}


@pytest.mark.parametrize("name", SETTINGS)
def test_no_fix_of_a_slip_brings_a_new_finding(name: str) -> None:
    for slip, source in MORE.items():
        for profiles in ((), ("compat", "pedantic")):
            assert news(source, SETTINGS[name], profiles) == [], slip


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("series", sorted({code[:3] for code in RULES}))
def test_no_fix_of_a_bad_example_brings_a_new_finding(series: str, name: str) -> None:
    for code in sorted(RULES.keys() - REVEALING):
        if not code.startswith(series):
            continue
        rule = RULES[code]
        for profiles in {(), ("compat", "pedantic")} if rule.profile is None else {("compat", "pedantic")}:
            assert news(rule.page.bad, SETTINGS[name], profiles) == [], code
