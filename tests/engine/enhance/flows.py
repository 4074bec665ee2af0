"""Workflows and planning cases for the tests of enhance loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.ops.operations import Operation
from loop_ls.engine.enhance.plan.apply import Planned, Planning
from loop_ls.engine.enhance.plan.plan_context import PlanContext, maxima
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy
from loop_ls.formats.common.target import Target
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Severity

FLOW = """\
$schema: workflow/v2.0
name: report   # ours
version: 1.0.0
description: Writes a report
execution: {provider: ollama, model: llama3.2, skills: [tables]}
steps:
  # the first words
  - name: draft
    run: |
      Write about {{input}}.

      Keep it short.
  - name: review
    provider: openai
    model: gpt-4o
    needs: [draft]
    if: "{{input}}"
    run: Review {{draft}}   # strictly
  - name: publish
    run: Publish {{review}}
loops:
  - name: polish
    workflow: shorten
    with: {draft: "{{draft}}"}
    max_iterations: 5
    until: The text has one paragraph
  - name: each
    workflow: shorten
    mode: iterate
    items: "{{draft}}"
    max_iterations: 10
    min_success_rate: 0.8
"""
CALLEE = """\
$schema: workflow/v2.0
name: shorten
version: 1.0.0
execution: {provider: ollama, model: llama3.2}
steps:
  - name: go
    run: Shorten {{draft}} or {{item}}
"""
POOL = (Target("anthropic", "claude-haiku-4-5"),)


def start(text: str = FLOW, callee: str = CALLEE) -> WorkingCopy:
    documents = [Document.open("file:///root/report.yaml", text), Document.open("file:///root/shorten.yaml", callee)]
    return WorkingCopy(Workspace.of(Roots("/root"), documents), documents[0])


def errors_of(copy: WorkingCopy) -> Sequence[str]:
    found = Checker().findings(copy.workspace, copy.document)
    return [f"{one.rule}: {one.message}" for one in found if one.severity is Severity.ERROR]


@dataclass(frozen=True)
class PlanningCase:
    """Plans on one workflow; `known` and the limits can be set."""

    copy: WorkingCopy
    known: PlanContext
    most_ops: int = 8
    most_steps: int = 5
    earlier: Mapping[int, str] | None = None
    baseline: Mapping[str, Any] | None = None

    def plan(self, *ops: Any) -> Planned:
        baseline = replace(Baseline.of(self.copy.workspace, self.copy.document), **(self.baseline or {}))
        planning = Planning(self.known, baseline, errors_of, self.earlier or {}, self.most_ops, self.most_steps)
        return planning.plan(self.copy, ops)

    def taken(self, **op: Any) -> str:
        """The text after one operation that has to be accepted."""
        planned = self.plan(op)
        assert not planned.refused, planned.refused
        assert [one.op for one in planned.accepted] == [op["op"]]
        return planned.copy.text

    def code(self, **op: Any) -> str:
        """Why one operation is refused. Nothing may have changed then."""
        planned = self.plan(op)
        assert planned.accepted == ()
        assert planned.copy.text == self.copy.text
        [refusal] = planned.refused
        assert refusal.message
        return refusal.code

    def with_(self, **known: Any) -> PlanningCase:
        return replace(self, known=replace(self.known, **known))


def planning_case(text: str = FLOW, **known: Any) -> PlanningCase:
    copy = start(text)
    usual = PlanContext(
        pool=POOL,
        skills=frozenset({"tables"}),
        first_maxima=maxima(copy.document),
        workflow_exists=lambda reference: reference == "shorten",
    )
    return PlanningCase(copy, replace(usual, **known))


def added(before: str, after: str) -> list[str]:
    """The lines that came to a text; every line that was there must still be, in its order."""
    new = after.splitlines()
    for line in before.splitlines():
        new.remove(line)
    return new


def ops_of(planned: Planned) -> list[str]:
    return [op.op for op in planned.accepted]


def op_named(planned: Planned, name: str) -> Operation:
    return next(op for op in planned.accepted if op.op == name)
