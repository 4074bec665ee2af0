"""Folding, selection ranges and on-type indentation: what follows from the shape of a file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from loop_ls.features.folding import folds
from loop_ls.features.on_type import on_type
from loop_ls.features.selection import selection
from loop_ls.text.position import Position

FLOW = """
#- flow.yaml
# one
# two
$schema: workflow/v2.0
name: flow
execution:
  provider: ollama
  model: x
steps:
  - name: a
    run: |
      first
      {{input}} and more

  - name: b
    needs: [
      a,
    ]
    run: x

loops:
  - name: l
    workflow: w
    with:
      text: "{{a}}"
    max_iterations: 3
"""


def test_sections_elements_texts_collections_and_comments_fold(ask: Any) -> None:
    found = [(fold.start + 1, fold.end + 1) for fold in folds(ask(FLOW).document)]
    assert found == [
        (1, 2),
        (5, 7),
        (8, 18),
        (9, 12),
        (10, 12),
        (14, 18),
        (15, 17),
        (20, 25),
        (21, 25),
        (23, 24),
    ]
    assert [fold.comment for fold in folds(ask(FLOW).document)][:2] == [True, False]


def test_folds_of_half_typed_text(ask: Any) -> None:
    document = ask(FLOW.replace("needs: [", 'needs: ["')).document
    assert (8, 18) in [(fold.start + 1, fold.end + 1) for fold in folds(document)]


def test_selection_grows_from_the_word_to_the_file(ask: Any) -> None:
    asked = ask(FLOW.replace("{{input}}", "{{in$0put}}"))
    texts = [asked.document.text.slice(span) for span in selection(asked.document, asked.at)]
    assert texts[:3] == ["input", "{{input}}", "{{input}} and more"]
    assert texts[3].startswith("|\n") and texts[4].startswith("run: |")
    assert texts[5].startswith("name: a") and texts[6].startswith("steps:")
    assert texts[-1] == str(asked.document.text)
    assert all(small in large for small, large in pairwise(texts))


@pytest.mark.parametrize("line", range(25))
def test_every_selection_lies_in_the_next(ask: Any, line: int) -> None:
    document = ask(FLOW).document
    for column in range(len(document.text.lines[line]) + 1):
        chain = selection(document, Position(line, column))
        assert chain
        for small, large in pairwise(chain):
            assert large.start <= small.start and small.end <= large.end and small != large


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("steps:\n  - name: a\n    run: |\n$0", 6),
        ("steps:\n  - name: a\n    run: >-\n    $0", 6),
        ("steps:\n  - name: a\n    run: |\n        deep\n$0", 8),
        ("steps:\n  - name: a\n  $0", 4),
        ("steps:\n- name: a\n$0", 2),
        ("steps:\n  - name: a\n    loop:\n    $0", 6),
        ("steps:\n$0", 2),
        ("execution:\n    provider: x\nsteps:\n    - name: a\n    $0", 6),
        ("steps:\n  - name: a\n    needs:\n$0", 6),
        ("execution:\n$0", 2),
    ],
)
def test_a_fresh_line_is_indented_like_its_siblings(ask: Any, text: str, column: int) -> None:
    asked = ask(text)
    edits = on_type(asked.document, asked.at)
    now = edits[0].text if edits else asked.document.text.lines[asked.at.line]
    assert now == " " * column


@pytest.mark.parametrize(
    "text",
    [
        "steps:\n  - name: a\n$0    run: x",
        "steps:\n  - name: a\n\n$0",
        "steps:\n  - name: a\n    needs: [a,\n$0",
        'steps:\n  - name: a\n    run: "text\n$0',
        "steps:\n  - name: a\n    run: text\n      more\n  $0",
    ],
)
def test_nothing_that_is_written_moves(ask: Any, text: str) -> None:
    asked = ask(text)
    assert on_type(asked.document, asked.at) == ()
    assert on_type(asked.document, asked.at, "x") == ()


def test_the_fold_of_a_section_ends_above_what_belongs_to_the_next_key(ask: Any) -> None:
    document = ask(
        """
        steps:
          - name: a
            run: |
              b
          # of steps

        # what loops do
        # and why
        loops:
          - {name: l, workflow: w, max_iterations: 3, until: "Says PASS"}
        """
    ).document
    lines = document.text.lines
    ends = {lines[fold.start].strip(): lines[fold.end] for fold in folds(document)}
    assert ends["steps:"] == "  # of steps"
    assert ends["# what loops do"] == "# and why"
