"""Bad input: a clear fault, work that grows with the length only, bounded memory and no recursion error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loop_ls.syntax.nodes import Mapping, Node, Sequence
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.testing.call_count import calls_in
from loop_ls.text.lines import Text
from loop_ls.text.position import span

LEVELS, LINES = 10_000, 600
#: Calls of functions for each character (most texts take one, those of very short lines twenty), and for a text.
MOST, LEAST = 40, 60_000


def read(text: str) -> Tree:
    return in_bounds(text, lambda: read_yaml(Text.of(text)))


def in_bounds(text: str, work: Callable[[], Tree], steps: int = 1) -> Tree:
    trees: list[Tree] = []
    assert calls_in(lambda: trees.append(work())) < steps * (MOST * len(text) + LEAST)
    return trees[0]


def codes(tree: Tree) -> set[str]:
    return {fault.code for piece in tree.pieces for fault in piece.faults}


@pytest.mark.parametrize(
    "text",
    [
        "env: " + "[" * LEVELS,
        "env: " + "[" * LEVELS + "]" * LEVELS,
        "env: " + "{a: " * LEVELS,
        "env: " + "{a: " * LEVELS + "}" * LEVELS,
        "env:\n  " + "- " * LEVELS + "x",
        "env:\n" + "".join(" " * n + "a:\n" for n in range(1, 1500)),
        "[" * LEVELS,
        "- " * LEVELS,
        "steps:\n  - " + "- " * LEVELS + "\n  - x: [\n",
    ],
    ids=["[", "[]", "{", "{}", "dashes", "keys", "root [", "root dashes", "broken"],
)
def test_ten_thousand_levels_are_one_fault(text: str) -> None:
    tree = read(text)
    assert "too-deep" in codes(tree)
    # Nobody knows what closes below what is not read.
    assert "open-bracket" not in codes(tree) or text.endswith("x: [\n")
    assert all(depth(piece.node) <= 101 for piece in tree.pieces)


@pytest.mark.parametrize(
    "text",
    [
        "a: 'x\n" * LINES,
        'a: "x\n' * LINES,
        "steps:\n" + '  - run: "x\n' * LINES,
        "steps:\n" + "  - needs: [x\n" * LINES,
        "a: [\n" * LINES,
        "un\n" * LINES,
        "steps:\n" + "  - na\n    name: x\n" * LINES,
        "env:\n" + "  un\n" * LINES,
        "env:\n" + "\t\tx: y\n" * LINES,
        "env:\n" + "   - x\n" * LINES + "  - y\n" * LINES,
        "x" * 1_000_000,
        "a: " + "x: " * 100_000,
        'a: "' + "\\" * 200_001,
        "a: " + "&x " * 50_000,
        "a: " + "'" * 200_001,
        ("k" * 2000 + ": v\n") * 200,
        "steps:\n" + "  - run: |\n      x\n   y\n" * LINES,
    ],
    ids=lambda text: repr(text[:18]),
)
def test_the_work_on_long_broken_texts_grows_with_their_length_only(text: str) -> None:
    assert read(text).pieces


@pytest.mark.parametrize(
    "text", ["env:\n" + "  un\n" * LINES, "env: [\n" + "  x,\n" * LINES, "steps:\n" + '  - run: "x\n' * LINES]
)
def test_the_work_on_an_edit_of_a_long_broken_text_is_no_more_than_that_of_reading_it(text: str) -> None:
    tree = read(text)
    in_bounds(text, lambda: tree.edit(span(3, 0, 3, 0), " "))


def test_a_text_of_another_kind_is_given_up_with_one_more_fault() -> None:
    text = "12:00:00 INFO: something: happened\n" * 20_000
    tree = read(text)
    assert [fault.code for fault in tree.faults] == ["too-many-faults"]
    edited = tree.edit(span(10_000, 0, 10_000, 0), "a: b\n")
    assert [fault.code for fault in edited.faults] == ["too-many-faults"]
    assert len(edited.pieces) < 1000


def test_the_work_on_a_key_that_changes_the_meaning_of_all_below_is_that_of_reading_it() -> None:
    text = "name: x\nsteps:\n" + "  - name: a\n    run: b\n" * LINES
    tree = read(text)

    def edited() -> Tree:
        other = tree.edit(span(1, 0, 1, 0), "x").edit(span(0, 0, 0, 0), "---\n---\n").edit(span(0, 0, 2, 0), "")
        return other.edit(span(1, 0, 1, 1), "")

    assert len(in_bounds(text, edited, steps=4).pieces) == LINES + 2


@pytest.mark.parametrize("sign", ["\x07", "\x00", "\x1b", "\x7f", "\ud800", "\ufffe"])
def test_signs_that_yaml_forbids_are_one_fault_at_their_place(sign: str) -> None:
    tree = read(f"name: x\nenv:\n  A: b{sign}c\nversion: 1\n")
    (fault,) = (fault for piece in tree.pieces for fault in piece.faults)
    assert fault.code == "syntax"
    assert fault.span.start == (1, 6)
    assert [piece.section for piece in tree.pieces] == ["name", "env", "version"]


def depth(node: Node | None) -> int:
    deepest, waiting = 0, [(node, 1)]
    while waiting:
        part, level = waiting.pop()
        deepest = max(deepest, level)
        match part:
            case Mapping():
                waiting += [(entry.value, level + 1) for entry in part.entries]
            case Sequence():
                waiting += [(item, level + 1) for item in part.items]
    return deepest
