"""What views of tests list: everything that can be started, and where it is judged."""

from __future__ import annotations

from typing import Any

from loop_ls.features.runs.runnable import Runnable
from loop_ls.features.runs.runnables import runnables

FLOW = """
    #- flow.yaml
    $schema: workflow/v2.0
    name: flow
    version: 1.0.0
    steps:
      - {name: plan, run: "Plan {{input}}"}
      - name: twice
        needs: [plan]
        loop: {workflow: polish, max_iterations: 2, until: "The review says PASS"}
    loops:
      - name: refine
        workflow: polish
        max_iterations: 5
        until: "The review says PASS"
"""
ASSISTANTS = """
    #- team.assistant.yaml
    assistants:
      - name: Fix It
        loopEnabled: true
        loopCriteria: {type: regex, value: "DONE"}
      - name: idle
        loopEnabled: false
"""
DEFINITION = """
    #- loops/review.json
    {"name": "review", "roles": [{"role": "writer", "prompt": "write"}],
     "termination_condition": {"type": "iteration_bound", "max_iterations": 2}}
"""


def listed(ask: Any, source: str) -> list[Runnable]:
    return list(runnables(ask(source).document))


def test_a_workflow_lists_its_loops_and_the_lines_of_their_conditions(ask: Any) -> None:
    [flow] = listed(ask, FLOW)
    assert (flow.kind, flow.name, flow.span.start.line) == ("workflow", "flow", 1)
    assert [(one.kind, one.name, one.span.start.line, one.judged.start.line) for one in flow.inner] == [
        ("step", "twice", 5, 7),
        ("loop", "refine", 9, 12),
    ]


def test_only_assistants_whose_loop_is_on_are_listed(ask: Any) -> None:
    [one] = listed(ask, ASSISTANTS)
    assert (one.kind, one.name, one.label, one.span.start.line, one.judged.start.line) == (
        *("assistant", "fix-it", "Fix It"),
        *(1, 3),
    )


def test_a_role_loop_is_judged_where_it_says_how_it_ends(ask: Any) -> None:
    [one] = listed(ask, DEFINITION)
    assert (one.kind, one.name, one.span.start.line, one.judged.start.line) == ("definition", "review", 0, 1)


def test_a_settings_file_lists_nothing(ask: Any) -> None:
    assert listed(ask, "\n    #- .loop-ls.yaml\n    rules: {}\n") == []
