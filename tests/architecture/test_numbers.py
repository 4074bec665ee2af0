"""Every numbered behaviour that we promise has a test that carries its number.

A series is a prefix and its numbers; a test shows number 12 of `WB` when it is called `test_WB_012_...`, in Python
or in the client's TypeScript.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
CLIENT = TESTS.parent / "vscode-client" / "test"
_TEST = re.compile(r"^\s*(?:async )?def test_([A-Z]+)_?(\d+)_", re.MULTILINE)
_IN_CLIENT = re.compile(r"^\s*test(?:\.\w+(?:\([^)]*\))?)?\(\s*[\"'`]test_([A-Z]+)_?(\d+)_", re.MULTILINE)

#: Behaviours of workflow runs that need another step mode, a step-level loop, iterate mode, consensus,
#: tools or parallel execution.
WB_FULL = frozenset({14, 25, 101, 102, 113, *range(120, 156)})
WB_BASIC = frozenset(range(1, 156)) - WB_FULL

#: Test vectors of the workflow language.
VECTORS = frozenset(range(1, 12))

#: Points in which the sources of the workflow language part, with what this engine does.
DIFFERENCES = frozenset(range(1, 51))

#: Reports of users of other tools on files and the server.
REPORTS = frozenset(range(1, 44))
#: Those on runs: their limits, control, verdicts, and what is seen of them. Not those that only editors or other
#: loop systems show.
REPORTS_ON_RUNS = frozenset(range(44, 86)) - {45, 46, 49, 53, 56, 60, 61, 68, 69, 72, 74, 85}
#: Those on agents that run in loops: their processes, criteria, people and limits.
REPORTS_ON_AGENTS = frozenset({45, 46, 49, 53, 60, 61, 68, 69, 72})

#: Those that only windows of an editor show.
REPORTS_ON_WINDOWS = frozenset({56, 74})

#: Behaviours of assistant loops.
AB = frozenset(range(1, 157))

#: Behaviours of role loops, all of them.
RB = frozenset(range(1, 133))

#: Behaviours of enhance loops, all of them.
EB = frozenset(range(1, 124))

#: (prefix, numbers that must have a test)
SERIES: dict[str, tuple[str, frozenset[int]]] = {
    "basic behaviours of workflow runs": ("WB", WB_BASIC),
    "full behaviours of workflow runs": ("WB", WB_FULL),
    "vectors of the workflow language": ("C", VECTORS),
    "differences between the sources of the workflow language": ("D", DIFFERENCES),
    "reports on files and the server": ("UP", REPORTS),
    "reports on runs": ("UP", REPORTS_ON_RUNS),
    "reports on agents in loops": ("UP", REPORTS_ON_AGENTS),
    "reports on windows": ("UP", REPORTS_ON_WINDOWS),
    "behaviours of assistant loops": ("AB", AB),
    "behaviours of role loops": ("RB", RB),
    "behaviours of enhance loops": ("EB", EB),
}


def shown() -> set[tuple[str, int]]:
    """Prefix and number of everything that some test shows."""
    places = [(TESTS.rglob("test_*.py"), _TEST), (CLIENT.rglob("*.test.ts"), _IN_CLIENT)]
    return {
        (prefix, int(number))
        for paths, named in places
        for path in paths
        for prefix, number in named.findall(path.read_text("utf-8"))
    }


def missing(prefix: str, numbers: Iterable[int]) -> list[str]:
    there = shown()
    return [f"{prefix}_{number:03d}" for number in sorted(numbers) if (prefix, number) not in there]


def test_the_basic_behaviours_are_114() -> None:
    assert len(WB_BASIC) == 114


@pytest.mark.parametrize("series", SERIES)
def test_every_number_has_a_test(series: str) -> None:
    prefix, numbers = SERIES[series]
    assert missing(prefix, numbers) == []
