"""Every target has a test, and that test fails when what it is about is switched off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.features.targets import TARGETS, Target

ROOT = Path(__file__).resolve().parents[2]
#: All targets are tried in one process, before the first test here.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What became of the tests, each with its module switched off."""
    report = tmp_path_factory.mktemp("targets") / "report.json"
    words = [
        "-n",
        "0",
        "-p",
        "tests.features.switched_off",
        "-p",
        "no:cacheprovider",
        "-q",
        *(one.test for one in TARGETS),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        env={**os.environ, "LOOP_LS_TEST_REPORT": str(report)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    found: dict[str, list[str]] = json.loads(report.read_text())
    return found


def test_no_test_stands_for_two_targets() -> None:
    assert len({one.test for one in TARGETS}) == len(TARGETS)
    assert len({(one.group, one.feature) for one in TARGETS}) == len(TARGETS)


@pytest.mark.parametrize("target", TARGETS, ids=lambda one: f"{one.group}, {one.feature}")
def test_the_test_of_a_target_notices_that_it_is_off(target: Target, outcomes: dict[str, list[str]]) -> None:
    assert "failed" in outcomes.get(target.test, []), f"{target.test} passes without {target.module}"
