"""A pytest plugin: while a test of the table runs, the module of its row does nothing but raise.

Here its functions are replaced in place, so that whoever imported one has the broken one; in servers that the
test starts the module cannot be imported. What became of each test goes to the file LOOP_LS_TEST_REPORT.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.features.targets import TARGETS

MODULES = {target.test: target.module for target in TARGETS}
OUTCOMES: dict[str, list[str]] = {}


def _raise(*args: Any, **named: Any) -> Any:
    raise RuntimeError("switched off")


@contextmanager
def switched_off(name: str) -> Iterator[None]:
    before: list[tuple[FunctionType, CodeType]] = []
    for value in vars(import_module(name)).values():
        value = getattr(value, "__wrapped__", value)
        if isinstance(value, FunctionType) and value.__module__ == name and not value.__code__.co_freevars:
            before.append((value, value.__code__))
            value.__code__ = _raise.__code__
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
