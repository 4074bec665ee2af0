"""Rules about behaviour that a setting switches say nothing where the setting makes them untrue."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.providers.known import KNOWN
from loop_ls.formats.common.providers import PROVIDERS, RUN_BY_NAME
from loop_ls.formats.settings.model import Settings, settings_of
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import check_findings, findings_of

ASSISTANT = """
#- writer.assistant.yaml
id: writer
name: Writer
persona: You write.
{more}
loopEnabled: true
"""
DRAFT = """
#- draft.yaml
steps:
  - {name: improve, run: "Improve {{input}}, write READY below it"}
"""


def settings(**values: Any) -> Settings:
    found, problems = settings_of(values)
    assert not problems
    return found


def codes(source: str, given: Settings) -> list[str]:
    fixture = read_fixture(source)
    return [finding.rule for finding in findings_of(fixture, settings=given)[fixture.main.path]]


def rules_of_assistant(more: str, **values: Any) -> list[str]:
    return codes(ASSISTANT.format(more=more), settings(**values))


def test_AL024_is_silent_where_people_may_ask_for_another_iteration() -> None:
    more = "maxBudgetUsd: 1\nloopCriteria: {type: manual}\nmaxIterations: 4"
    assert rules_of_assistant(more) == ["AL024"]
    assert rules_of_assistant(more, assistants={"revise": False}) == ["AL024"]
    assert rules_of_assistant(more, assistants={"revise": True}) == []
    assert rules_of_assistant(more, limits={"maxIterations": 1}) == []


def test_AL023_is_silent_where_the_project_lets_no_loop_go_on() -> None:
    assert rules_of_assistant("maxBudgetUsd: 1") == ["AL023"]
    assert rules_of_assistant("maxBudgetUsd: 1", limits={"maxIterations": 3}) == ["AL023"]
    assert rules_of_assistant("maxBudgetUsd: 1", limits={"maxIterations": 1}) == []


def test_AL025_is_silent_where_nothing_is_paid() -> None:
    more = "provider: openai\nloopCriteria: {type: max_iterations}"
    assert rules_of_assistant(more, providers={"openai": {"kind": "openai"}}) == ["AL025"]
    assert rules_of_assistant(more, providers={"openai": {"kind": "scripted"}}) == []
    priced = {"openai": {"kind": "scripted", "price": {"input": 1, "output": 1}}}
    assert rules_of_assistant(more, providers=priced) == ["AL025"]
    assert rules_of_assistant(more, providers=priced, limits={"budgetUsd": 1}) == []


def test_WF106_knows_the_model_for_vectors_in_the_settings() -> None:
    source = """
execution: {provider: acme}
steps:
  - {name: vectors, embeddings: {input: "{{input}}"}}
"""
    own: dict[str, Any] = {"kind": "openai"}
    assert codes(source, settings(providers={"acme": own})) == ["WF106"]
    assert codes(source, settings(providers={"acme": {**own, "embeddingModel": "m"}})) == []
    assert codes(source, settings(providers={"acme": {**own, "defaultModel": "m"}})) == []


@pytest.mark.parametrize(
    ("until", "judged", "local"),
    [
        ("The output says READY", [], []),
        ("It is done", ["WF701"], ["WF701"]),
        ("The text is at most 90 words long", [], ["WF701"]),
        ("The output contains {{input}} and {{input}} and {{input}}", ["WF703"], []),
        (f'The output contains READY or "{"x" * 150}"', ["WF709"], []),
    ],
)
def test_a_condition_that_is_decided_by_looking_is_not_judged(until: str, judged: list[str], local: list[str]) -> None:
    source = f"loops:\n  - {{name: polish, workflow: draft, max_iterations: 3, until: '{until}'}}\n{DRAFT}"
    assert codes(source, settings()) == judged
    assert codes(source, settings(judge={"local": True})) == local
    named = {"local": True, "provider": "openai", "model": "gpt-4o"}
    assert codes(source, settings(judge=named)) == [code for code in judged if code == "WF701"]


def test_WF704_counts_what_the_project_allows() -> None:
    source = f'loops:\n  - {{name: polish, workflow: draft, max_iterations: 200, until: "It says READY"}}\n{DRAFT}'
    for most, found in ((None, ["WF704"]), (100, ["WF704"]), (20, [])):
        assert codes(source, settings(limits={"maxIterations": most} if most else {})) == found


def test_WF901_knows_every_provider_that_the_engine_runs_by_name() -> None:
    assert set(KNOWN) == {*PROVIDERS, *RUN_BY_NAME}
    check_findings("""
        execution: {provider: scripted, model: m}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """)


@pytest.mark.parametrize(("level", "expected"), [(None, [2]), ("error", [1]), ("hint", [4]), ("off", [])])
def test_a_level_in_the_settings_is_that_of_the_finding(level: str | None, expected: list[int]) -> None:
    source = 'steps:\n  - {name: greet, timeout: 0s, run: "Greet {{input}}"}\n'
    given = settings(rules={"WF118": level} if level else {})
    found = findings_of(read_fixture(source), settings=given)["flow.yaml"]
    assert [one.severity for one in found] == expected
