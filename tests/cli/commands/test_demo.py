"""`loop-ls demo --all`: a loop of each system, without a key, and none of them left out."""

from __future__ import annotations

import re

import pytest

from loop_ls.cli.commands.demo import FILES
from tests.cli.conftest import CliProject

FLOW = "loop-ls-demo/rounds/bulletin.yaml"


@pytest.fixture(autouse=True)
def _nobody_reads_along(alone: CliProject) -> None:
    """The answers come at once: what lies there already stays."""
    for source in FILES.rglob("*.answers.yaml"):
        text, number = re.subn(r"(?m)^(?:delay|pace): .*\n", "", source.read_text("utf-8"))
        assert number == 2
        alone.write(f"loop-ls-demo/{source.relative_to(FILES).as_posix()}", text)


def test_one_loop_of_each_system(alone: CliProject) -> None:
    done = alone.call("demo", "--all")
    assert done.returncode == 0, done.stderr
    told = [
        "develop: ✓ condition met in iteration 3",  # workflow
        "✓ condition met in iteration 3 · $0.00",  # assistant
        "✓ approved in iteration 2",  # roles
        "✓ converged in round 2",  # rounds
        "round 1: failed figures, write; set_instructions figures",
        "round 2: failed nothing; no change",
    ]
    at = [done.stderr.find(one) for one in told]
    assert -1 not in at, (told[at.index(-1)], done.stderr)
    assert [f"{number}. loop-ls-demo/" in done.stdout for number in range(1, 5)] == [True] * 4
    mended = (alone.root / FLOW).read_text("utf-8")
    assert "one per line" in mended
    assert "# What happened, in plain words." in mended


def test_the_file_that_is_mended_is_broken_again_the_next_time(alone: CliProject) -> None:
    mine = alone.write("loop-ls-demo/roles/loops/headline.json", "{}")
    alone.write(FLOW, "name: mended\n")
    done = alone.call("demo", "--all", "--into", "loop-ls-demo")
    assert (done.returncode, mine.read_text("utf-8")) == (2, "{}")  # what a person wrote stays, and is refused
    assert "The demo restores this file" in (alone.root / FLOW).read_text("utf-8")
