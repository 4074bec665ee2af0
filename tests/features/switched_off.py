"""A pytest plugin: while a test of the table runs, the module of its row finds nothing.

Here its functions are replaced in place, so that whoever imported one has the empty one: a list without items, no
answer, an empty text. Nothing is raised, so it is the assertions of the test that have to notice. In servers that
the test starts the module cannot be imported. What became of each test goes to the file LOOP_LS_TEST_REPORT.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from loop_ls.features.answers import Completions
from loop_ls.text.position import Position, Span
from tests.features.rows import ROWS
from tests.features.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
MODULES = {one.test: one.module for one in (*TARGETS, *ROWS)}
OUTCOMES: dict[str, list[str]] = {}


def tried(tests: Iterable[str], report: Path) -> dict[str, list[str]]:
    """What becomes of the tests, each with its module switched off."""
    words = ["-n", "0", "-p", __name__, "-p", "no:cacheprovider", "-q", "--tb=no", *sorted(tests)]
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


#: Beginning of what a function returns, by its annotation -> what is empty of it. Where none fits, it stays as it is:
#: there is no empty symbol or span. (The code runs with the globals of the module that it is put into.)
EMPTY: dict[str, Callable[..., Any]] = {
    "Iterator[": lambda *args, **named: iter(()),
    "Iterable[": lambda *args, **named: (),
    "Sequence[": lambda *args, **named: (),
    "list[": lambda *args, **named: [],
    "dict[": lambda *args, **named: {},
    "set[": lambda *args, **named: set(),
    "frozenset[": lambda *args, **named: frozenset(),
    "str": lambda *args, **named: "",
    "bool": lambda *args, **named: False,
    "int": lambda *args, **named: 0,
    "None": lambda *args, **named: None,
    "Completions": lambda *args, **named: __import__("tests.features.switched_off", fromlist=["x"]).NO_COMPLETIONS,
}
NO_COMPLETIONS = Completions(Span(Position(0, 0), Position(0, 0)))


def _empty(function: FunctionType) -> FunctionType | None:
    returns = str(function.__annotations__.get("return", ""))
    if returns.endswith("| None") or returns in ("Json", "object"):
        found: Any = EMPTY["None"]
    elif returns.startswith("tuple[") and returns.endswith(", ...]"):
        found = EMPTY["Sequence["]
    else:
        found = next((make for begin, make in EMPTY.items() if returns.startswith(begin)), None)
    return None if found is None or iscoroutinefunction(function) else found


@contextmanager
def switched_off(name: str) -> Iterator[None]:
    before: list[tuple[FunctionType, CodeType]] = []
    for value in vars(import_module(name)).values():
        value = getattr(value, "__wrapped__", value)
        if isinstance(value, FunctionType) and value.__module__ == name and not value.__code__.co_freevars:
            empty = _empty(value)
            if empty is not None:
                before.append((value, value.__code__))
                value.__code__ = empty.__code__
    path = os.environ.get("PYTHONPATH", "")
    os.environ["LOOP_LS_TEST_OFF"] = name
    os.environ["PYTHONPATH"] = f"{Path(__file__).with_name('off')}{os.pathsep}{path}"
    try:
        yield
    finally:
        for function, code in before:
            function.__code__ = code
        os.environ["PYTHONPATH"] = path
        del os.environ["LOOP_LS_TEST_OFF"]


def _row(nodeid: str) -> str:
    return nodeid.partition("[")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    with switched_off(MODULES[_row(item.nodeid)]):
        return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.failed:
        OUTCOMES.setdefault(_row(report.nodeid), []).append(report.outcome)


def pytest_sessionfinish() -> None:
    Path(os.environ["LOOP_LS_TEST_REPORT"]).write_text(json.dumps(OUTCOMES))
