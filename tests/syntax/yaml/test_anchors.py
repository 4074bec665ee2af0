"""Aliases stand for what they name, merge keys bring entries, and neither can blow up."""

from __future__ import annotations

import pytest

from loop_ls.syntax.nodes import Alias, Mapping, Node, Scalar, Sequence, resolved
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import span


def read(text: str) -> Tree:
    return read_yaml(Text.of(text))


def entry(tree: Tree, name: str) -> Node | None:
    return next(piece.node for piece in tree.pieces if piece.section == name)


def codes(tree: Tree) -> list[str]:
    return [fault.code for fault in tree.faults] + [fault.code for piece in tree.pieces for fault in piece.faults]


def test_an_alias_is_marked_where_it_stands_and_leads_to_its_anchor() -> None:
    tree = read("a: &x [1]\nb: *x\n")
    [_, piece] = tree.pieces
    start = tree.start_of(piece)
    assert isinstance(piece.node, Alias)
    assert piece.node.span.shift(start) == span(1, 3, 1, 5)
    target = resolved(piece.node)
    assert isinstance(target, Sequence)
    assert target.span.shift(start) == span(0, 6, 0, 9)


def test_the_last_anchor_in_front_of_an_alias_counts() -> None:
    tree = read("a: &x 1\nb: &x 2\nc: *x\nd: &x 3\n")
    target = resolved(entry(tree, "c"))
    assert isinstance(target, Scalar)
    assert target.text == "2"


def test_an_alias_without_an_anchor_is_a_fault_of_the_document() -> None:
    tree = read("a: *x\nb: &x 1\n")
    assert [(fault.code, fault.span) for fault in tree.faults] == [("unknown-anchor", span(0, 3, 0, 5))]
    assert resolved(entry(tree, "a")) is None


def test_an_anchor_elsewhere_is_known_even_while_a_line_is_half_typed() -> None:
    tree = read("a: &x 1\nenv:\n  un\n  k: v\nb: *x\n")
    assert codes(tree) == ["missing-colon"]


def test_what_is_anchored_cannot_contain_itself() -> None:
    tree = read("a: &x\n  b: *x\n")
    assert codes(tree) == ["recursive-anchor"]


def test_merged_entries_stand_behind_the_own_ones_and_never_win() -> None:
    tree = read("env:\n  base: &b {x: 1, y: 2}\n  more: {<<: *b, y: 3, z: 4}\n")
    outer = entry(tree, "env")
    assert isinstance(outer, Mapping)
    more = outer.entries[1].value
    assert isinstance(more, Mapping)
    assert [(e.key.text, e.value.text, e.merged) for e in more.entries if isinstance(e.value, Scalar)] == [
        ("y", "3", False),
        ("z", "4", False),
        ("x", "1", True),
    ]
    assert [e.key.text for e in more.merges] == ["<<"]
    assert more.entries[2].key.span == span(1, 12, 1, 13)


def test_of_several_merged_mappings_the_first_counts() -> None:
    tree = read("a:\n  - &x {k: 1}\n  - &y {k: 2, l: 3}\n  - <<: [*x, *y]\n    m: 4\n")
    items = entry(tree, "a")
    assert isinstance(items, Sequence)
    merged = items.items[2]
    assert isinstance(merged, Mapping)
    assert [(e.key.text, e.value.text) for e in merged.entries if isinstance(e.value, Scalar)] == [
        *(("m", "4"), ("k", "1"), ("l", "3"))
    ]


@pytest.mark.parametrize("value", ["text", "[a]", "", "[1, {a: 1}]"])
def test_a_merge_key_takes_mappings_only(value: str) -> None:
    assert codes(read(f"a:\n  <<: {value}\n  b: 1\n")) == ["merge"]


def test_a_quoted_merge_key_is_a_key_like_any_other() -> None:
    node = entry(read('a:\n  "<<": {b: 1}\n'), "a")
    assert isinstance(node, Mapping)
    assert [e.key.text for e in node.entries] == ["<<"]


def test_an_alias_bomb_stands_for_nothing() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 12)]
    tree = read("\n".join(lines) + "\n")
    assert "too-many-aliases" in codes(tree)
    assert size(entry(tree, "a11")) < 50_000


def test_a_merge_bomb_is_bounded() -> None:
    lines = ["- &m0 {" + ", ".join(f"k{n}: 1" for n in range(300)) + "}"]
    lines += [f"- &m{n} {{<<: *m{n - 1}, own{n}: 1}}" for n in range(1, 300)]
    tree = read("a:\n" + "\n".join(lines) + "\n")
    assert "too-many-aliases" in codes(tree)
    assert size(entry(tree, "a")) < 50_000


def test_a_chain_of_aliases_is_no_deeper_than_what_may_be_written() -> None:
    lines = ["- &c0 [x]"] + [f"- &c{n} [*c{n - 1}]" for n in range(1, 500)]
    tree = read("a:\n" + "\n".join(lines) + "\n")
    assert "too-deep" in codes(tree)
    items = entry(tree, "a")
    assert isinstance(items, Sequence)
    assert max(depth(item) for item in items.items) <= 100


def test_broken_text_is_bounded_as_well() -> None:
    lines = ["  a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 12)]
    tree = read("env:\n" + "\n".join(lines) + "\n  un\n")
    assert {"too-many-aliases", "missing-colon"} <= set(codes(tree))
    assert size(entry(tree, "env")) < 100_000


def size(node: Node | None) -> int:
    match resolved(node):
        case Mapping() as mapping:
            return 1 + sum(size(e.value) for e in mapping.entries)
        case Sequence() as sequence:
            return 1 + sum(size(item) for item in sequence.items)
        case _:
            return 1


def depth(node: Node | None) -> int:
    match resolved(node):
        case Sequence() as sequence:
            return 1 + max((depth(item) for item in sequence.items), default=0)
        case _:
            return 1
