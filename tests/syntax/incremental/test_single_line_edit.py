"""A line in a large piece is read with the entry around it, and the tree is the one of the whole piece."""

from __future__ import annotations

import random
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from loop_ls.syntax.incremental import single_line_edit
from loop_ls.syntax.nodes import Mapping
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.testing.call_count import calls_in
from loop_ls.text import invariant
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span, span
from tests.syntax.flat import flat_tree
from tests.syntax.incremental.test_cut_equals_whole import WORKFLOW, documents
from tests.syntax.odd_lines import SIGNS

ENV = "name: x\nenv:\n" + "".join(f"  KEY_{number}: value {number}\n" for number in range(500)) + "steps: []\n"

relaxed = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@relaxed
@given(documents(), st.integers(0, 2**32))
@example(WORKFLOW, 5)
@example(ENV, 5)
def test_typing_in_a_line_gives_the_tree_of_reading_afresh(text: str, seed: int) -> None:
    rng = random.Random(seed)
    tree = read_yaml(Text.of(text))
    with mock.patch.object(single_line_edit, "LEAST", 1):
        for _ in range(6):
            tree = _typed(tree, rng)
    assert flat_tree(tree) == flat_tree(read_yaml(Text.of(str(tree.text))))


def _typed(tree: Tree, rng: random.Random) -> Tree:
    line = rng.randrange(len(tree.text.lines))
    start = rng.randint(0, len(tree.text.line(line)))
    end = min(len(tree.text.line(line)), start + rng.choice((0, 0, 1, 2)))
    sign = rng.choice(["x", "y: z", "a", *(sign for sign in SIGNS if sign not in ("\n", "\r", "\r\n", "\ufeff"))])
    return tree.edit(Span(Position(line, start), Position(line, end)), sign)


def test_all_other_entries_of_a_large_mapping_stay() -> None:
    tree = read_yaml(Text.of(ENV))
    edited = tree.edit(span(252, 0, 252, 99), "  KEY_250: 'new'")
    old, new = tree.pieces[1].node, edited.pieces[1].node
    assert isinstance(old, Mapping)
    assert isinstance(new, Mapping)
    changed = [a.key.text for a, b in zip(old.entries, new.entries, strict=True) if a is not b]
    assert changed == ["KEY_250"]
    assert tree.pieces[1] is not edited.pieces[1]
    assert edited.pieces[1].lines[251] == "  KEY_250: 'new'"


def test_the_end_of_a_large_mapping_moves_with_its_last_entry() -> None:
    tree = read_yaml(Text.of(ENV)).edit(span(501, 0, 501, 99), "  KEY_499: longer than before")
    node = tree.pieces[1].node
    assert node is not None
    assert node.span == span(1, 2, 500, 29)


def test_a_line_is_a_fraction_of_the_work_on_its_large_mapping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariant, "_checked", False)  # each check reads all anew
    tree = read_yaml(Text.of(ENV)).edit(span(252, 15, 252, 15), "x")
    whole = calls_in(lambda: read_yaml(Text.of(ENV)))
    line = calls_in(lambda: tree.edit(span(252, 15, 252, 15), "x"))
    assert 0 < line < whole / 5
