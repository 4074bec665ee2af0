"""Editors without lenses have the same commands as code actions."""

from __future__ import annotations

from typing import Any

from loop_ls.features.answers import ActionKind, LoopView, ShownRun
from loop_ls.features.lenses.as_actions import lens_actions
from loop_ls.features.lenses.lenses import lenses
from loop_ls.text.position import Position
from tests.features.lenses.test_lenses import FLOW, URI


def titles(ask: Any, line: int, *runs: ShownRun) -> list[str]:
    asked = ask(FLOW)
    found = lens_actions(lenses(asked.workspace, asked.document, runs), Position(line - 1, 3))
    return [action.title for action in found if action.kind is ActionKind.RUN]


def test_the_loop_around_the_cursor_can_be_run(ask: Any) -> None:
    assert titles(ask, 12) == ["▶ Run loop `refine`"]
    assert titles(ask, 7) == ["▶ Run loop `twice`"]
    assert titles(ask, 3) == ["▶ Run workflow"]


def test_a_question_can_be_answered_from_anywhere_in_the_file(ask: Any) -> None:
    loops = {"refine": LoopView("refine", "running", 3, 5)}
    waiting = ShownRun("r1", URI, "loop", "refine", "waiting_approval", waiting=True, approval="q", loops=loops)
    assert titles(ask, 3, waiting) == ["▶ Run workflow", "✓ Approve", "✗ Reject"]
    assert titles(ask, 11, waiting) == ["✓ Approve", "✗ Reject", "Open run", "⏸ Pause", "⏹ Stop"]


def test_UP_92_files_that_an_agent_touched_can_be_put_back_from_the_file(ask: Any) -> None:
    waiting = ShownRun("r1", URI, "loop", "refine", "waiting_approval", waiting=True, approval="q", asks="protected")
    assert titles(ask, 3, waiting) == ["▶ Run workflow", "✓ Allow", "↺ Restore files", "✗ Stop the run"]


def test_a_lens_without_a_command_is_no_action(ask: Any) -> None:
    asked = ask(FLOW)
    told = [lens for lens in lenses(asked.workspace, asked.document) if lens.command is None]
    assert told
    assert list(lens_actions(told, Position(3, 0))) == []
