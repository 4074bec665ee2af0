"""Durations as a run understands them (vector C6)."""

from __future__ import annotations

import pytest

from loop_ls.formats.workflow.model import Workflow
from loop_ls.formats.workflow.read import read_workflow
from loop_ls.testing.workflows import whole


def read(timeout: str) -> float | str | None:
    """The seconds of a step's `timeout`, or the rule that refuses it."""
    found = read_workflow(whole("main", f"steps: [{{name: a, run: x, timeout: {timeout}}}]"))
    return found.steps[0].timeout if isinstance(found, Workflow) else found[0].code


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        *(("30s", 30), ("5m", 300), ("1h30m", 5400), ("1.5h", 5400), (".5h", 1800), ("250ms", 0.25)),
        ('"0"', 0),
    ],
)
def test_C6_good_durations(written: str, seconds: float) -> None:
    assert read(written) == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["30", "0", "1 minute", "1d", "5 m", "1m 30s", "m5"])
def test_C6_bad_durations(written: str) -> None:
    assert read(written) == "WF008"
