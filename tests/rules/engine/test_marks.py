"""What is marked where a value is meant: all of it on one line, its first sign or key where it takes several."""

from __future__ import annotations

import pytest

from loop_ls.index.document import Document
from loop_ls.rules.engine.context import node_span
from loop_ls.rules.engine.object_view import mark


@pytest.mark.parametrize(
    ("value", "marked"),
    [
        ("a", (0, 3, 0, 4)),
        ("'a\n    b'", (0, 3, 1, 6)),
        ("|\n    a\n    b\n", (0, 3, 0, 4)),
        ("|\n    a\n", (0, 3, 0, 4)),
        ("{a: b}", (0, 3, 0, 9)),
        ("{a: b,\n    c: d}", (0, 3, 1, 9)),
        ("{\n  }", (0, 3, 1, 3)),
        ("\n    aa: b\n    c: d\n", (1, 4, 1, 6)),
        ("\n    aa: b\n", (1, 4, 1, 9)),
        ("\n    <<: {a: b}\n    cc: d\n", (2, 4, 2, 6)),
        ("\n    <<: {a: b,\n      c: d}\n", (1, 4, 1, 6)),
        ("[a]", (0, 3, 0, 6)),
        ("[a,\n    b]", (0, 3, 1, 6)),
        ("\n    - a\n    - b\n", (1, 4, 1, 5)),
    ],
)
def test_a_value_is_marked_as_far_as_its_line_goes(value: str, marked: tuple[int, int, int, int]) -> None:
    top = Document.open("file:///ws/a.yaml", f"$schema: workflow/v2.0\nx: {value}").head.get("x")
    assert top is not None
    assert top.entry.value is not None
    start, end = node_span(top.entry.value)
    assert (*start, *end) == marked


@pytest.mark.parametrize(
    ("value", "marked"),
    [
        ("{aa: b}", (0, 3, 0, 4)),
        ("{aa: b,\n    c: d}", (0, 3, 0, 4)),
        ("\n    aa: b\n    c: d\n", (1, 4, 1, 6)),
        ("[a]", (0, 3, 0, 6)),
        ("a", (0, 3, 0, 4)),
    ],
)
def test_of_an_object_in_a_file_that_is_no_workflow_its_brace_is_marked(
    value: str, marked: tuple[int, int, int, int]
) -> None:
    top = Document.open("file:///ws/a.yaml", f"$schema: workflow/v2.0\nx: {value}").head.get("x")
    assert top is not None
    assert top.entry.value is not None
    start, end = mark(top.entry.value)
    assert (*start, *end) == marked
    assert mark(top.entry) == top.entry.key.span
