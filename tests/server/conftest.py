"""Servers in processes of their own, with a data folder that nobody else has. They do not wait for imports, except
where the test is about those."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes import forked
from tests.server.support.flows import DRAFT, LOOP
from tests.server.support.raw import RawClient

FAKE_SERVE = [sys.executable, "-m", "tests.server.support.fake_serve"]


@pytest.fixture(autouse=True)
def engines_are_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that a test starts by itself too."""
    monkeypatch.setattr("loop_ls.client.launch.subprocess", forked.Subprocess)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RawClient]:
    """`loop-ls serve` as it is."""
    with RawClient(env={"LOOP_LS_DATA_DIR": str(tmp_path / "data")}) as client:
        yield client


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Callable[..., RawClient]]:
    """Starts servers with a fake engine."""
    with ExitStack() as stack:

        def start(*words: str) -> RawClient:
            env = {"LOOP_LS_DATA_DIR": str(tmp_path / "data")}
            return stack.enter_context(RawClient([*FAKE_SERVE, *words], env, fresh="modules" in words))

        yield start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with a loop and the workflow that it calls."""
    folder = tmp_path / "flows"
    folder.mkdir()
    (folder / "flow.yaml").write_text(LOOP)
    (folder / "draft.yaml").write_text(DRAFT)
    return folder
