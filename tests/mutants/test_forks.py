"""A fork ends in time, with everything that it started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.belonging import PACKAGE, is_numbered
from tests.processes.ended import gone

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="orphans are found on Linux alone")
# In a process of its own, as it ends all children of the one that it is called in. Its clock stands until the fork has
# started a program in a session of its own; then all time is over.
ALONE = """
import subprocess, sys, time
from pathlib import Path
from tests.mutants import forks
told = Path(sys.argv[1])

class Clock:
    sleep = staticmethod(time.sleep)

    @staticmethod
    def monotonic():
        return 1e9 if told.exists() else 0.0

def hanging():
    started = subprocess.Popen(["sleep", "600"], start_new_session=True)
    told.with_suffix(".new").write_text(str(started.pid))
    told.with_suffix(".new").rename(told)
    time.sleep(600)

forks.time = Clock
forks.adopt_orphans()
try:
    print(forks.Forks([], lambda forks: None, float(sys.argv[2]))._forked(hanging, 3.0))
except forks.TimeIsUp:
    print("time is up")
"""


@LINUX
@pytest.mark.parametrize(("end", "outcome"), [("1e10", "late"), ("10", "time is up")])
def test_a_mutant_that_hangs_is_killed_with_what_it_started(tmp_path: Path, end: str, outcome: str) -> None:
    told = tmp_path / "pid"
    command = [sys.executable, "-c", ALONE, str(told), end]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, timeout=100)
    assert done.stdout == f"{outcome}\n", done.stderr
    pid = int(told.read_text())
    assert gone(pid)


@pytest.mark.parametrize(
    ("test", "numbered"),
    [
        ("tests/a.py::test_WB_012_x", True),
        ("tests/a.py::test_RB012_x[a::b]", True),
        ("tests/a.py::test_it", False),
        ("tests/a.py::test_WB_012_WB_013_x", True),
    ],
)
def test_numbered_tests_are_told_by_their_name(test: str, numbered: bool) -> None:
    assert is_numbered(test) is numbered
