"""Run case above each test case of a workflow."""

from __future__ import annotations

from typing import Any

from loop_ls.features.lenses.lenses import lenses

CASES = """
    #- flow.cases.yaml
    tests:
      - {name: sea, vars: {input: the sea}}
      - {name: late, skip: not written yet}
      - {vars: {input: nameless}}
      - name: town
        vars: {input: the town}
    #- flow.yaml
    $schema: workflow/v2.0
    name: flow
    version: 1.0.0
    steps:
      - {name: draft, run: "Write about {{input}}"}
"""


def test_each_case_that_is_not_left_out_can_be_run_with_its_checks(ask: Any) -> None:
    asked = ask(CASES)
    found = [(one.span.start.line + 1, one.title, one.command) for one in lenses(asked.workspace, asked.document)]
    assert [(line, title, command and command.argument["check"]) for line, title, command in found] == [
        (2, "▶ Run case", {"case": "sea"}),
        (5, "▶ Run case", {"case": "town"}),
    ]
    assert found[0][2].argument["uri"].endswith("/flow.yaml")
    alone = ask(CASES.partition("    #- flow.yaml")[0])
    assert lenses(alone.workspace, alone.document) == ()


def test_cases_of_an_assistant_are_run_in_the_same_way(ask: Any) -> None:
    asked = ask("""
        #- fixer.cases.yaml
        tests: [{name: se$0a, vars: {input: the sea}, assert: [{type: is-json}]}]
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair.
        loopEnabled: true
    """)
    [lens] = lenses(asked.workspace, asked.document)
    assert lens.command is not None
    told = lens.command.argument
    assert (told["uri"].rpartition("/")[2], told["check"]) == ("fixer.assistant.yaml", {"case": "sea"})
