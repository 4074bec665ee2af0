"""A file that cannot be read as text at all: one finding where it is ours, and none where it is not."""

from __future__ import annotations

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.object_view import syntax_fault
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


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ('{"a": [\n1,\n2,\n3 4 5\n', (3, 2, 3, 3)),
        ('{"a": [\n1,\n3 4 5\n', (2, 2, 2, 3)),
        ('{"a": [\n3 4 5\n', (0, 0, 0, 1)),
        ('{"a": [\n1,\n2,\n3', (3, 1, 3, 1)),
        ("", (0, 0, 0, 0)),
    ],
)
def test_of_json_the_sign_is_marked_at_which_a_strict_reader_stops(text: str, marked: tuple[int, ...]) -> None:
    """Unless the fault that is told lies on the same line or the one above."""
    fault = syntax_fault(Document.open("file:///ws/loops/a.json", text))
    assert fault is not None
    start, end = fault.span
    assert (*start, *end) == marked
