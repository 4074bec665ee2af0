"""Typing in a text of a JSON file: everything around it is kept, and the tree is that of a fresh reading."""

from __future__ import annotations

import json
import random

import pytest

from loop_ls.syntax.nodes import Mapping, Sequence
from loop_ls.syntax.tree import Tree, read_json
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

STAGES = [{"role": f"r{n}", "prompt": f'Say {n}, and "no" more\\.', "tags": ["a", "b"]} for n in range(6)]
TEXT = json.dumps({"name": "loop", "stages": STAGES, "steps": [{"x": "y"}], "last": "end"}, indent=1)
ODD = [
    TEXT,
    TEXT.replace('"end"', '"end" '),
    TEXT.replace('"a",', '"a" ,').replace(": ", " :\t"),
    TEXT.replace('"end"', "'end'"),
    TEXT.replace('"name"', '// why\n"name"'),
    TEXT.replace('"name"', '/*\n "role": "r0",\n*/ "name"'),
    TEXT.replace('"last"', '<<<<<<< ours\n=======\n>>>>>>> theirs\n"last"'),
    TEXT.replace("},", "}"),
    TEXT.replace('"b"', '"b'),
    '"one"',
    '[\n"one",\n"two"\n]',
    '{\n"a": "1",\n"a": "2"\n}',
    '{\n"a":\n"1",\n"b":\n["x"]\n}',
]
TYPED = [
    "x",
    "",
    '"',
    "\\",
    "\\n",
    "\\x",
    "{",
    "}",
    "[",
    ",",
    ":",
    " ",
    "//",
    "/*",
    "\t",
    "é",
    "u0041",
    "\x00",
    "'",
    "🎉",
]


def same(tree: Tree) -> bool:
    fresh = read_json(tree.text)
    return (repr(tree.pieces), tree.faults, tree.conflicts) == (repr(fresh.pieces), fresh.faults, fresh.conflicts)


@pytest.mark.parametrize("seed", range(3))
def test_after_any_edit_the_tree_is_that_of_a_fresh_reading(seed: int) -> None:
    choose = random.Random(seed)
    for text in ODD:
        tree = read_json(Text.of(text))
        for _ in range(16):
            line = choose.randrange(len(tree.text.lines))
            column = choose.randint(0, len(tree.text.line(line)))
            end = min(len(tree.text.line(line)), column + choose.choice([0, 0, 0, 1, 2]))
            tree = tree.edit(Span(Position(line, column), Position(line, end)), choose.choice(TYPED))
            assert same(tree)
            if choose.random() < 0.2:
                tree = read_json(Text.of(text))


@pytest.mark.parametrize("typed", ["x", "\\n", ", {}", "//"])
def test_what_stands_around_a_text_is_kept(typed: str) -> None:
    tree = read_json(Text.of(TEXT))
    line = next(n for n, one in enumerate(tree.text.lines) if "Say 3" in one)
    column = tree.text.line(line).index("Say 3") + 3
    after = tree.edit(Span(Position(line, column), Position(line, column)), typed)
    assert same(after)
    before, now = tree.pieces[1].node, after.pieces[1].node
    assert isinstance(before, Sequence)
    assert isinstance(now, Sequence)
    assert [one is other for one, other in zip(before.items, now.items, strict=True)] == [n != 3 for n in range(6)]
    assert isinstance(now.items[3], Mapping)
    assert after.pieces[0].node is tree.pieces[0].node


@pytest.mark.parametrize("typed", ['"', "\\", "\\x", "\t"])
def test_what_ends_a_text_or_is_none_is_read_as_a_whole(typed: str) -> None:
    tree = read_json(Text.of(TEXT))
    line = next(n for n, one in enumerate(tree.text.lines) if "Say 3" in one)
    column = tree.text.line(line).index("Say 3") + 3
    after = tree.edit(Span(Position(line, column), Position(line, column)), typed)
    assert same(after)
    assert any(piece.faults for piece in after.pieces)
