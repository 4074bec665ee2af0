"""Bad input: a clear fault within a second, in bounded memory and without a recursion error."""

from __future__ import annotations

import time

import pytest

from loop_ls.syntax.nodes import Mapping, Node, Sequence
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import span

LEVELS = 10_000
LIMIT = 3.0  # seconds of one processor, on the slowest that tests run on: a fast one takes a third of a second


def read(text: str) -> Tree:
    begun = time.thread_time()
    tree = read_yaml(Text.of(text))
    assert time.thread_time() - begun < LIMIT
    return tree


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
        "a: 'x\n" * 2000,
        'a: "x\n' * 2000,
        "steps:\n" + '  - run: "x\n' * 2000,
        "steps:\n" + "  - needs: [x\n" * 2000,
        "a: [\n" * 2000,
        "un\n" * 3000,
        "steps:\n" + "  - na\n    name: x\n" * 2000,
        "env:\n" + "  un\n" * 3000,
        "env:\n" + "\t\tx: y\n" * 2000,
        "env:\n" + "   - x\n" * 2000 + "  - y\n" * 2000,
        "x" * 1_000_000,
        "a: " + "x: " * 100_000,
        'a: "' + "\\" * 200_001,
        "a: " + "&x " * 50_000,
        "a: " + "'" * 200_001,
        ("k" * 2000 + ": v\n") * 200,
        "steps:\n" + "  - run: |\n      x\n   y\n" * 2000,
    ],
    ids=lambda text: repr(text[:18]),
)
def test_long_broken_texts_are_read_in_time(text: str) -> None:
    assert read(text).pieces


@pytest.mark.parametrize(
    "text", ["env:\n" + "  un\n" * 3000, "env: [\n" + "  x,\n" * 3000, "steps:\n" + '  - run: "x\n' * 2000]
)
def test_an_edit_of_a_long_broken_text_is_in_time(text: str) -> None:
    tree = read(text)
    begun = time.thread_time()
    tree.edit(span(3, 0, 3, 0), " ")
    assert time.thread_time() - begun < LIMIT


def test_a_text_of_another_kind_is_given_up_with_one_more_fault() -> None:
    text = "12:00:00 INFO: something: happened\n" * 20_000
    tree = read(text)
    assert [fault.code for fault in tree.faults] == ["too-many-faults"]
    edited = tree.edit(span(10_000, 0, 10_000, 0), "a: b\n")
    assert [fault.code for fault in edited.faults] == ["too-many-faults"]
    assert len(edited.pieces) < 1000


def test_a_key_that_changes_the_meaning_of_all_below_is_read_in_time() -> None:
    tree = read("name: x\nsteps:\n" + "  - name: a\n    run: b\n" * 2000)
    begun = time.thread_time()
    edited = tree.edit(span(1, 0, 1, 0), "x").edit(span(0, 0, 0, 0), "---\n---\n").edit(span(0, 0, 2, 0), "")
    edited = edited.edit(span(1, 0, 1, 1), "")
    assert time.thread_time() - begun < 2 * LIMIT
    assert len(edited.pieces) == 2002


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
