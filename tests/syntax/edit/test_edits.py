"""Edits: what was asked for reads back, and everything around it stays as it was."""

from __future__ import annotations

from collections.abc import Sequence as Many

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loop_ls.syntax.edit import edits
from loop_ls.syntax.edit.edits import Edit
from loop_ls.syntax.edit.render import scalar_text
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Mapping, Scalar, Sequence
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text

FILE = """\
name: x
steps:
  - name: a
    run: A  # keep me
  - name: b
    needs: [a]
    with: {k: v, l: w}
    run: |
      B

      b

  - name: c
    needs:
      - a
      - b  # the second
"""


def read(text: str) -> Tree:
    return read_yaml(Text.of(text))


def step(tree: Tree, number: int) -> tuple[Piece, Mapping]:
    piece = [piece for piece in tree.pieces if piece.kind == "item"][number]
    assert isinstance(piece.node, Mapping)
    return piece, piece.node


def done(tree: Tree, changes: Many[Edit]) -> str:
    for change in sorted(changes, key=lambda change: change.span, reverse=True):
        tree = tree.edit(change.span, change.text)
    return str(tree.text)


def change(before: str, after: str) -> str:
    assert before in FILE
    return FILE.replace(before, after)


def test_a_new_key_goes_behind_the_last_line_of_a_mapping() -> None:
    tree = read(FILE)
    piece, node = step(tree, 0)
    expected = change("# keep me\n", "# keep me\n    needs: [c]\n")
    assert done(tree, edits.insert_entry(tree, piece, node, "needs", "[c]")) == expected


def test_a_new_key_goes_behind_a_block_text_and_in_front_of_its_blank_lines() -> None:
    tree = read(FILE)
    piece, node = step(tree, 1)
    expected = change("      b\n\n", "      b\n    timeout: 5s\n\n")
    assert done(tree, edits.insert_entry(tree, piece, node, "timeout", "5s")) == expected


def test_a_new_key_goes_behind_the_key_that_is_named() -> None:
    tree = read(FILE)
    piece, node = step(tree, 1)
    expected = change("  - name: b\n", "  - name: b\n    if: x\n")
    assert done(tree, edits.insert_entry(tree, piece, node, "if", "x", node.entries[0])) == expected


def test_a_value_of_several_lines_is_indented_with_its_key() -> None:
    tree = read(FILE)
    piece, node = step(tree, 0)
    value = "\n  until: done\n  max_iterations: 3"
    expected = change("# keep me\n", "# keep me\n    loop:\n      until: done\n      max_iterations: 3\n")
    assert done(tree, edits.insert_entry(tree, piece, node, "loop", value)) == expected


def test_a_flow_mapping_stays_one() -> None:
    tree = read(FILE)
    piece, node = step(tree, 1)
    inner = node.get("with")
    assert inner is not None
    assert isinstance(inner.value, Mapping)
    grown = edits.insert_entry(tree, piece, inner.value, "m", "1")
    assert done(tree, grown) == change("{k: v, l: w}", "{k: v, l: w, m: 1}")
    for entry, left in zip(inner.value.entries, ("{l: w}", "{k: v}"), strict=True):
        assert done(tree, edits.remove_entry(tree, piece, inner.value, entry)) == change("{k: v, l: w}", left)


@pytest.mark.parametrize(
    ("number", "before", "after"),
    [
        (0, "# keep me\n", "# keep me\n    needs: [z]\n"),
        (1, "[a]", "[a, z]"),
        (2, "# the second\n", "# the second\n      - z\n"),
    ],
)
def test_a_need_is_added_in_the_style_of_the_list(number: int, before: str, after: str) -> None:
    tree = read(FILE)
    piece, node = step(tree, number)
    assert done(tree, edits.add_to_list(tree, piece, node, "needs", "z")) == change(before, after)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("needs: []", "needs: [z]"),
        ("needs:", "needs: [z]"),
        ("needs:  # none", "needs: [z]  # none"),
        ("needs: a", "needs: a"),
        ("needs: *x", "needs: *x"),
        ("needs: [a,\n      b]", "needs: [a,\n      b, z]"),
        ('needs: ["a"]', 'needs: ["a", z]'),
    ],
)
def test_lists_of_every_kind(written: str, expected: str) -> None:
    tree = read(f"steps:\n  - name: q\n    {written}\n    run: x\n")
    piece, node = step(tree, 0)
    after = done(tree, edits.add_to_list(tree, piece, node, "needs", "z"))
    assert after == f"steps:\n  - name: q\n    {expected}\n    run: x\n"


def test_removing_a_key_takes_its_lines() -> None:
    tree = read(FILE)
    piece, node = step(tree, 1)
    run = node.get("run")
    assert run is not None
    assert done(tree, edits.remove_entry(tree, piece, node, run)) == change("    run: |\n      B\n\n      b\n", "")


def test_removing_the_first_key_keeps_the_dash() -> None:
    tree = read(FILE)
    piece, node = step(tree, 0)
    assert done(tree, edits.remove_entry(tree, piece, node, node.entries[0])) == change("name: a\n    run", "run")


def test_removing_the_only_key_leaves_an_empty_mapping() -> None:
    tree = read("steps:\n  - name: a\n")
    piece, node = step(tree, 0)
    assert done(tree, edits.remove_entry(tree, piece, node, node.entries[0])) == "steps:\n  - {}\n"


def test_removing_the_last_key_of_a_file_leaves_no_blank_line() -> None:
    tree = read("steps:\n  - name: a\n    run: x")
    piece, node = step(tree, 0)
    assert done(tree, edits.remove_entry(tree, piece, node, node.entries[1])) == "steps:\n  - name: a"


def test_new_lines_end_as_the_others_do() -> None:
    tree = read("steps:\r\n  - name: a\r\n")
    piece, node = step(tree, 0)
    assert done(tree, edits.insert_entry(tree, piece, node, "run", "x")) == "steps:\r\n  - name: a\r\n    run: x\r\n"


def test_items_are_added_to_block_lists() -> None:
    tree = read("env:\n  L:\n  - a\n")
    piece = tree.pieces[0]
    assert isinstance(piece.node, Mapping)
    items = piece.node.entries[0].value
    assert isinstance(items, Sequence)
    assert done(tree, edits.append_item(tree, piece, items, "k: 1\nl: 2")) == "env:\n  L:\n  - a\n  - k: 1\n    l: 2\n"


@pytest.mark.parametrize(
    ("written", "new", "expected"),
    [
        ("run: old", "a: b", 'run: "a: b"'),
        ("run: old", "fine", "run: fine"),
        ("run: old", "yes", 'run: "yes"'),
        ("run: 'old'", "it's", "run: 'it''s'"),
        ('run: "old"', 'say "x"', 'run: "say \\"x\\""'),
        ("run: 'old'", "two\nlines", 'run: "two\\nlines"'),
        ("run: |\n      old\n      text", "new\n\ntext", "run: |\n      new\n\n      text"),
        ("run: >-\n      old", "new", "run: >-\n      new"),
        ("run: |", "new", "run: |\n      new"),
        ("run: |\n      old", " led by a blank", 'run: " led by a blank"'),
    ],
)
def test_a_text_keeps_its_quotes(written: str, new: str, expected: str) -> None:
    tree = read(f"steps:\n  - name: a\n    {written}\n    if: x\n")
    piece, node = step(tree, 0)
    entry = node.get("run")
    assert entry is not None
    assert isinstance(entry.value, Scalar)
    after = done(tree, edits.set_scalar(tree, piece, entry.value, new))
    assert after == f"steps:\n  - name: a\n    {expected}\n    if: x\n"


def test_a_key_is_renamed_in_its_quotes() -> None:
    tree = read("steps:\n  - 'nam': a\n")
    piece, node = step(tree, 0)
    assert done(tree, edits.set_scalar(tree, piece, node.entries[0].key, "name")) == "steps:\n  - 'name': a\n"


@settings(deadline=None)
@given(st.text(max_size=20), st.sampled_from(["old", "'old'", '"old"', "|\n      old", ">\n      old"]))
def test_every_text_reads_back(text: str, written: str) -> None:
    tree = read(f"steps:\n  - name: a\n    run: {written}\n    if: x\n")
    piece, node = step(tree, 0)
    assert isinstance(node.entries[1].value, Scalar)
    after = read(done(tree, edits.set_scalar(tree, piece, node.entries[1].value, text)))
    _, changed = step(after, 0)
    value = changed.entries[1].value
    assert isinstance(value, Scalar)
    assert value.text.rstrip("\n") == text.rstrip("\n")
    assert [entry.key.text for entry in changed.entries] == ["name", "run", "if"]


@given(st.text(max_size=12))
def test_every_text_reads_back_in_a_flow_list(text: str) -> None:
    tree = read(f"a: [{scalar_text(text, flow=True)}, z]\n")
    node = tree.pieces[0].node
    assert isinstance(node, Sequence)
    assert [item.text for item in node.items if isinstance(item, Scalar)] == [text, "z"]


def test_a_block_text_keeps_the_line_ends_of_its_file() -> None:
    tree = read(FILE.replace("\n", "\r\n"))
    piece, node = step(tree, 1)
    run = node.get("run")
    assert run is not None
    assert isinstance(run.value, Scalar)
    text = done(tree, edits.set_scalar(tree, piece, run.value, "B\n\nb\n\nc\n"))
    assert "      b\r\n\r\n      c\r\n" in text
    assert "\n" not in text.replace("\r\n", "")
