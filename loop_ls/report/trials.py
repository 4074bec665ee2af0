"""The trials of a loop on its test cases: as lines for people, and as JUnit XML for build servers.

A file of cases is a suite, a trial a case of it. A check that nobody could decide is an error, not a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape

from loop_ls.contract.amounts import money
from loop_ls.report.as_junit import quoted
from loop_ls.report.terminal_text import shown

Ending = Literal["passed", "failed", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of one case. `id` is that of reports: `report.cases.yaml::sea[2/3]`. `problems` are one line each.
    `score` is the mean of its checks by weight, from 0 to 1."""

    id: str
    ending: Ending
    problems: tuple[str, ...] = ()
    run_id: str = ""
    seconds: float = 0.0
    usd: float | None = None
    score: float | None = None

    @property
    def passes(self) -> bool:
        return self.ending in ("passed", "skipped")


def trial_id(path: str, case: str, number: int, repeat: int) -> str:
    return f"{path}::{case}" if repeat == 1 else f"{path}::{case}[{number}/{repeat}]"


def trial_lines(trial: Trial) -> Iterator[str]:
    """What is said of one trial when it is over."""
    cost = f"  {said}" if (said := money(trial.usd)) else ""
    time = "" if trial.ending == "skipped" else f"  {trial.seconds:.1f} s"
    score = "" if trial.score is None else f"  score {trial.score:.2f}"
    yield shown(f"{trial.id}  {trial.ending}{score}{time}{cost}")
    for problem in trial.problems:
        first, *rest = problem.splitlines() or [""]
        yield shown(f"  {first}")
        yield from (shown(f"    {line}") for line in rest)


def summary_line(trials: Sequence[Trial]) -> str:
    counts = {
        ending: sum(one.ending == ending for one in trials) for ending in ("passed", "failed", "error", "skipped")
    }
    names = {"error": "without a verdict"}
    told = [f"{count} {names.get(ending, ending)}" for ending, count in counts.items() if count]
    return ", ".join(told) or "no test cases were run"


def trials_as_junit(path: str, trials: Sequence[Trial]) -> str:
    """`path` is that of the file of cases."""
    counts = f'tests="{len(trials)}" failures="{_count(trials, "failed")}" errors="{_count(trials, "error")}"'
    time = f'time="{sum(one.seconds for one in trials):.3f}"'
    suite = f'  <testsuite name={quoted(path)} {counts} skipped="{_count(trials, "skipped")}" {time}>'
    lines = [f'<testsuites name="loop-ls" {counts} {time}>', suite]
    for one in trials:
        lines += _case(path, one)
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *lines, "  </testsuite>", "</testsuites>", ""])


def _case(path: str, trial: Trial) -> Iterable[str]:
    head = f'    <testcase classname={quoted(path)} name={quoted(trial.id)} time="{trial.seconds:.3f}"'
    text = escape("\n".join(shown(line) for problem in trial.problems for line in problem.splitlines()))
    first = quoted(trial.problems[0].splitlines()[0] if trial.problems else "")
    match trial.ending:
        case "passed":
            yield f"{head}/>"
            return
        case "failed":
            inner = f"      <failure message={first}>{text}</failure>"
        case "error":
            inner = f"      <error message={first}>{text}</error>"
        case "skipped":
            inner = f"      <skipped message={first}/>"
    yield f"{head}>"
    yield inner
    yield "    </testcase>"


def _count(trials: Iterable[Trial], ending: Ending) -> int:
    return sum(one.ending == ending for one in trials)
