"""References, highlights, rename and linked editing over the wire, from an editor that counts UTF-16."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.support.flows import DRAFT
from tests.server.support.full import CAPABILITIES, Full
from tests.server.support.raw import RawClient

Json = dict[str, Any]


@pytest.fixture
def full(server: RawClient, folder: Path) -> Full:
    return Full(server, folder)


def test_references_over_files_with_and_without_the_definition(full: Full) -> None:
    params = {**full.about("draft", "draft"), "context": {"includeDeclaration": True}}
    found = full.ask("textDocument/references", params)
    assert [(full.name_of(one["uri"]), full.slice(full.name_of(one["uri"]), one["range"])) for one in found] == [
        ("draft", "draft"),
        ("flow", "draft"),
        ("other", "draft"),
    ]
    params["context"]["includeDeclaration"] = False
    assert [full.name_of(one["uri"]) for one in full.ask("textDocument/references", params)] == ["flow", "other"]


def test_highlights_tell_writing_from_reading_behind_an_emoji(full: Full) -> None:
    found = full.ask("textDocument/documentHighlight", full.about("other", "call}}"))
    assert [(full.slice("other", one["range"]), one["kind"]) for one in found] == [
        ("call", 3),
        ("call", 2),
        ("call", 2),
    ]


def test_rename_changes_every_use_and_asks_about_prose(full: Full) -> None:
    at = full.about("other", "call}}")
    prepared = full.ask("textDocument/prepareRename", at)
    assert (full.slice("other", prepared["range"]), prepared["placeholder"]) == ("call", "call")
    edit = full.ask("textDocument/rename", {**at, "newName": "asked"})
    [change] = edit["documentChanges"]
    assert change["textDocument"] == {"uri": full.uri("other"), "version": 1}
    sure = [one for one in change["edits"] if "annotationId" not in one]
    text = full.edited("other", sure)
    assert "- name: asked" in text
    assert "needs: [asked]" in text
    assert '"call said 😀: {{asked}}"' in text
    [prose] = [one for one in change["edits"] if "annotationId" in one]
    assert full.slice("other", prose["range"]) == "call"
    assert edit["changeAnnotations"][prose["annotationId"]]["needsConfirmation"] is True


def test_rename_without_annotations_leaves_prose_alone(server: RawClient, folder: Path) -> None:
    full = Full(server, folder, {"workspace": {"workspaceEdit": {"documentChanges": True}}})
    assert full.capabilities["renameProvider"] is True
    edit = full.ask("textDocument/rename", {**full.about("other", "call}}"), "newName": "asked"})
    assert "changeAnnotations" not in edit
    assert '"call said 😀: {{asked}}"' in full.edited("other", edit["documentChanges"][0]["edits"])


def test_rename_of_a_workflow_reaches_files_that_are_not_open(server: RawClient, folder: Path) -> None:
    (folder / "closed.yaml").write_text(DRAFT.replace("name: draft", "name: closed").split("steps:")[0] + (
        "steps:\n  - {name: one, template: {name: draft, with: {topic: x, before: y}}}\n"
    ))  # fmt: skip
    full = Full(server, folder)
    edit = full.ask("textDocument/rename", {**full.about("draft", "draft"), "newName": "sketch"})
    changed = {full.name_of(one["textDocument"]["uri"]): one for one in edit["documentChanges"]}
    assert changed.keys() == {"draft", "flow", "other", "closed"}
    assert changed["closed"]["textDocument"]["version"] is None
    assert [one["newText"] for one in changed["closed"]["edits"]] == ["sketch"]


@pytest.mark.parametrize(
    ("name", "piece", "new", "said"),
    [
        ("other", "call}}", "last", "already a step"),
        ("other", "call}}", "9 lives", "Invalid name"),
        ("other", "call}}", "input", "a reserved name"),
        ("draft", "draft", "flow", "Workflow `flow` already exists"),
        ("other", "5400s", "x", "Nothing to rename"),
    ],
)
def test_a_rename_that_cannot_be_done_says_why(full: Full, name: str, piece: str, new: str, said: str) -> None:
    answer = full.client.ask("textDocument/rename", {**full.about(name, piece), "newName": new})
    assert answer["error"]["code"] == -32803
    assert said.casefold() in answer["error"]["message"].casefold()


def test_a_variable_of_the_language_cannot_be_renamed(full: Full) -> None:
    answer = full.client.ask("textDocument/prepareRename", full.about("flow", "loop.last"))
    assert "built-in variable" in answer["error"]["message"]
    assert full.ask("textDocument/prepareRename", full.about("flow", "max_iterations")) is None


def test_names_are_typed_over_together(full: Full) -> None:
    found = full.ask("textDocument/linkedEditingRange", full.about("other", "call}}"))
    assert [full.slice("other", one) for one in found["ranges"]] == ["call"] * 3
    assert full.ask("textDocument/linkedEditingRange", full.about("other", "5400s")) is None


@pytest.mark.parametrize("method", ["references", "documentHighlight", "prepareRename", "rename", "linkedEditingRange"])
def test_odd_params_cost_one_request(full: Full, method: str) -> None:
    for odd in ({}, {"textDocument": 5}, {**full.about("other"), "position": {"line": "x"}}, full.about("other")):
        answer = full.client.ask(f"textDocument/{method}", {**odd, "newName": "x"})
        assert answer["error"]["code"] == -32602
    unknown = {"textDocument": {"uri": "file:///never/seen.yaml"}, "position": {"line": 0, "character": 0}}
    assert full.ask(f"textDocument/{method}", {**unknown, "newName": "x"}) is None
    assert b"Traceback" not in full.client.log


def test_capabilities_follow_the_client(full: Full) -> None:
    assert full.capabilities["renameProvider"] == {"prepareProvider": True}
    assert CAPABILITIES["textDocument"]["rename"] == {"prepareSupport": True}
