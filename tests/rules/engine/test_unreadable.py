"""A file that cannot be read as text at all: one finding where it is ours, and none where it is not."""

from __future__ import annotations

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.text.fault import Fault
from loop_ls.text.position import span


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("team.assistant.yaml", [("AL001", "The file is no text.")]),
        ("loops/build.json", [("RL001", "The file is no text.")]),
        ("values.yaml", []),
    ],
)
def test_only_a_file_that_is_ours_has_to_be_text(path: str, expected: list[tuple[str, str]]) -> None:
    fault = Fault(span(0, 0, 0, 0), "The file is no text.", "unreadable")
    document = Document.open(f"file:///ws/{path}", "", fault=fault)
    found = Checker().findings(Workspace.of(Roots("/ws"), [document]), document)
    assert [(one.rule, one.message) for one in found] == expected
