"""The bounds that a lens, a hover and an estimate tell of the same run are one number."""

from __future__ import annotations

import re
from typing import Any

import pytest

from loop_ls.features.estimate.estimate import estimate, run_calls
from loop_ls.features.hover.hover import hover
from loop_ls.features.lenses.lenses import lenses
from loop_ls.formats.settings.model import Settings, read_settings
from loop_ls.index.calls import CallTable, element_calls
from loop_ls.index.disk.roots import Roots
from loop_ls.index.workspace import Workspace

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
execution: {provider: ollama, model: llama3.2}
steps:
  - {name: plan, run: "Plan {{input}}"}
  - {name: ask, consensus: {prompt: "x", executions: [{provider: a, model: b}, {provider: c, model: d}]}}
loops:
  - name: ref$0ine
    workflow: polish
    with: {text: "{{plan}}"}
    max_iterations: 4
    until: "The review says PASS"
  - name: each
    workflow: polish
    mode: iterate
    items: "{{plan}}"
    max_iterations: 3
#- polish.yaml
$schema: workflow/v2.0
name: polish
version: 1.0.0
steps:
  - {name: write, run: "Write {{text}}"}
  - {name: review, run: "Say PASS: {{write}}"}
"""
ROUNDS = "enhance:\n  workflows:\n    flow: {enabled: true}\n"
LOCAL = "judge: {local: true}\n"
LIMIT = "limits: {maxIterations: 2}\n"


def project(ask: Any, settings: str) -> tuple[Workspace, Any, Any]:
    asked = ask(FLOW)
    read: Settings = read_settings(settings)[0] if settings else Settings()
    return Workspace.of(Roots("/w"), asked.documents.values(), read), asked.document, asked


def most(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"([\d,]+)(?: model)? calls?\b", text)]


@pytest.mark.parametrize("settings", ["", LOCAL, ROUNDS, ROUNDS + LOCAL, LIMIT])
def test_the_lens_of_a_workflow_and_its_estimate_agree(ask: Any, settings: str) -> None:
    workspace, document, _ = project(ask, settings)
    shown = [lens.title for lens in lenses(workspace, document) if re.fullmatch(r"≤ [\d,]+ calls", lens.title)]
    assert [most(title) for title in shown] == [[estimate(workspace, document).calls.most]]
    assert run_calls(workspace, document) == estimate(workspace, document).calls


def test_rounds_and_plans_are_in_the_lens(ask: Any) -> None:
    plain, document, _ = project(ask, "")
    rounds, again, _ = project(ask, ROUNDS)
    once, whole = run_calls(plain, document).most, run_calls(rounds, again).most
    assert once is not None and whole is not None
    assert whole > once * 2


@pytest.mark.parametrize(("settings", "own", "judged"), [("", 12, True), (LOCAL, 8, False)])
def test_a_judge_is_counted_and_told_only_where_a_model_is_asked(
    ask: Any, settings: str, own: int, judged: bool
) -> None:
    workspace, document, asked = project(ask, settings)
    loop = next(element for element in document.elements if element.name == "refine")
    (lens,) = (one.title for one in lenses(workspace, document) if one.title.startswith("≤ 4 iterations"))
    found = estimate(workspace, document, loop)
    asked.__dict__["workspace"] = workspace
    assert lens == f"≤ 4 iterations · ≤ {own} calls, {own + 1} with dependencies"
    assert found.calls.most == own + 1
    assert f"{own} calls in total{', including the judge' if judged else ''}." in found.why
    assert f"Worst case: {own} model calls" in asked.told
    assert ("judge" in asked.told) is judged


def test_a_loop_that_is_judged_locally_runs_at_least_once(ask: Any) -> None:
    plain, local = (project(ask, settings) for settings in ("", LOCAL))
    loops = [next(one for one in document.elements if one.name == "refine") for _, document, _ in (plain, local)]
    judged, looked = (estimate(one[0], one[1], loop) for one, loop in zip((plain, local), loops, strict=True))
    assert looked.calls.least == judged.calls.least - 1 > 0


def test_the_limit_of_the_project_counts_where_it_is_lower(ask: Any) -> None:
    workspace, document, asked = project(ask, LIMIT)
    loops = [lens.title for lens in lenses(workspace, document) if " · ≤ " in lens.title]
    assert loops == [
        "≤ 2 iterations · ≤ 6 calls, 7 with dependencies",
        "≤ 2 items · ≤ 4 calls, 5 with dependencies",
    ]
    told = hover(workspace, document, asked.at)
    assert told is not None
    assert "at most 2 iterations" in told.text
    assert "Worst case: 6 model calls (3 calls per iteration" in told.text
    found = estimate(workspace, document)
    assert "`refine`: at most 2 iterations, 6 calls in total" in found.why
    plain, again, _ = project(ask, "limits: {maxIterations: 50}\n")
    assert estimate(plain, again).calls == estimate(*project(ask, "")[:2]).calls


DEFINITION = """
#- loops/fix.json
{"name": "fix", "description": "d", "roles": [{"role": "coder", "prompt": "x"}],
 "termination_condition": {"type": "iteration_bound", "value": 5}}
"""


@pytest.mark.parametrize(("settings", "most"), [("", 5), (LIMIT, 2), ("limits: {maxIterations: 9}\n", 5)])
def test_so_it_does_for_definitions(ask: Any, settings: str, most: int) -> None:
    asked = ask(DEFINITION)
    read = read_settings(settings)[0] if settings else Settings()
    workspace = Workspace.of(Roots("/w"), asked.documents.values(), read)
    titles = [lens.title for lens in lenses(workspace, asked.document)]
    assert f"1 stage · ≤ {most} iterations" in titles
    assert f"At most {most} iterations" in estimate(workspace, asked.document).why


@pytest.mark.parametrize("settings", ["", LOCAL, LIMIT])
def test_what_a_loop_costs_with_its_dependencies_is_what_its_estimate_says(ask: Any, settings: str) -> None:
    workspace, document, _ = project(ask, settings)
    table = CallTable(workspace, document)
    for position, element in enumerate(document.elements):
        assert table.of(position) == element_calls(workspace, document, element)
        assert table.with_dependencies(position) == estimate(workspace, document, element).calls
