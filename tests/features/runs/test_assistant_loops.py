"""Assistants while they run, and the switch of their loop: numbered behaviours of the interface."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from loop_ls.features.actions.toggle_loop import loop_switch
from loop_ls.features.answers import ShownRun
from loop_ls.features.complete.completion import complete
from loop_ls.features.estimate.estimate import estimate
from loop_ls.features.lenses.lenses import lenses
from loop_ls.features.runs.run_findings import run_findings
from loop_ls.formats.assistant.read import read_assistants
from loop_ls.server.runs.progress import RunProgress, report
from loop_ls.text.lines import Text
from loop_ls.text.position import Position
from tests.features.conftest import Ask
from tests.features.viewed import viewed

YAML = "fixer.assistant.yaml"
TWO = """\
assistants:
  - name: Fixer
    persona: p
    loopEnabled: true
    loopCriteria: {type: regex, value: green}
    maxIterations: 10
  - name: Writer
    persona: p
    loopEnabled: true
"""


def state(done: int, status: str = "running", name: str = "fixer", **more: Any) -> dict[str, Any]:
    return {
        "runId": "r1",
        "format": "assistant",
        "name": "Fixer",
        "uri": "",
        "target": {"kind": "assistant", "name": name},
        "status": status,
        "iteration": done + 1 if status == "running" else done,
        "maxIterations": 10,
        "progressLog": [f"learning {number}" for number in range(done)],
        **more,
    }


def titles(ask: Ask, *states: dict[str, Any]) -> list[str]:
    one = ask(f"{TWO}$0", None, False, YAML)
    return [lens.title for lens in lenses(one.workspace, one.document, [viewed(each) for each in states])]


@dataclass
class Record:
    """What the progress of a run looks at."""

    state: dict[str, Any]
    run_id: str = "r1"
    name: str = "Fixer"
    ended: bool = False

    def view(self) -> ShownRun:
        return viewed(self.state)


@dataclass
class RecordingClient:
    """Stands for the editor and for the server's tasks: starts nothing, keeps what is sent."""

    sent: list[dict[str, Any]] = field(default_factory=list)

    def start(self, work: Any, *_: Any) -> None:
        work.close()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.sent.append(params["value"])


def test_AB_140_before_the_first_iteration_there_is_no_badge(ask: Ask) -> None:
    assert not any("/10" in title for title in titles(ask, state(0)))
    assert "iteration" not in report(Record(state(0)))["message"]


def test_AB_141_three_of_ten_are_a_badge_and_30_percent(ask: Ask) -> None:
    assert any("iteration 3/10" in title for title in titles(ask, state(3)))
    told = report(Record(state(3)))
    assert told["percentage"] == 30
    assert told["message"].startswith("iteration 3/10")


@pytest.mark.parametrize(("status", "reason"), [("cancelled", "user"), ("completed", "condition_met")])
def test_AB_142_the_badge_vanishes_with_the_end(ask: Ask, status: str, reason: str) -> None:
    found = titles(ask, state(3, status, reason=reason))
    assert not any("3/10" in title for title in found)
    assert any(title.startswith("▶ Run loop again") for title in found)


def test_AB_143_another_assistants_progress_is_not_ours(ask: Ask) -> None:
    assert titles(ask, state(3, name="somebody-else")) == titles(ask)
    one = ask(f"{TWO}$0", None, False, YAML)
    own = [each for each in lenses(one.workspace, one.document, [viewed(state(3))]) if each.span.start.line == 6]
    assert [each.title for each in own] == titles(ask)[2:]


def switched(ask: Ask, text: str, title: str) -> str:
    one = ask(f"{text}$0", None, False, YAML)
    action = next(each for each in loop_switch(one.document, Position(0, 0)) if each.title == title)
    assert action.edits is not None
    edits = action.edits()[one.document.uri]
    result = one.document.text
    for edit in sorted(edits, key=lambda each: each.span, reverse=True):
        result = result.edit(edit.span, edit.text)
    return str(result)


ON = "name: A\npersona: p\nloopEnabled: true\nloopCriteria:\n  type: regex # why\n  value: x\nmaxIterations: 7\n"
OFF = "name: A\npersona: p\nloopEnabled: false\nmaxIterations: 7\n"


def test_AB_144_off_takes_the_criterion_away_and_on_writes_the_chosen_one(ask: Ask) -> None:
    assert switched(ask, ON, "Disable the loop") == OFF
    expected = {"Regex match": "regex", "Test passes": "test_pass"}
    expected |= {"Manual review": "manual", "Max iterations only": "max_iterations"}
    for label, type_ in expected.items():
        found = read_assistants(switched(ask, OFF, f"Enable the loop: {label}"))
        assert not isinstance(found, list)
        assert found[0].criteria is not None
        assert (found[0].loop_enabled, found[0].criteria.type, found[0].max_iterations) == (True, type_, 7)
    bare = read_assistants(switched(ask, "name: A\npersona: p\n", "Enable the loop: Manual review"))
    assert not isinstance(bare, list)
    assert bare[0].loop_enabled


def test_AB_144_the_switch_changes_its_own_assistant_alone(ask: Ask) -> None:
    one = ask(f"{TWO}$0", None, False, YAML)
    action = next(iter(loop_switch(one.document, Position(3, 4))))
    assert action.edits is not None
    result = Text.of(TWO)
    for edit in sorted(action.edits()[one.document.uri], key=lambda each: each.span, reverse=True):
        result = result.edit(edit.span, edit.text)
    assert str(result) == TWO.replace("loopEnabled: true", "loopEnabled: false", 1).replace(
        "    loopCriteria: {type: regex, value: green}\n", ""
    )


@pytest.mark.parametrize(
    ("type_", "shown"), [("regex", True), ("test_pass", True), ("manual", False), ("max_iterations", False)]
)
def test_AB_145_a_value_is_offered_where_somebody_looks_at_it(ask: Ask, type_: str, shown: bool) -> None:
    one = ask(f"name: A\npersona: p\nloopCriteria:\n  type: {type_}\n  $0", None, False, YAML)
    labels = [item.label for item in complete(one.workspace, one.document, one.at).items]
    assert ("value" in labels) is shown


def test_AB_147_a_new_pass_is_shown_once_and_the_same_one_not_again() -> None:
    client, record = RecordingClient(), Record(state(2))
    progress = RunProgress(client, client, record)  # type: ignore[arg-type]
    progress._open, progress._said = True, report(record)
    for done in (3, 3, 3, 4):
        record.state = state(done)
        progress.update()
    assert [sent["message"] for sent in client.sent] == ["iteration 3/10", "iteration 4/10"]


def test_verdicts_of_a_run_stand_on_the_criterion(ask: Ask) -> None:
    one = ask(f"{TWO}$0", None, False, YAML)
    events = [
        {"kind": "iteration_started", "loop": "Fixer", "place": "fixer/1", "iteration": 1},
        {"kind": "iteration", "loop": "Fixer", "place": "fixer/1", "iteration": 1, "output": "red"},
        {
            "kind": "judged",
            "loop": "Fixer",
            "place": "fixer/1",
            "iteration": 1,
            "verdict": "no",
            "outputRef": "fixer/1",
            "criterion": "regex",
            "local": True,
        },
    ]
    (finding,) = run_findings(one.document, viewed(state(10, "completed", reason="max_iterations"), events))
    assert "limit reached after 10 iterations" in finding.message
    assert "pattern" in finding.message
    assert finding.span.start == Position(1, 10)
    (related,) = finding.related
    assert related.span.start.line == 4
    assert "red" in related.message
    (failed,) = run_findings(one.document, viewed(state(1, "failed", reason="error", error={"message": "no agent"})))
    assert "no agent" in failed.message
    assert failed.severity.name == "WARNING"


def test_an_estimate_counts_iterations_and_budgets(ask: Ask) -> None:
    one = ask(f"{TWO}$0", None, False, YAML)
    both = estimate(one.workspace, one.document)
    assert (both.calls.least, both.calls.most, both.usd) == (11, 20, None)
    fixer = estimate(one.workspace, one.document, assistant="fixer")
    assert (fixer.calls.least, fixer.calls.most) == (1, 10)
    assert "the cost is unknown" in fixer.why
    text = "name: A\npersona: p\nloopEnabled: true\nmaxBudgetUsd: 0.5\nloopCriteria: {type: manual}\n"
    capped = ask(f"{text}$0", None, False, YAML)
    found = estimate(capped.workspace, capped.document)
    assert found.usd == (0.0, 5.0)
    assert "10 iterations × $0.50 = $5.00" in found.why


def test_UP_60_a_loop_that_was_switched_off_while_it_runs_can_be_stopped(ask: Ask) -> None:
    off = ask(f"{TWO.replace('loopEnabled: true', 'loopEnabled: false', 1)}$0", None, False, YAML)
    running = viewed(state(2, label="loop disabled"))
    found = [each.title for each in lenses(off.workspace, off.document, [running]) if each.span.start.line == 1]
    assert "⏹ Stop" in found
    assert "iteration 2/10 · loop disabled" in found[-1]
    ended = viewed(state(2, "cancelled", reason="user"))
    assert [each for each in lenses(off.workspace, off.document, [ended]) if each.span.start.line == 1] == []
