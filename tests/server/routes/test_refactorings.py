"""Refactorings that begin a file: one workspace edit, as much of it as the client can carry out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.full import CAPABILITIES, Full
from tests.server.support.raw import RawClient

Json = dict[str, Any]
CREATING: Json = copy.deepcopy(CAPABILITIES)
CREATING["workspace"]["workspaceEdit"]["resourceOperations"] = ["create", "rename", "delete"]
PLAIN: Json = {**CAPABILITIES, "workspace": {}}


@pytest.fixture
def full(fake: Callable[..., RawClient], folder: Path) -> Callable[[Json], Full]:
    return lambda capabilities: Full(fake(), folder, capabilities)


def extraction(full: Full) -> Json:
    place = full.place("draft", "Write about")
    params = {**full.about("draft"), "range": {"start": place, "end": place}, "context": {"diagnostics": []}}
    [action] = full.ask(
        "textDocument/codeAction", {**params, "context": {**params["context"], "only": ["refactor.extract"]}}
    )
    assert "`write.yaml`" in action["title"]
    assert "edit" not in action
    found: Json = full.ask("codeAction/resolve", action)["edit"]
    return found


def test_a_file_is_created_and_begun_in_one_edit(full: Callable[[Json], Full]) -> None:
    session = full(CREATING)
    create, begin, change = extraction(session)["documentChanges"]
    assert create == {"kind": "create", "uri": session.uri("write")}
    assert begin["textDocument"] == {"uri": session.uri("write"), "version": None}
    assert "run: " in begin["edits"][0]["newText"]
    assert change["textDocument"] == {"uri": session.uri("draft"), "version": 1}
    text = session.edited("draft", change["edits"])
    assert 'topic: "{{topic}}"' in text
    session.client.open(session.uri("write"), begin["edits"][0]["newText"])
    session.client.change(session.uri("draft"), 2, {"text": text})
    assert session.client.diagnostics(session.uri("draft"), 2) == []


def test_a_client_that_cannot_create_files_edits_one_that_is_not_there_yet(full: Callable[[Json], Full]) -> None:
    session = full(PLAIN)
    edit = extraction(session)
    assert set(edit) == {"changes"}
    assert set(edit["changes"]) == {session.uri("write"), session.uri("draft")}


def test_a_file_that_came_meanwhile_is_not_overwritten(full: Callable[[Json], Full]) -> None:
    session = full(CREATING)
    (session.folder / "write.yaml").write_text("mine")
    place = session.place("draft", "Write about")
    params = {**session.about("draft"), "range": {"start": place, "end": place}, "context": {"diagnostics": []}}
    titles = [action["title"] for action in session.ask("textDocument/codeAction", params)]
    assert any("`write_2.yaml`" in title for title in titles)
