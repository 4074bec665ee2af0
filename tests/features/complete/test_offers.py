"""Offers that depend on what is around them: the `$schema` line, comparisons, keys that mean something here."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from loop_ls.index.document import Document

#: Before and after accepting `$schema`.
SCHEMA_LINES = [
    ("$schema: $0", "$schema: workflow/v2.0"),
    ("$schema:$0", "$schema: workflow/v2.0"),
    ('$schema: "$0"', '$schema: "workflow/v2.0"'),
    ("$schema: wor$0", "$schema: workflow/v2.0"),
    ("$schema: wor$0k", "$schema: workflow/v2.0"),
    ("$sch$0", "$schema: workflow/v2.0"),
    ("$$0", "$schema: workflow/v2.0"),
    ("sch$0", "$schema: workflow/v2.0"),
    ('"$sch$0"', "$schema: workflow/v2.0"),
    ("name: x\n$0", "name: x\n$schema: workflow/v2.0"),
    ("$0", "$schema: workflow/v2.0"),
    (
        "$schema: $0\nname: x\nsteps:\n  - {name: a, run: b}",
        "$schema: workflow/v2.0\nname: x\nsteps:\n  - {name: a, run: b}",
    ),
    ("name: x\nsteps:\n  - {name: a, run: b}\n$0", "name: x\nsteps:\n  - {name: a, run: b}\n$schema: workflow/v2.0"),
]


@pytest.mark.parametrize(("typed", "expected"), SCHEMA_LINES)
def test_the_line_that_makes_a_file_a_workflow_is_completed(ask: Any, typed: str, expected: str) -> None:
    asked = ask(typed, head=False)
    label = next(one for one in asked.labels if one in ("workflow/v2.0", "$schema"))
    text = asked.accepted(label)
    assert text.rstrip("\n") == expected
    assert Document.open(asked.document.uri, text).format == "workflow"


@pytest.mark.parametrize(
    "typed",
    ["on: push\n$0", "name: x\nservices: {}\n$sch$0", "kind: Pod\n$0", "- a\n$0", "a: $0", "name: $0", "a:\n  $sch$0"],
)
def test_files_of_others_get_no_offer(ask: Any, typed: str) -> None:
    assert ask(typed, head=False).labels == []


STEPS = """
steps:
  - {name: review, run: "Start with PASS or FAIL: {{input}}"}
  - {name: sub, template: {name: judge_it}}
  - name: last
    if: %s
    run: "x"
#- judge_it.yaml
$schema: workflow/v2.0
name: judge_it
version: 1.0.0
steps:
  - {name: only, run: "Say APPROVED if it is fine"}
"""


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ('"{{review}} == $0"', "\"{{review}} == 'PASS'\""),
        ('"{{review}} $0"', "\"{{review}} == 'PASS'\""),
        ('"{{review}}$0"', "\"{{review}} == 'PASS'\""),
        ("\"{{review}} == '$0'\"", "\"{{review}} == 'PASS'\""),
        ('"{{review}} == \'PA$0"', "\"{{review}} == 'PASS'\""),
        ("'{{review}} == $0'", "'{{review}} == ''PASS'''"),
        ('"${{ review == $0 }}"', "\"${{ review == 'PASS' }}\""),
        ('"{{step.review}} == $0"', "\"{{step.review}} == 'PASS'\""),
    ],
)
def test_if_offers_the_words_that_the_step_is_told_to_write(ask: Any, typed: str, expected: str) -> None:
    asked = ask(STEPS % typed)
    assert asked.labels[0] == "== PASS"
    assert "== FAIL" in asked.labels
    assert asked.accepted_line("== PASS") == f"    if: {expected}"
    assert yaml.safe_load(asked.accepted("== PASS"))


def test_if_keeps_the_operator_that_is_written(ask: Any) -> None:
    asked = ask(STEPS % '"{{sub}} != $0"')
    assert asked.labels == ["!= APPROVED", "!= empty"]
    assert asked.accepted_line("!= APPROVED") == "    if: \"{{sub}} != 'APPROVED'\""


@pytest.mark.parametrize(("strategy", "offered"), [("halt", False), ("continue", False), ("retry", True), ("", True)])
def test_keys_of_retries_are_offered_where_failures_are_repeated(ask: Any, strategy: str, offered: bool) -> None:
    entry = f"on_failure: {strategy}".rstrip()
    loop = f"loops:\n  - name: l\n    workflow: w\n    {entry}\n    $0\n"
    step = f"steps:\n  - name: l\n    run: w\n    {entry}\n    $0\n"
    for source in (loop, step):
        assert ("max_retries" in ask(source).labels) is offered
