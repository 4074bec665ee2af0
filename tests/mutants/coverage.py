"""Coverage: which of the drawn functions each test runs, and how long it takes; measured without any mutant.

A mutant is tried with the tests that run its function, the quickest first. A test file that starts programs may run
anything there, so that all its tests count, after the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from types import FrameType

import pytest

#: A function by the path of its file and its qualified name; what is nested in a function belongs to it.
Function = tuple[str, str]

#: A line by the path of its file and its number.
Line = tuple[str, int]

#: What has been called since somebody emptied it: the drawn functions of the product add themselves.
called = set[Function]()


@dataclass
class FileCoverage:
    """What one test file runs. `shared` holds what fixtures run: those of a module do so for its first test only."""

    tests: dict[str, set[Function]] = field(default_factory=dict)
    lines: dict[str, set[Line]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    shared: set[Function] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    starts_programs: bool = False

    def of(self, function: Function) -> list[str]:
        """The tests that may notice a change of this function, the quickest first."""
        everything = self.starts_programs or function in self.shared
        found = [test for test, run in self.tests.items() if everything or function in run]
        return sorted(set(found) - self.failed, key=self.seconds.__getitem__)

    def reaching(self, function: Function, line: Line) -> list[str]:
        """Those of them that come as far as the line, as far as lines were traced."""
        found = self.of(function)
        if self.starts_programs or function in self.shared:
            return found
        return [test for test in found if line in self.lines.get(test, (line,))]


class CoveragePlugin:
    """Fills in the coverage of the one test file that runs in this process, where files are named with its lines."""

    def __init__(self, traced: Container[str] = ()) -> None:
        self.file = FileCoverage()
        self._traced = traced
        self._lines = set[Line]()
        sys.addaudithook(self._audit)

    def _audit(self, event: str, _: tuple[object, ...]) -> None:
        if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec"):
            self.file.starts_programs = True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        called.clear()
        yield
        self.file.shared |= called

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        called.clear()
        self._lines.clear()
        if self._traced:
            sys.settrace(self._entered)
        try:
            return (yield)
        finally:
            self.file.tests[item.nodeid] = set(called)
            if self._traced:
                sys.settrace(None)
                self.file.lines[item.nodeid] = set(self._lines)

    def _entered(self, frame: FrameType, _: str, __: object) -> Callable[..., object] | None:
        path, lines = frame.f_code.co_filename, self._lines
        if path not in self._traced:
            return None

        def passed(frame: FrameType, *_: object) -> object:
            lines.add((path, frame.f_lineno))
            return passed

        return passed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.file.seconds[report.nodeid] = self.file.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.file.failed.add(report.nodeid)
