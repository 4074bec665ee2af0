"""Merge conflicts: found with all their lines, read past, and nothing else taken for one."""

from __future__ import annotations

import random

import pytest

from loop_ls.syntax.merge_conflicts import Conflict, find_conflicts, without_markers
from loop_ls.syntax.tree import read_json, read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span
from tests.syntax.flat import flat_tree

BOTH = "<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n"
BASE = "<<<<<<< HEAD\na: 1\n||||||| 4f2a\na: 0\n=======\n>>>>>>> other"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n", []),
        (BOTH, [Conflict(0, 4, None, 2)]),
        (BASE, [Conflict(0, 5, 2, 4)]),
        ("x: y\n" + BOTH + BASE, [Conflict(1, 5, None, 3), Conflict(6, 11, 8, 10)]),
        ("<<<<<<< HEAD\na: 1\n", [Conflict(0, 0)]),
        ("a: 1\n=======\nb: 2\n>>>>>>> x\n", [Conflict(1, 1), Conflict(3, 3)]),
        ("<<<<<<< one\n" + BOTH, [Conflict(0, 0), Conflict(1, 5, None, 3)]),
        ("a: |\n  <<<<<<< x\n# =======\n========\n<<<<<<<<\n>>>>>>>x\n", []),
    ],
)
def test_conflicts_are_found_by_the_lines_that_git_leaves(text: str, expected: list[Conflict]) -> None:
    for eol in ("\n", "\r\n"):
        assert list(find_conflicts(Text.of(text.replace("\n", eol)))) == expected


def test_what_each_side_is() -> None:
    [conflict] = find_conflicts(Text.of(BASE))
    assert (conflict.current(), conflict.incoming()) == ((1, 2), (5, 5))


def test_lines_without_markers_are_the_same_object() -> None:
    lines = ("a: 1", "<<b: 2")
    assert without_markers(lines) is lines


@pytest.mark.parametrize(
    "text", ["steps:\n" + BOTH.replace("a:", "- a:") + "- b: 3\n", "a: |\n  x\n" + BOTH + "z: 1\n"]
)
def test_what_follows_a_conflict_is_read(text: str) -> None:
    tree = read_yaml(Text.of(text))
    assert [fault.code for fault in tree.faults] == ["merge-conflict"]
    assert [piece.faults for piece in tree.pieces if piece.faults] == []
    assert tree.pieces[-1].node is not None


def test_a_conflict_in_a_text_of_several_lines_does_not_end_it() -> None:
    tree = read_yaml(Text.of("run: |\n  one\n<<<<<<< HEAD\n  two\n=======\n  three\n>>>>>>> x\n  four\nb: 1\n"))
    assert [piece.key.text for piece in tree.pieces if piece.key] == ["run", "b"]


def test_a_conflict_in_json_is_its_first_fault() -> None:
    tree = read_json(Text.of('{\n<<<<<<< HEAD\n"a": 1,\n=======\n"a": 2,\n>>>>>>> x\n"b": 3\n}'))
    assert [fault.code for fault in tree.faults] == ["merge-conflict"]
    assert [piece.key.text for piece in tree.pieces if piece.key] == ["a", "a", "b"]


def test_edits_around_conflicts_give_the_tree_of_the_new_text() -> None:
    rng = random.Random(1)
    parts = (
        "<<<<<<< a\n",
        "=======\n",
        ">>>>>>> b\n",
        "||||||| c\n",
        "steps:\n",
        "  - name: x\n",
        "a: 1\n",
        "    run: y\n",
    )
    for _ in range(200):
        tree = read_yaml(Text.of("".join(rng.choice(parts) for _ in range(12))))
        for _ in range(8):
            first = Position(rng.randrange(len(tree.text.lines)), 0)
            last = Position(min(first.line + rng.choice((0, 0, 1, 2)), len(tree.text.lines) - 1), 0)
            tree = tree.edit(Span(first, last), rng.choice((*parts, "")))
            assert flat_tree(tree) == flat_tree(read_yaml(Text.of(str(tree.text))))
