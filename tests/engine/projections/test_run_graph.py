"""The graph of a run: what waits for what, what a loop calls, and what no text gives."""

from __future__ import annotations

from typing import Any

from loop_ls.engine.core.plan import Plan
from loop_ls.engine.projections.run_graph import graph_of

FLOW = """$schema: workflow/v2.0
name: flow
version: 1.0.0
steps:
  - {name: plan, run: "Plan {{input}}"}
  - {name: report, needs: [develop], run: "Tell of {{plan}}"}
loops:
  - name: develop
    workflow: dev
    with: {subject: "{{plan}}"}
    max_iterations: 5
    until: "The review says PASS"
"""
DEV = """$schema: workflow/v2.0
name: dev
version: 1.0.0
steps:
  - {name: write, run: "Write {{subject}}"}
  - {name: review, needs: [write], run: "Look at {{write}}"}
  - {name: again, template: {name: dev}}
"""


def plan(**more: Any) -> Plan:
    values: dict[str, Any] = {
        "run_id": "r",
        "format": "workflow",
        "root": "/w",
        "name": "flow",
        "path": "flow.yaml",
        "texts": {"flow.yaml": FLOW, "dev.yaml": DEV},
        "keys": {"flow": "flow.yaml", "dev": "dev.yaml"},
    }
    return Plan(**(values | more))


def test_elements_with_what_they_wait_for_and_call() -> None:
    nodes = {node["name"]: node for node in graph_of(plan())}
    assert list(nodes) == ["plan", "report", "develop"]
    assert nodes["plan"] == {"name": "plan", "kind": "step", "mode": "run", "needs": []}
    assert sorted(nodes["report"]["needs"]) == ["develop", "plan"]
    develop = nodes["develop"]
    assert (develop["kind"], develop["mode"], develop["needs"]) == ("loop", "refine", ["plan"])
    assert (develop["condition"], develop["maxIterations"]) == ("The review says PASS", 5)
    inner = [(node["name"], node["needs"]) for node in develop["inner"]]
    assert inner == [("write", []), ("review", ["write"]), ("again", [])]


def test_a_workflow_that_calls_itself_is_drawn_once() -> None:
    [*_, develop] = graph_of(plan())
    again = develop["inner"][-1]
    assert (again["mode"], again["workflow"]) == ("template", "dev")
    assert "inner" not in again


def test_only_what_was_asked_for_is_there() -> None:
    nodes = graph_of(plan(elements=("plan", "develop"), target_kind="loop", target_name="develop"))
    assert [node["name"] for node in nodes] == ["plan", "develop"]


def test_texts_that_make_no_graph_give_none() -> None:
    assert graph_of(plan(texts={"flow.yaml": "name: [", "dev.yaml": DEV})) == []
    assert graph_of(plan(keys={})) == []


def test_a_role_loop_goes_from_stage_to_stage() -> None:
    stages = [{"role": "architect", "label": "plan"}, {"role": "coder", "label": "make"}]
    [loop] = graph_of(plan(format="role_loop", details={"stages": stages}, limits={"maxIterations": 4}))
    assert (loop["kind"], loop["maxIterations"]) == ("loop", 4)
    assert [(node["name"], node["needs"]) for node in loop["inner"]] == [("plan", []), ("make", ["plan"])]


def test_an_assistant_is_one_agent_in_a_loop() -> None:
    [loop] = graph_of(plan(format="assistant", name="Writer"))
    assert [node["name"] for node in loop["inner"]] == ["agent"]
