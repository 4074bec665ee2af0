"""Aliases of anchors in other parts: only what an edit touched is read again, and places stay right."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Alias, Mapping, Scalar, resolved
from loop_ls.syntax.placeholders import islands
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.syntax.yaml.anchors import MAX_ADDED
from loop_ls.text.lines import Text
from loop_ls.text.position import Span, span
from tests.syntax.flat import flat_content, flat_tree, flat_whole
from tests.syntax.odd_lines import linked_document, linked_edit

TEXT = """\
name: x
text: &text |
  Say {{input}} twice.
steps:
  - name: one
    temperature: &warm 0.5
    run: a
  - name: two
    run: b
  - name: three
    temperature: *warm
    run: *text
  - name: four
    run: c
"""


def read(text: str) -> Tree:
    return read_yaml(Text.of(text))


def names(pieces: list[Piece]) -> list[str]:
    return ["\n".join(piece.lines).split("name: ")[-1].split("\n")[0] for piece in pieces]


def read_again(before: Tree, after: Tree) -> list[str]:
    kept = set(map(id, before.pieces))
    return names([piece for piece in after.pieces if id(piece) not in kept])


def value(piece: Piece, key: str) -> Alias:
    assert isinstance(piece.node, Mapping)
    found = piece.node.get(key)
    assert found is not None
    assert isinstance(found.value, Alias)
    return found.value


def place(tree: Tree, alias: Alias, piece: Piece) -> Span:
    assert alias.target is not None
    return alias.target.span.shift(tree.start_of(piece))


def test_a_key_elsewhere_reads_nothing_that_has_an_alias() -> None:
    before = read(TEXT)
    after = before.edit(span(8, 10, 8, 10), "x")
    assert read_again(before, after) == ["two"]


def test_a_line_between_moves_what_an_alias_stands_for() -> None:
    before = read(TEXT)
    after = before.edit(span(8, 10, 8, 10), "\n    timeout: 3s")
    assert read_again(before, after) == ["two", "three"]
    three = after.pieces[-2]
    assert place(after, value(three, "temperature"), three) == span(5, 23, 5, 26)


def test_a_line_below_or_above_both_reads_no_alias_again() -> None:
    before = read(TEXT)
    assert read_again(before, before.edit(span(13, 10, 13, 10), "\n    timeout: 3s")) == ["four"]
    assert "three" not in read_again(before, before.edit(span(0, 7, 0, 7), "\n# remark"))


def test_what_an_anchor_marks_reaches_every_alias_when_it_changes() -> None:
    before = read(TEXT)
    after = before.edit(span(5, 25, 5, 26), "7")
    assert read_again(before, after) == ["one", "three"]
    target = resolved(value(after.pieces[-2], "temperature"))
    assert isinstance(target, Scalar)
    assert target.text == "0.7"


@pytest.mark.parametrize(("at", "new"), [(span(5, 18, 5, 22), "cold"), (span(5, 17, 5, 23), "")])
def test_an_alias_stands_for_nothing_when_its_anchor_goes(at: Span, new: str) -> None:
    after = read(TEXT).edit(at, new)
    assert value(after.pieces[-2], "temperature").target is None
    assert [fault.code for fault in after.faults] == ["unknown-anchor"]
    assert flat_tree(after) == flat_tree(read(str(after.text)))


def test_placeholders_behind_an_alias_stand_where_they_are_written() -> None:
    tree = read(TEXT)
    three = tree.pieces[-2]
    scalar = resolved(value(three, "run"))
    assert isinstance(scalar, Scalar)
    [island] = islands(three.lines, scalar)
    assert island.span.shift(tree.start_of(three)) == span(2, 6, 2, 15)


def test_chains_of_aliases_lead_through_several_parts() -> None:
    text = "a: &a 'x {{y}}'\nb: 1\nc: &c [*a]\nd: 2\ne: [*c]\n"
    tree = read(text)
    assert flat_content(tree) == flat_whole(text)
    last = tree.pieces[-1]
    inner = resolved(last.node.items[0])  # type: ignore[union-attr]
    scalar = resolved(inner.items[0])  # type: ignore[union-attr]
    assert isinstance(scalar, Scalar)
    [island] = islands(last.lines, scalar)
    assert island.span.shift(tree.start_of(last)) == span(0, 9, 0, 14)
    after = tree.edit(span(0, 9, 0, 9), "more ")
    assert flat_tree(after) == flat_tree(read(str(after.text)))


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "a: &x 1\nb: &x 2\nc: *x\nd: &x 3\ne: [*x, &x 4, *x]\n",
        "base: &base {x: 1, y: 2}\nsteps:\n  - &s {<<: *base, name: a}\n  - *s\n  - <<: *s\n    y: 3\n",
        "a: &x\n  b: 1\nsteps:\n  - &x {a: *x}\n  - *x\n",
        "a: &k name\nb: {*k : 1}\n",
    ],
)
def test_bound_aliases_are_those_of_the_whole_document(text: str) -> None:
    assert flat_content(read(text)) == flat_whole(text)


def test_what_is_merged_may_hold_an_alias_of_what_stands_inside_another_anchor() -> None:
    text = "a: &a {x: &in [1], y: *in}\nb: &b\n  <<: *a\nc: *b\n"
    assert flat_content(read(text)) == flat_whole(text)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_edits_among_anchors_aliases_and_merge_keys_end_as_a_fresh_reading(seed: int) -> None:
    chance = random.Random(seed)
    tree = read(linked_document(chance, chance.choice((2, 5, 12))))
    for _ in range(8):
        tree = tree.edit(*linked_edit(tree.text.lines, chance))
        assert flat_tree(tree) == flat_tree(read(str(tree.text)))


def test_an_alias_keeps_its_meaning_while_another_part_is_half_typed() -> None:
    tree = read(TEXT.replace("    run: b", "    run"))
    assert place(tree, value(tree.pieces[-2], "temperature"), tree.pieces[-2]) == span(5, 23, 5, 26)


def test_too_many_values_from_aliases_in_several_parts_are_one_fault_of_the_document() -> None:
    wide = "base: &base [" + ", ".join("x" for _ in range(MAX_ADDED // 4)) + "]\n"
    many = wide + "".join(f"k{number}: *base\n" for number in range(6))
    tree = read(many)
    assert "too-many-aliases" in [fault.code for piece in tree.pieces for fault in piece.faults]
    fewer = tree.edit(span(3, 4, 7, 0), "1\n")
    assert flat_tree(fewer) == flat_tree(read(str(fewer.text)))
    assert not any(piece.faults for piece in fewer.pieces)
