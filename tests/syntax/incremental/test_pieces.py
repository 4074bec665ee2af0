"""What a document is cut into, when it is not, and which pieces outlive an edit."""

from __future__ import annotations

import pytest

from loop_ls.syntax.nodes import Sequence
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span, span

WORKFLOW = """\
# remark
name: x

steps:
  # first
  - name: a
    run: "A"
  - name: b
    run: "B"
env:
  K: v
loops: []
"""


def read(text: str) -> Tree:
    return read_yaml(Text.of(text))


def kinds(tree: Tree) -> list[tuple[str, str | None, int]]:
    return [(piece.kind, piece.section, tree.start_of(piece)) for piece in tree.pieces]


def test_entries_and_items_are_pieces_that_count_from_their_own_line() -> None:
    tree = read(WORKFLOW)
    assert kinds(tree) == [
        ("lead", None, 0),
        ("entry", "name", 1),
        ("head", "steps", 3),
        ("item", "steps", 5),
        ("item", "steps", 7),
        ("entry", "env", 9),
        ("head", "loops", 11),
    ]
    item = tree.pieces[4]
    assert item.node is not None
    assert item.node.span == span(0, 4, 1, 12)
    assert item.lines == ("  - name: b", '    run: "B"')
    assert tree.root_kind == "mapping"


def test_a_head_has_a_node_only_for_a_value_that_is_no_block_list() -> None:
    steps, loops = (piece for piece in read(WORKFLOW).pieces if piece.kind == "head")
    assert steps.node is None
    assert steps.key is not None
    assert isinstance(loops.node, Sequence)
    assert loops.node.items == ()


@pytest.mark.parametrize("section", ["steps", "loops", "roles", "assistants", '"steps"', "'steps'", '"st\\u0065ps"'])
def test_four_sections_are_cut_into_items(section: str) -> None:
    tree = read(f"{section}:\n- a\n- b\n")
    assert [piece.kind for piece in tree.pieces] == ["head", "item", "item"]


def test_repeated_sections_each_keep_their_items() -> None:
    tree = read("steps:\n  - a\nsteps:\n  - b\n")
    assert [piece.kind for piece in tree.pieces] == ["head", "item", "head", "item"]


def test_an_edit_replaces_the_piece_that_it_touches_and_no_other() -> None:
    tree = read(WORKFLOW)
    edited = tree.edit(span(6, 10, 6, 11), "x\n      y")
    same = [old is new for old, new in zip(tree.pieces, edited.pieces, strict=True)]
    assert same == [True, True, True, False, True, True, True]
    assert [edited.start_of(piece) for piece in edited.pieces] == [0, 1, 3, 5, 8, 10, 12]
    assert [tree.start_of(piece) for piece in tree.pieces] == [0, 1, 3, 5, 7, 9, 11]


def test_a_new_item_moves_the_others_without_touching_them() -> None:
    tree = read(WORKFLOW)
    edited = tree.edit(span(7, 0, 7, 0), "  - name: c\n    run: C\n")
    kept = [piece for piece in edited.pieces if any(piece is old for old in tree.pieces)]
    assert len(kept) == len(tree.pieces)
    assert len(edited.pieces) == len(tree.pieces) + 1


def test_a_thousand_items_typed_at_one_place_are_all_found() -> None:
    tree = read("steps:\n  - a\n  - z\nenv: {}\n")
    for number in range(1000):
        tree = tree.edit(span(2 + number % 3, 0, 2 + number % 3, 0), f"  - n{number}\n")
    assert [tree.start_of(piece) for piece in tree.pieces] == list(range(1004))


def test_a_piece_of_another_tree_is_an_error() -> None:
    with pytest.raises(LookupError):
        read("a: 1\n").start_of(read("a: 1\n").pieces[0])


@pytest.mark.parametrize(
    ("text", "kind", "pieces"),
    [
        ("", "empty", ["lead"]),
        ("# only\n", "empty", ["lead"]),
        ("---\n", "empty", ["lead"]),
        ("{}\n", "mapping", ["root"]),
        ("- a\n- b\n", "sequence", ["root"]),
        ("just\ntext\n", "scalar", ["root"]),
        ("|\n a\n", "scalar", ["root"]),
        ("[a, b]\n", "sequence", ["root"]),
        ("{name: x, steps: [{name: a}]}\n", "mapping", ["entry", "head"]),
        ("  name: x\n  steps:\n  - a\n", "mapping", ["entry", "head", "item"]),
        ("--- {name: x}\n", "mapping", ["entry"]),
        ("%YAML 1.1\n---\nname: x\n", "mapping", ["entry"]),
        ("---\nname: x\n", "mapping", ["lead", "entry"]),
    ],
)
def test_other_roots_are_read_as_a_whole(text: str, kind: str, pieces: list[str]) -> None:
    tree = read(text)
    assert tree.root_kind == kind
    assert [piece.kind for piece in tree.pieces] == pieces
    assert all(tree.start_of(piece) == 0 for piece in tree.pieces[:1])
    assert not any(piece.faults for piece in tree.pieces)


@pytest.mark.parametrize(
    "text",
    [
        'a: "x\ny: z"\nb: 1\n',
        "steps:\n  - run: 'x\n  - y'\n  - b\n",
        "a: [x,\nb]\nc: 1\n",
        "? a\n: b\nc: 1\n",
        "<<: {a: 1}\na: 2\n",
        "steps:\n  one\n  - two\n",
    ],
)
def test_what_crosses_a_cut_is_read_as_a_whole(text: str) -> None:
    tree = read(text)
    assert {tree.start_of(piece) for piece in tree.pieces} == {0}
    assert len({id(piece.lines) for piece in tree.pieces}) == 1
    assert not any(piece.faults or piece.tolerant for piece in tree.pieces)


def test_a_closing_bracket_at_the_margin_is_no_cut() -> None:
    tree = read("env: {\n  a: b\n}\nname: x\n")
    assert kinds(tree) == [("entry", "env", 0), ("entry", "name", 3)]


def test_a_block_text_at_the_end_of_a_piece_keeps_its_last_line_break() -> None:
    tree = read("env:\n  a: |\n    x\nname: y\n")
    assert tree.pieces[0].node.entries[0].value.text == "x\n"  # type: ignore[union-attr]


def test_the_second_document_is_a_fault_and_nothing_more() -> None:
    tree = read("name: x\n---\nname: y\nsteps: [\n")
    assert [(fault.code, fault.span) for fault in tree.faults] == [("second-document", span(1, 0, 1, 3))]
    assert [piece.kind for piece in tree.pieces] == ["entry", "tail"]
    assert not any(piece.faults for piece in tree.pieces)


@pytest.mark.parametrize("end", ["---\n", "...\n", "...\n# end\n", "---\n\n\n"])
def test_a_marker_with_nothing_below_is_no_fault(end: str) -> None:
    tree = read("name: x\n" + end)
    assert tree.faults == ()


def test_dashes_inside_texts_end_nothing() -> None:
    tree = read("a: |\n  ---\n  x\nb: 'x\n  --- y'\n")
    assert tree.faults == ()
    assert [piece.section for piece in tree.pieces] == ["a", "b"]


def test_replacing_everything_reads_everything() -> None:
    tree = read(WORKFLOW)
    edited = tree.edit(Span(Position(0, 0), tree.text.end), "a: 1\n")
    assert kinds(edited) == [("entry", "a", 0)]
