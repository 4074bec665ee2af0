"""Symbols of all files, and references that follow a file to its new name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import Editor
from tests.server.support.full import CAPABILITIES, Full
from tests.server.support.raw import RawClient

Json = dict[str, Any]


def test_symbols_of_all_files_best_first(server: RawClient, folder: Path) -> None:
    full = Full(server, folder)
    found = full.ask("workspace/symbol", {"query": "dra"})
    assert [(one["name"], full.name_of(one["location"]["uri"])) for one in found] == [("draft", "draft")]
    names = {one["name"]: one.get("containerName") for one in full.ask("workspace/symbol", {"query": ""})}
    assert names == {
        "flow": None, "draft": None, "other": None,
        "refine": "flow", "write": "draft", "call": "other", "last": "other",
    }  # fmt: skip


def test_a_folder_inside_another_one_tells_nothing_twice(server: RawClient, folder: Path) -> None:
    folders = [{"uri": one.as_uri(), "name": one.name} for one in (folder.parent, folder)]
    server.ask("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": folders})
    server.notify("initialized", {})
    found = server.ask("workspace/symbol", {"query": "refine"})["result"]
    assert [one["location"]["uri"] for one in found] == [(folder / "flow.yaml").as_uri()]


def test_while_files_are_being_read_those_that_were_read_are_told(fake: Callable[..., RawClient], folder: Path) -> None:
    for number in range(100):
        (folder / f"z{number:02}.yaml").write_text(f"$schema: workflow/v2.0\nname: z{number:02}\n")
    client = fake("stuck")
    client.begin({}, folder)
    found = client.ask("workspace/symbol", {"query": "z"})["result"]
    names = {one["name"] for one in found}
    assert "z00" in names
    assert "z99" not in names


def renamed(full: Full, old: Path, new: Path) -> dict[str, str]:
    """The texts after the edits that a renaming brings with it."""
    params = {"files": [{"oldUri": old.as_uri(), "newUri": new.as_uri()}]}
    edit = full.ask("workspace/willRenameFiles", params)
    found = {}
    for change in edit["documentChanges"] if edit else ():
        name = full.name_of(change["textDocument"]["uri"])
        found[name] = full.edited(name, change["edits"])
    return found


def test_references_follow_a_renamed_file_whose_name_follows(server: RawClient, folder: Path) -> None:
    full = Full(server, folder)
    filters = full.capabilities["workspace"]["fileOperations"]["willRename"]["filters"]
    patterns = [(one["pattern"]["glob"], one["pattern"]["matches"]) for one in filters]
    assert patterns == [
        ("**/*.{yaml,yml,json}", "file"),
        ("**/{roles,.claude/agents}/*.md", "file"),
        ("**/*", "folder"),
    ]
    found = renamed(full, folder / "draft.yaml", folder / "sketch.yaml")
    assert found.keys() == {"draft", "flow", "other"}
    assert "\nname: sketch\n" in found["draft"]
    assert "workflow: sketch" in found["flow"]
    assert "      name: sketch" in found["other"]


def test_a_file_that_moves_to_another_folder_is_called_by_its_whole_key(server: RawClient, folder: Path) -> None:
    full = Full(server, folder)
    found = renamed(full, folder / "draft.yaml", folder / "parts" / "draft.yaml")
    assert found.keys() == {"flow", "other"}
    assert "workflow: parts/draft" in found["flow"]
    # The caller moves along: it still finds its neighbour by the bare name.
    assert renamed(full, folder / "nowhere.yaml", folder / "elsewhere.yaml") == {}


@pytest.mark.parametrize(
    "new", ["../elsewhere/sketch.yaml", ".hidden/sketch.yaml", "sketch.txt", "node_modules/sketch.yaml"]
)
def test_what_leaves_the_workspace_changes_nothing(server: RawClient, folder: Path, new: str) -> None:
    full = Full(server, folder)
    assert renamed(full, folder / "draft.yaml", Path(os.path.normpath(folder / new))) == {}


def test_a_file_that_is_called_otherwise_keeps_its_name(server: RawClient, folder: Path) -> None:
    full = Full(server, folder)
    text = full.texts["draft"]
    (folder / "odd-file.yaml").write_text(text.replace("name: draft", "name: sketch"))
    assert renamed(full, folder / "odd-file.yaml", folder / "other-file.yaml") == {}


def moved_along(client: RawClient, folder: Path, operations: list[str], new: str = "sketch.yaml") -> list[Any]:
    for name in ("draft.checks.yaml", "draft.cases.yaml", "other.checks.yaml"):
        (folder / name).write_text("verifiers: []\n" if "checks" in name else "tests:\n  - {name: a}\n")
    edits = {"documentChanges": True, "resourceOperations": operations}
    full = Full(client, folder, {"workspace": {"workspaceEdit": edits, "fileOperations": {"willRename": True}}})
    files = [{"oldUri": (folder / "draft.yaml").as_uri(), "newUri": (folder / new).as_uri()}]
    changes = full.ask("workspace/willRenameFiles", {"files": files})["documentChanges"]
    return [(one["oldUri"], one["newUri"]) for one in changes if one.get("kind") == "rename"]


@pytest.mark.parametrize("new", ["sketch.yaml", "parts/sketch.yaml"])
def test_checks_and_test_cases_move_along_with_their_workflow(server: RawClient, folder: Path, new: str) -> None:
    stem = new.removesuffix(".yaml")
    assert sorted(moved_along(server, folder, ["rename"], new)) == [
        ((folder / f"draft.{kind}.yaml").as_uri(), (folder / f"{stem}.{kind}.yaml").as_uri())
        for kind in ("cases", "checks")
    ]


def test_no_file_moves_along_in_a_client_that_moves_none(server: RawClient, folder: Path) -> None:
    assert moved_along(server, folder, ["create"]) == []


def test_nothing_is_announced_to_a_client_that_tells_of_no_renaming(server: RawClient, folder: Path) -> None:
    full = Full(server, folder, {})
    assert "fileOperations" not in full.capabilities["workspace"]
    assert full.ask("workspace/willRenameFiles", {"files": 5}) is None


def test_lenses_hints_and_colours_are_asked_for_again_while_something_runs(
    fake: Callable[..., RawClient], folder: Path
) -> None:
    client = fake()
    editor = Editor(client, folder, capabilities=CAPABILITIES)
    client.diagnostics(editor.uri, 1)
    assert editor.run({"iterations": 3, "yes": 3})["ok"] is True
    editor.wait_event("completed")
    for what in ("codeLens", "inlayHint", "semanticTokens"):
        client.wait(lambda m, what=what: m.get("method") == f"workspace/{what}/refresh")  # type: ignore[misc]
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    hints = client.ask("textDocument/inlayHint", {"textDocument": {"uri": editor.uri}, "range": everything})["result"]
    assert any("③ YES" in one["label"] for one in hints), hints
