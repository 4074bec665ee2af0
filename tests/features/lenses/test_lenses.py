"""Lenses: what may be started, what is going on, how it ended."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import pytest

from loop_ls.contract.run_view.parts import Verdict
from loop_ls.features.answers import Lens, LoopView, ShownRun
from loop_ls.features.lenses.lenses import lenses
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace

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
    #- polish.yaml
    $schema: workflow/v2.0
    name: polish
    version: 1.0.0
    steps:
      - {name: write, run: "Write {{input}}"}
      - {name: review, run: "PASS or FAIL: {{write}}"}
"""
URI = "file:///w/flow.yaml"


def shown(ask: Any, *runs: ShownRun, source: str = FLOW) -> list[str]:
    """`line: title [command argument]`; what stands on the first line is looked at in test_rounds."""
    asked = ask(source)
    out = []
    for lens in lenses(asked.workspace, asked.document, runs):
        if lens.span.start.line == 0:
            continue
        command = f" [{lens.command.name}]" if lens.command else ""
        out.append(f"{lens.span.start.line + 1}: {lens.title}{command}")
    return out


def found(ask: Any, title: str) -> Lens:
    asked = ask(FLOW)
    return next(lens for lens in lenses(asked.workspace, asked.document) if lens.title == title)


def test_what_may_be_run_and_what_it_costs_at_most(ask: Any) -> None:
    assert shown(ask) == [
        "2: ▶ Run workflow [loopLs.run]",
        "2: ≤ 22 calls",
        "6: ▶ Run loop [loopLs.run]",
        "6: ≤ 2 iterations · ≤ 6 calls, 7 with dependencies",
        "10: ▶ Run loop [loopLs.run]",
        "10: ≤ 5 iterations · ≤ 15 calls",
    ]


def test_the_argument_names_file_and_target(ask: Any) -> None:
    assert found(ask, "▶ Run workflow").command.argument == {"uri": URI, "target": {"kind": "workflow"}}  # type: ignore[union-attr]
    targets = [
        lens.command.argument["target"]
        for lens in lenses(ask(FLOW).workspace, ask(FLOW).document)
        if lens.command is not None and lens.command.name == "loopLs.run"
    ]
    assert targets[1:] == [{"kind": "step", "name": "twice"}, {"kind": "loop", "name": "refine"}]


def test_a_run_that_has_ended_can_be_gone_on_from_any_step_but_the_first(ask: Any) -> None:
    asked = ask(FLOW)

    def offered(**more: Any) -> list[tuple[int, Any]]:
        run = ShownRun("r1", URI, "workflow", "flow", **{"status": "failed", **more})
        found = [one for one in lenses(asked.workspace, asked.document, (run,)) if one.title == "▷ Run from here"]
        return [(one.span.start.line + 1, one.command and one.command.argument) for one in found]

    part = {"uri": URI, "target": {"kind": "workflow"}, "outputsOf": "r1"}
    assert offered() == [(6, {**part, "startFrom": "twice"}), (10, {**part, "startFrom": "refine"})]
    assert offered(status="running") == []
    assert offered(mock=True) == []
    assert not any(one.title == "▷ Run from here" for one in lenses(asked.workspace, asked.document))


def test_calls_that_cannot_be_counted_are_not_told(ask: Any) -> None:
    source = FLOW.replace("workflow: polish\n        max", "workflow: nowhere\n        max")
    assert shown(ask, source=source)[-1] == "10: ≤ 5 iterations"
    assert "≤ 22 calls" not in shown(ask, source=source)


def running(status: str = "running", kind: str = "loop", **more: Any) -> ShownRun:
    verdicts = (Verdict(1, "no"), Verdict(2, "no"))
    loops = more.pop("loops", {"refine": LoopView("refine", status, 3, 5, verdicts=verdicts)})
    name = "flow" if kind == "workflow" else "refine"
    return ShownRun("r1", URI, kind, name, status, cost_usd=0.031, elapsed_ms=41000, loops=loops, **more)


def test_a_running_loop_can_be_paused_and_stopped(ask: Any) -> None:
    assert shown(ask, running())[-4:] == [
        "10: ⏸ Pause [loopLs.pause]",
        "10: Open run [loopLs.history]",
        "10: ⏹ Stop [loopLs.stop]",
        "10: iteration 3/5 · 2 NO · $0.031 · 00:41",
    ]


def test_a_run_that_is_shown_can_be_opened(ask: Any) -> None:
    asked = ask(FLOW)
    opened = [one for one in lenses(asked.workspace, asked.document, (running(),)) if one.title == "Open run"]
    assert [one.command.argument for one in opened if one.command] == [{"runId": "r1", "show": True}]


@pytest.mark.parametrize(
    ("status", "titles"),
    [
        (
            "paused",
            ["▶ Resume [loopLs.resume]", "⏹ Stop [loopLs.stop]", "paused · iteration 3/5 · 2 NO · $0.031 · 00:41"],
        ),
        ("stopping", ["stopping… · iteration 3/5 · 2 NO · $0.031 · 00:41"]),
    ],
)
def test_controls_fit_the_status(ask: Any, status: str, titles: list[str]) -> None:
    own = [line.removeprefix("10: ") for line in shown(ask, running(status)) if line.startswith("10:")]
    assert own == [titles[0], "Open run [loopLs.history]", *titles[1:]]


def test_a_run_of_the_whole_workflow_is_controlled_at_its_name(ask: Any) -> None:
    lines = shown(ask, running(kind="workflow"))
    assert lines[:4] == [
        "2: ⏸ Pause [loopLs.pause]",
        "2: Open run [loopLs.history]",
        "2: ⏹ Stop [loopLs.stop]",
        "2: refine: iteration 3/5 · 2 NO · $0.031 · 00:41",
    ]
    assert lines[-1] == "10: iteration 3/5 · 2 NO · $0.031 · 00:41"


def test_a_loop_whose_dependencies_still_run(ask: Any) -> None:
    assert shown(ask, running(loops={}))[-1] == "10: starting · $0.031 · 00:41"


@pytest.mark.parametrize(
    ("loop", "status", "text"),
    [
        (LoopView("refine", "completed", 3, 5, "condition_met"), "completed", "✓ condition met in iteration 3"),
        (
            LoopView("refine", "completed", 5, 5, "max_iterations"),
            "completed",
            "◼ limit reached after 5 iterations, condition not met",
        ),
        (LoopView("refine", "failed", 2, 5, "error", error="boom"), "failed", "✗ failed in iteration 2: boom"),
        (LoopView("refine", "cancelled", 2, 5, "user"), "cancelled", "■ stopped in iteration 2"),
    ],
)
def test_UP_51_the_last_result(ask: Any, loop: LoopView, status: str, text: str) -> None:
    lines = shown(ask, running(status, loops={"refine": loop}))
    again, opened = "10: ▶ Run loop again [loopLs.run]", "10: Open run [loopLs.history]"
    assert lines[-3:] == [again, opened, f"10: {text} · $0.031 · 00:41"]


def test_a_crash_in_between_is_told(ask: Any) -> None:
    lines = shown(ask, running(recovered=True, paid_twice=True))
    assert lines[-1].endswith("recovered after a restart; one call may have been billed twice")


def test_runs_of_other_files_do_not_show(ask: Any) -> None:
    other = ShownRun("r2", "file:///w/other.yaml", "loop", "refine", "running", loops={})
    assert shown(ask, other) == shown(ask)


def test_no_lens_in_other_files_and_none_on_a_file_without_elements(ask: Any) -> None:
    assert shown(ask, source="#- a.yaml\na: 1\n") == []
    assert shown(ask, source="#- a.yaml\n$schema: workflow/v2.0\nname: x\n") == []


def test_a_workflow_says_how_often_it_is_called(ask: Any) -> None:
    asked = ask("steps:\n  - name: a\n    run: b$0\n")
    name = asked.document.name
    caller = Document.open(
        "file:///w/caller.yaml",
        "$schema: workflow/v2.0\nname: caller\nsteps:\n"
        f"  - {{name: one, template: {{name: {name}}}}}\n  - {{name: two, template: {{name: {name}}}}}\n",
    )
    workspace = asked.workspace.with_document(caller)
    assert "2 references" in [lens.title for lens in lenses(workspace, asked.document)]
    assert not [lens for lens in lenses(asked.workspace, asked.document) if "reference" in lens.title]


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "vscode-vfs://github/a/b/flow.yaml"])
def test_a_text_that_is_no_file_says_that_it_must_be_saved_and_starts_nothing(uri: str) -> None:
    text = cleandoc(FLOW).partition("#- flow.yaml\n")[2].partition("#- polish.yaml")[0]
    opened = Document.open(uri, text)
    told = lenses(Workspace.of(Roots("/w"), [opened]), opened)
    assert [lens.title for lens in told if lens.command or "Save" in lens.title] == ["Save this file to run it"]
