"""Tests in forks of one process, which has imported the product and collected the tests once."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import CodeType

import psutil
import pytest

from tests.mutants.belonging import PACKAGE, ROOT, tests_of
from tests.mutants.coverage import CoveragePlugin, FileCoverage, Function, called
from tests.mutants.inside.sitecustomize import environment
from tests.mutants.patching import put_in, warm, watch
from tests.mutants.sites import Mutant

#: Seconds for the tests of one file without a mutant.
BASELINE_LIMIT = 900.0
#: Seconds beside five times what the tests take: a condition that is turned may never end.
GRACE = 20.0
_OPTIONS = (
    *("-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:xdist"),
    *("-s", "--strict-markers", "--import-mode=importlib", "--rootdir", str(ROOT)),
)


class TimeIsUp(Exception):
    """What is under way would end after the time that was given."""


class Forks:
    """A pytest plugin that runs what it is given instead of the collected tests: it starts and judges the forks."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        work: Callable[[Forks], None],
        end: float,
        counts: Callable[[str], bool] = lambda test: True,
    ) -> None:
        """`counts` says of the name of a test whether it may notice something."""
        self._mutants = mutants
        self._counts = counts
        self._work = work
        self.end = end
        self._items: dict[Path, list[pytest.Item]] = {}
        self._coverage: dict[Path, FileCoverage] = {}
        self._traced: Container[str] = ()
        self._early: set[Function] = set()
        self.failing: set[str] = set()

    def run(self) -> int:
        """Collect the tests that belong to the mutants, then work."""
        paths = sorted({mutant.path for mutant in self._mutants})
        self._early = _called_by(lambda: warm(paths, PACKAGE))
        watch(self._mutants, PACKAGE)
        files = sorted({str(file) for path in paths for file in tests_of(path)})
        adopt_orphans()
        return int(pytest.main([*_OPTIONS, *files], plugins=[self]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted(f"{session.testsfailed} errors while collecting")
        self._session = session
        self._early |= called
        for item in filter(lambda item: self._counts(item.nodeid), session.items):
            self._items.setdefault(item.path, []).append(item)
        gc.collect()
        gc.freeze()
        self._work(self)
        return True

    def outcome(self, mutant: Mutant) -> str:
        """`died`, `lived`, `late`, `unplaced`, or `untested` where no test runs its function. Raises `TimeIsUp`."""
        function, found = (str(mutant.path), mutant.function), "untested"
        for items, seconds in self._groups(mutant, function):
            found = self._forked(partial(self._with, mutant, items), GRACE + 5 * seconds)
            if found != "lived":
                return found
        return self._alone(mutant) if function in self._early else found

    def _groups(self, mutant: Mutant, function: Function) -> Iterator[tuple[list[pytest.Item], float]]:
        """The tests that run the function: first those that are known, then those of one file after the other."""
        files = [file for file in tests_of(mutant.path) if file in self._items]
        mirror = mutant.path.relative_to(PACKAGE).parent
        files.sort(key=lambda file: (not file.relative_to(ROOT / "tests").is_relative_to(mirror), self._cost(file)))
        known = [file for file in files if file in self._coverage and not self._coverage[file].starts_programs]
        yield from self._group(known, function)
        for file in files:
            if file not in known:
                yield from self._group([file], function)

    def _cost(self, file: Path) -> float:
        """Seconds; guessed from what tests mostly take, where they have not run yet."""
        known = self._coverage.get(file)
        return len(self._items[file]) / 20 if known is None else sum(known.seconds.values())

    def _group(self, files: list[Path], function: Function) -> Iterator[tuple[list[pytest.Item], float]]:
        measured = {file: self._measured(file) for file in files}
        names = {test for coverage in measured.values() for test in coverage.of(function)}
        seconds = {test: one for coverage in measured.values() for test, one in coverage.seconds.items()}
        items = [item for file in files for item in self._items[file] if item.nodeid in names]
        if items:
            items.sort(key=lambda item: seconds[item.nodeid])
            yield items, sum(seconds[name] for name in names)

    def _measured(self, file: Path) -> FileCoverage:
        if file not in self._coverage:
            self._coverage[file] = self._baseline(file)
            self.failing |= self._coverage[file].failed
        return self._coverage[file]

    def measure_all(self, traced: Container[str]) -> None:
        """What each test reaches, line by line in the files that are named: for those who try many mutants."""
        self._traced = traced
        for file in self._items:
            self._measured(file)

    def quickest(self, mutant: Mutant, kills: Counter[str], each: float) -> tuple[str, str | None]:
        """The outcome by the tests that reach the line of the mutant, those first that noticed most of its like, then
        those of the folder that mirrors its own; and the one that noticed it. `open` where tests for more than `each`
        seconds would have to follow."""
        function, line = (str(mutant.path), mutant.function), (str(mutant.path), mutant.line)
        files = [file for file in tests_of(mutant.path) if file in self._coverage]
        seconds = {test: one for file in files for test, one in self._coverage[file].seconds.items()}
        found = {test for file in files for test in self._coverage[file].reaching(function, line)}
        found = found or {test for file in files for test in self._coverage[file].of(function)}  # not traced as a line
        items = [item for file in files for item in self._items[file] if item.nodeid in found]
        mirror = ROOT / "tests" / mutant.path.relative_to(PACKAGE).parent
        far = {file for file in files if not file.is_relative_to(mirror)}
        items.sort(key=lambda item: (-kills[item.nodeid], item.path in far, seconds[item.nodeid]))
        within = list(accumulate(seconds[item.nodeid] for item in items))
        asked = [item for item, sum_ in zip(items, within, strict=True) if sum_ <= each]
        if not asked:
            return ("open" if items else "untested"), None
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "noticed"
            outcome = self._forked(partial(self._with, mutant, asked, told), GRACE + 5 * min(each, within[-1]))
            noticed = told.read_text("utf-8") if told.exists() else None
        return ("open" if outcome == "lived" and len(asked) < len(items) else outcome), noticed

    def _baseline(self, file: Path) -> FileCoverage:
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "coverage"

            def measure() -> int:
                plugin = CoveragePlugin(self._traced)
                self._session.config.pluginmanager.register(plugin)
                self._tested(self._items[file])
                told.write_bytes(pickle.dumps(plugin.file))
                return 0

            self._forked(measure, BASELINE_LIMIT)
            if told.exists():
                found: FileCoverage = pickle.loads(told.read_bytes())
                return found
        return FileCoverage(failed={str(file)})

    def _with(self, mutant: Mutant, items: list[pytest.Item], told: Path | None = None) -> int:
        try:
            put_in(mutant, PACKAGE)
        except LookupError:
            return 77
        os.environ.update(environment(mutant))
        self._session.config.option.maxfail = 1
        return 1 if self._tested(items, told) else 0

    def _tested(self, items: list[pytest.Item], told: Path | None = None) -> int:
        session = self._session
        session.items = items
        for number, item in enumerate(items):
            following = items[number + 1] if number + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail:
                if told is not None:
                    told.write_text(item.nodeid, "utf-8")
                break
        session.config.hook.pytest_sessionfinish(session=session, exitstatus=0)
        return session.testsfailed

    def _forked(self, work: Callable[[], int], limit: float) -> str:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _end_with(work)
        deadline = time.monotonic() + limit
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                kill_all(child)  # what the tests left behind
                return {0: "lived", 77: "unplaced"}.get(os.waitstatus_to_exitcode(status), "died")
            if time.monotonic() > min(deadline, self.end):
                kill_all(child)
                if time.monotonic() > self.end:
                    raise TimeIsUp
                return "late"
            time.sleep(0.01)

    def _alone(self, mutant: Mutant) -> str:
        """In a process of its own: what ran while the tests were collected has to run again with the mutant in it."""
        tests = [item.nodeid for file in tests_of(mutant.path) for item in self._items.get(file, ())]
        command = [sys.executable, "-m", "pytest", *_OPTIONS, "-x", *tests]

        def work() -> int:
            os.chdir(ROOT)
            os.execve(command[0], command, {**os.environ, **environment(mutant)})

        return self._forked(work, BASELINE_LIMIT)


def adopt_orphans() -> None:
    """What a fork leaves behind in a session of its own (an engine, a server) becomes a child of this process, so
    that it can be found. Linux alone can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def kill_all(child: int) -> None:
    """The fork, its group, and everything that it started, also in sessions of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    while running := psutil.Process().children(recursive=True):
        for process in running:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(running, timeout=1)


def _called_by(work: Callable[[], None]) -> set[Function]:
    """The functions that run while the product is imported, before one can watch them."""
    codes = set[CodeType]()
    sys.setprofile(lambda frame, event, _: codes.add(frame.f_code) if event == "call" else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return {(code.co_filename, code.co_qualname.partition(".<locals>")[0]) for code in codes}


def _end_with(work: Callable[[], int]) -> None:
    status = 70
    try:
        os.setpgid(0, 0)  # with all that the tests start
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        status = work()
    finally:
        os._exit(status)
