"""What people reported of the results of loops, each report with its number."""

from __future__ import annotations

from typing import Any

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
execution: {provider: ollama, model: llama3.2}
loops:
  - {name: polish, workflow: draft, max_iterations: 3, until: Good, accumulate: drafts, with: {before: "%(before)s"}}
steps:
  - {name: post, run: "Publish %(after)s"}
#- draft.yaml
$schema: workflow/v2.0
name: draft
version: 1.0.0
execution: {provider: ollama, model: llama3.2}
steps:
  - {name: write, run: "Write {{before}}"}
"""


def test_UP_79_the_results_of_a_loop_are_offered_behind_it_with_where_they_come_from(ask: Any) -> None:
    asked = ask(FLOW % {"before": "x", "after": "{{po$0}}"})
    assert "polish" in asked.labels
    assert "loop" in asked.item("polish").detail
    assert "drafts" in ask(FLOW % {"before": "x", "after": "{{$0}}"}).labels
    assert "polish" in ask(FLOW % {"before": "x", "after": "{{dr$0}}"}).item("drafts").detail


def test_UP_79_inside_the_loop_its_own_result_is_not_there_yet(ask: Any) -> None:
    labels = ask(FLOW % {"before": "{{$0}}", "after": "x"}).labels
    assert not {"polish", "drafts"} & set(labels)
