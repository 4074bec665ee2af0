"""A fifth format and loop system is one folder: nothing but its registration makes the product know it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loop_ls.app.definitions import definitions
from loop_ls.app.engine import build
from loop_ls.contract.run_view.fold import folded
from loop_ls.engine.providers import Providers
from loop_ls.features.complete.completion import complete
from loop_ls.features.hover.hover import hover
from loop_ls.features.runs.run_summary import said, seen
from loop_ls.index.disk.discovery import discover
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.text.position import Position
from tests.fifth_format.countdown import NAME, registered

GOOD = "name: Launch\nfrom: 3\n"


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with registered():
        yield
    sys.modules.pop("tests.fifth_format.countdown_rules", None)  # its rules register themselves when imported


def project(folder: Path, text: str) -> tuple[Workspace, Document]:
    (folder / "launch.countdown.yaml").write_text(text)
    workspace = discover(str(folder)).workspace
    return workspace, next(one for one in workspace.documents.values() if one.format == NAME)


def test_its_rules_check_it(tmp_path: Path) -> None:
    workspace, document = project(tmp_path, "name: Launch\nfrom: -1\n")
    found = Checker().findings(workspace, document)
    assert [(one.rule, one.span.start) for one in found] == [("CD002", Position(1, 6))]
    assert Checker().findings(workspace, Document.open(document.uri, GOOD)) == ()


def test_its_keys_are_completed_and_told(tmp_path: Path) -> None:
    workspace, document = project(tmp_path, "name: Launch\nfr")
    assert [item.label for item in complete(workspace, document, Position(1, 2)).items] == ["from"]
    shown = hover(workspace, Document.open(document.uri, GOOD), Position(1, 1))
    assert shown is not None and "The first number." in shown.text


def test_it_is_listed(tmp_path: Path) -> None:
    workspace, _ = project(tmp_path, GOOD)
    listed = definitions(workspace, tmp_path.as_posix())
    assert [(one["format"], one["name"], one["path"], one["error"]) for one in listed] == [
        (NAME, "Launch", "launch.countdown.yaml", None)
    ]


async def test_it_runs_and_its_run_is_shown(tmp_path: Path) -> None:
    project(tmp_path, GOOD)
    providers = Providers({})
    engine = build(tmp_path / "data", providers, tmp_path)
    await engine.open()
    try:
        answer = await engine.start({"root": str(tmp_path), "path": str(tmp_path / "launch.countdown.yaml")})
        assert answer["ok"], answer
        async with asyncio.timeout(60):
            async for _, event in engine.subscribe(after=0, run_id=answer["runId"]):
                if event["kind"] in ("completed", "failed"):
                    break
        state = (await engine.state(answer["runId"]))["state"]
        facts = (await engine.events(answer["runId"]))["events"]
        listed = (await engine.runs())["runs"]
    finally:
        await engine.close()
        await providers.aclose()
    assert (state["status"], state["format"], state["iteration"]) == ("completed", NAME, 3), state
    assert [one["runId"] for one in listed] == [answer["runId"]]
    view = seen(state, folded(facts))
    assert [(loop.name, loop.iteration) for loop in view.loops.values()] == [("Launch", 3)]
    assert said(view)[1]
