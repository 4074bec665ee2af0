"""The numbered behaviours of assistant files: what is loaded, and what is reported."""

from __future__ import annotations

import json

import pytest

from loop_ls.formats.assistant.read import read_assistant
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of

PATH = "fixer.assistant.yaml"
HEAD = "name: Fixer\npersona: You repair things.\nmaxBudgetUsd: 0.5\nloopEnabled: true\n"


def found(text: str, rule: str | None = None) -> list[tuple[str, str, str]]:
    """Rule, severity and marked text of every finding, or of those of one rule."""
    fixture = read_fixture(text, PATH, head=False)
    lines = fixture.main.text.split("\n")
    marks = []
    for one in findings_of(fixture)[PATH]:
        (line, column), (_, end) = one.span
        marks.append((one.rule, one.severity.name.lower(), lines[line][column:end]))
    return [mark for mark in marks if rule in (None, mark[0])]


def criteria(type_: str, value: str) -> list[tuple[str, str, str]]:
    return found(f"{HEAD}maxIterations: 1\nloopCriteria: {{type: {type_}, value: {json.dumps(value)}}}\n")


def test_AB_001_a_file_without_loop_keys_has_their_defaults() -> None:
    loaded = read_assistant("name: A\npersona: P\n")
    assert not isinstance(loaded, list)
    assert (loaded.loop_enabled, loaded.criteria, loaded.max_iterations) == (False, None, 10)


@pytest.mark.parametrize("written", ["0", "101", "2.5", '"5"', "true"])
def test_AB_002_a_limit_out_of_range_is_reported_on_its_value(written: str) -> None:
    assert found(f"{HEAD}loopCriteria: {{type: max_iterations}}\nmaxIterations: {written}\n") == [
        ("AL021", "error", written)
    ]


@pytest.mark.parametrize("written", ["1", "100"])
def test_AB_003_the_ends_of_the_range_are_fine(written: str) -> None:
    assert found(f"{HEAD}loopCriteria: {{type: max_iterations}}\nmaxIterations: {written}\n") == []


def test_AB_004_an_unknown_type_gets_the_nearest_one() -> None:
    fixture = read_fixture(f"{HEAD}loopCriteria: {{type: regexp, value: x}}\n", PATH, head=False)
    finding = next(one for one in findings_of(fixture)[PATH] if one.rule == "AL005")
    assert finding.severity.name == "ERROR"
    assert "did you mean `regex`?" in finding.message


def test_AB_005_a_pattern_that_does_not_compile_is_an_error_at_its_value() -> None:
    assert criteria("regex", "(") == [("AL011", "error", '"("')]


def test_AB_006_an_empty_pattern_is_an_error() -> None:
    assert criteria("regex", "") == [("AL009", "error", '""')]


def test_AB_007_syntax_of_a_shell_is_warned_about() -> None:
    assert [(rule, severity) for rule, severity, _ in criteria("test_pass", "npm test && echo ok")][:1] == [
        ("AL017", "warning")
    ]


def test_AB_008_quotes_are_warned_about() -> None:
    assert ("AL018", "warning") in [(rule, severity) for rule, severity, _ in criteria("test_pass", 'pytest -k "a"')]


def test_AB_009_a_value_that_nobody_looks_at_is_a_hint() -> None:
    assert ("AL020", "hint", '"x"') in criteria("manual", "x")
    assert [rule for rule, _, _ in criteria("manual", "")] == []


def test_AB_156_every_extension_is_known() -> None:
    text = """
name: A
persona: P
id: own
maxBudgetUsd: 1
loopEnabled: true
approvalTimeoutSeconds: 60
maxTotalBudgetUsd: 5
maxDurationSeconds: 600
stallAfter: 3
retry: {attempts: 2, backoffSeconds: 1}
loopCriteria:
  type: test_pass
  argv: [pytest, -q]
  timeoutSeconds: 30
  cwd: .
  includeOutput: true
"""
    assert found(text, "AL003") == []
    assert [mark for _, _, mark in found(text + "stalAfter: 3\n", "AL003")] == ["stalAfter"]


def test_UP_53_a_pattern_that_the_persona_holds_is_told() -> None:
    text = "name: W\npersona: Print DONE only when all scenes exist.\nmaxBudgetUsd: 1\nloopEnabled: true\n"
    told = found(f"{text}loopCriteria: {{type: regex, value: done}}\nmaxIterations: 8\n")
    assert ("AL014", "information", "done") in told
