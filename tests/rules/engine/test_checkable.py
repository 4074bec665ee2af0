"""What can be said where not every file of a workspace was read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from loop_ls.index.disk.discovery import Found
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.nearby_lookup import with_called
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine import checker
from loop_ls.rules.engine.checker import NEEDS_ALL_FILES, checkable

HEAD = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\nsteps:\n"
CALLER = HEAD.format("caller") + "  - {name: a, template: {name: callee, with: {input: x}}}\n"


@pytest.fixture
def caller(tmp_path: Path) -> Document:
    (tmp_path / "callee.yaml").write_text(HEAD.format("callee") + "  - {name: a, run: '{{input}}'}\n")
    return Document.open((tmp_path / "caller.yaml").as_uri(), CALLER)


def workspace_of(caller: Document) -> Workspace:
    return Workspace.of(Roots(str(Path(caller.path).parent)), [caller])


def test_where_every_file_was_read_all_rules_speak(caller: Document) -> None:
    workspace = workspace_of(caller)
    assert checkable(Found(workspace), workspace, [caller]) == (workspace, frozenset())


def test_where_folders_are_ignored_what_is_called_in_them_is_looked_up(caller: Document) -> None:
    workspace = workspace_of(caller)
    found, untold = checkable(Found(workspace, ignored=True), workspace, [caller])
    assert [Path(document.path).name for document in found.documents.values()] == ["caller.yaml", "callee.yaml"]
    assert untold == frozenset()


def test_where_there_are_too_many_files_nothing_is_said_of_who_calls_this_one(caller: Document) -> None:
    workspace = workspace_of(caller)
    found, untold = checkable(Found(workspace, capped=True), workspace, [caller])
    assert len(found.documents) == 2
    assert untold == NEEDS_ALL_FILES - {"WF601"}, "what is called was looked up"


def test_where_even_what_is_called_is_too_much_nothing_is_said_of_it(
    caller: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "with_called", partial(with_called, most=0))
    workspace = workspace_of(caller)
    for found in (Found(workspace, capped=True), Found(workspace, ignored=True)):
        assert checkable(found, workspace, [caller]) == (workspace, NEEDS_ALL_FILES)
