"""A call of a tool in the list of a run's facts: who, what, with which words, and whether it worked."""

from __future__ import annotations

from loop_ls.cli.runs.runs_show import event_line

FACT = {"seq": 7, "at": "2026-01-01T10:00:00Z", "kind": "tool_called", "place": "find", "tool": "add"}


def test_a_tool_is_shown_with_its_server_and_its_arguments() -> None:
    line = event_line(FACT | {"source": "things", "arguments": '{"a": 1}', "failed": False})
    assert line.endswith('things: add {"a": 1}')


def test_a_tool_that_failed_says_so() -> None:
    assert event_line(FACT | {"arguments": "", "failed": True}).endswith("failed: add")
