"""Documents that are no files: not saved yet, in an archive, on another machine. Each is looked at on its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import Editor
from tests.server.support.flows import DRAFT, LOOP
from tests.server.support.raw import RawClient

Json = dict[str, Any]

ELSEWHERE = ("untitled:draft.yaml", "vscode-vfs://github/x/draft.yaml", "zipfile:///w/a.zip::draft.yaml")


def codes(server: RawClient, uri: str, version: int | None = None) -> set[str]:
    return {str(found["code"]) for found in server.diagnostics(uri, version)}


@pytest.mark.parametrize("uri", ELSEWHERE)
def test_a_copy_that_is_no_file_takes_no_name_away_from_a_file(server: RawClient, folder: Path, uri: str) -> None:
    server.begin({}, folder)
    file = (folder / "draft.yaml").as_uri()
    server.open(uri, DRAFT)
    server.open(file, DRAFT)
    server.open(uri.replace("draft", "other"), DRAFT)
    assert server.ask("workspace/symbol", {"query": "write"})["result"]
    for each in (uri, file, uri.replace("draft", "other")):
        server.change(each, 2, {"text": DRAFT + "# two\n"})
        assert "WF605" not in codes(server, each, 2)


@pytest.mark.parametrize("uri", ELSEWHERE)
def test_what_is_no_file_cannot_be_called(server: RawClient, folder: Path, uri: str) -> None:
    server.begin({}, folder)
    (folder / "draft.yaml").unlink()
    flow = (folder / "flow.yaml").as_uri()
    server.open(uri, DRAFT)
    server.open(flow, LOOP)
    assert server.ask("workspace/symbol", {"query": "write"})["result"]
    server.change(flow, 2, {"text": LOOP + "# two\n"})
    assert "WF601" in codes(server, flow, 2)


def test_a_new_text_that_calls_another_one_is_told_to_save_it(server: RawClient, folder: Path) -> None:
    server.begin({}, folder)
    (folder / "draft.yaml").unlink()
    caller, called = "untitled:Untitled-1", "untitled:Untitled-2"
    server.open(caller, LOOP)
    server.open(called, DRAFT)
    assert server.ask("workspace/symbol", {"query": "write"})["result"]
    about = {"textDocument": {"uri": caller}, "position": {"line": 7, "character": 15}}

    def told(version: int) -> list[str]:
        return [one["message"] for one in server.diagnostics(caller, version) if one["code"] == "WF601"]

    server.change(caller, 2, {"text": LOOP + "# two\n"})
    assert told(2) == ["`draft` is open and not saved: only files can be called, so save it first"]
    assert "so save it first" in server.ask("textDocument/hover", about)["result"]["contents"]["value"]
    server.change(called, 2, {"text": DRAFT.replace("draft", "other")})
    server.change(caller, 3, {"text": LOOP + "# three\n"})
    assert told(3) == ["Unknown workflow `draft`"]
    assert "Unknown workflow" in server.ask("textDocument/hover", about)["result"]["contents"]["value"]
    server.change(called, 3, {"text": DRAFT})
    server.change(caller, 4, {"text": LOOP + "# four\n"})
    assert "so save it first" in told(4)[0]


def test_a_new_text_calls_the_workflows_of_its_project_and_one_from_elsewhere_is_not_told_what_is_missing(
    server: RawClient, folder: Path
) -> None:
    server.begin({}, folder)
    new, far = "untitled:new.yaml", "vscode-vfs://github/x/far.yaml"
    server.open(new, LOOP)
    server.open(far, LOOP)
    assert server.ask("workspace/symbol", {"query": "write"})["result"]
    place = {"position": {"line": 7, "character": 15}}
    assert server.ask("textDocument/definition", {"textDocument": {"uri": new}, **place})["result"]
    assert not server.ask("textDocument/definition", {"textDocument": {"uri": far}, **place})["result"]
    server.change(far, 2, {"text": LOOP + "# two\n"})
    assert "WF601" not in codes(server, far, 2)


@pytest.mark.parametrize("uri", ELSEWHERE)
@pytest.mark.parametrize("text", [DRAFT, LOOP])
def test_what_is_no_file_is_not_run(fake: Callable[..., RawClient], folder: Path, uri: str, text: str) -> None:
    client = fake()
    Editor(client, folder)
    client.open(uri, text)
    argument = {"uri": uri, "target": {"kind": "workflow"}, "mock": True}
    answer = client.ask("workspace/executeCommand", {"command": "loopLs.run", "arguments": [argument]})["result"]
    assert answer["ok"] is False
    assert "not a file on this machine" in answer["message"]
    assert "Save it" in answer["hint"]
