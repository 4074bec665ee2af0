"""JSON: the same nodes as YAML, and faults instead of failures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loop_ls.syntax.json.reader import MAX_FAULTS
from loop_ls.syntax.nodes import Alias, Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.tree import Tree, read_json
from loop_ls.testing.call_count import calls_in
from loop_ls.text.lines import Text
from loop_ls.text.position import span

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


def read(text: str) -> Tree:
    return read_json(Text.of(text))


def faults(tree: Tree) -> list[str]:
    found = [fault for piece in tree.pieces for fault in piece.faults]
    return [f"{f.span.start.line + 1}:{f.span.start.column + 1} {f.code}" for f in found]


def plain(node: Node | None) -> Any:
    match node:
        case None | Alias():
            return None
        case Scalar(style=Style.DOUBLE):
            return node.text
        case Scalar():
            return json.loads(node.text)
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return {entry.key.text: plain(entry.value) for entry in node.entries}


def whole(tree: Tree) -> Any:
    if tree.root_kind == "mapping" and tree.pieces[0].kind != "root":
        return {piece.key.text: plain(piece.node) for piece in tree.pieces if piece.key is not None}
    return plain(tree.pieces[0].node)


@given(values, st.sampled_from([None, 2]), st.booleans())
def test_what_json_writes_reads_back(value: Any, indent: int | None, ascii_only: bool) -> None:
    tree = read(json.dumps(value, indent=indent, ensure_ascii=ascii_only))
    assert whole(tree) == value
    assert faults(tree) == []


@given(st.text(st.sampled_from("{}[],:\"\\/'#*ab1.\n\t é\x00"), max_size=40))
def test_any_text_gives_a_tree_and_faults_where_json_sees_some(text: str) -> None:
    tree = read(text)
    try:
        json.loads(text)
        valid = True
    except (ValueError, RecursionError):
        valid = False
    if valid:
        assert faults(tree) == []
    elif text.strip(" \n\t\r"):
        assert faults(tree)
    for piece in tree.pieces:
        for fault in piece.faults:
            assert fault.span.start <= fault.span.end <= tree.text.end


def test_pieces_are_the_entries_of_the_root() -> None:
    tree = read('{\n  "name": "x",\n  "roles": [\n    {"role": "coder"}\n  ]\n}\n')
    assert [(piece.kind, piece.section) for piece in tree.pieces] == [("entry", "name"), ("head", "roles")]
    name, roles = tree.pieces
    assert name.key is not None
    assert (name.key.span, name.node and name.node.span) == (span(1, 2, 1, 8), span(1, 10, 1, 13))
    assert roles.node is not None
    assert roles.node.span == span(2, 11, 4, 3)


GOOD = '{\n  "name": "x",\n  "limits": {"rounds": 3},\n  "roles": ["coder", "tester"]\n}\n'


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"x",', '"x", // why', ["2:16 comment"]),
        ('"x",', '"x", /* why\n */', ["2:16 comment"]),
        ('"x",', '"x", # why', ["2:16 comment"]),
        ('"tester"]', '"tester",]', ["4:30 trailing-comma"]),
        ("]\n}", "],\n}", ["4:31 trailing-comma"]),
        ('"x",', '"x"', ["3:3 missing-comma"]),
        ('"x",', '"x",,', ["2:15 unexpected-text"]),
        ('"x",', '"x,', ["2:11 open-quote", "3:3 missing-comma"]),
        ('"name": "x",', '"na', ["2:3 open-quote", "2:3 missing-colon", "3:3 missing-comma"]),
        ('"name": "x",', '"name": "x", "un",', ["2:16 missing-colon"]),
        ('"x",', ",", ["2:3 missing-value"]),
        ('"x",', "'x',", ["2:11 quotes-needed"]),
        ('"x",', "x,", ["2:11 quotes-needed"]),
        ('"x",', "True,", ["2:11 quotes-needed"]),
        ('"name"', "name", ["2:3 quotes-needed"]),
        ("3}", "03}", ["3:24 quotes-needed"]),
        ("3}", "3", ["3:13 open-bracket"]),
        ('"x",', '"x\\q",', ["2:11 text"]),
        ('"x",', '"a\tb",', ["2:11 text"]),
        ("]\n}", "]\n} x", ["5:3 unexpected-text"]),
        ("]\n}", "\n}", ["4:12 open-bracket"]),
        ('"coder", ', '"coder" ', ["4:21 missing-comma"]),
        ('"tester"]', '"tester"}', ["4:30 open-bracket"]),
    ],
)
def test_a_slip_is_a_fault_at_its_place_and_the_rest_is_read(old: str, new: str, expected: list[str]) -> None:
    assert old in GOOD
    tree = read(GOOD.replace(old, new))
    assert faults(tree) == expected
    read_at_top = {piece.section for piece in tree.pieces}
    assert "limits" in read_at_top
    assert "roles" in read_at_top or old == "3}"


def test_an_edit_gives_the_tree_of_the_new_text() -> None:
    tree = read(GOOD).edit(span(1, 11, 1, 12), "new")
    assert whole(tree) == {"name": "new", "limits": {"rounds": 3}, "roles": ["coder", "tester"]}


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_nothing_is_an_empty_tree(text: str) -> None:
    assert read(text).root_kind == "empty"


@pytest.mark.parametrize(
    "text", ["[" * 10_000, '{"a":' * 10_000, "[" * 10_000 + "]" * 10_000, '"' * 10_001, "[1," * 50_000]
)
def test_bad_input_is_bounded(text: str) -> None:
    trees: list[Tree] = []
    assert calls_in(lambda: trees.append(read(text))) < 20 * len(text)
    assert faults(trees[0])


@pytest.mark.parametrize("text", ["[" * 1000 + "]" * 1000, '{"a":' * 1000 + "1" + "}" * 1000])
def test_what_lies_too_deep_is_one_fault_and_nothing_counts_as_open(text: str) -> None:
    assert [fault.split()[1] for fault in faults(read(text))] == ["too-deep"]


def test_what_is_no_json_is_given_up_after_some_faults() -> None:
    tree = read_json(Text.of('{"name":"r"\n' + 'x: "y"\n' * 2_000))
    faults = [fault for piece in tree.pieces for fault in piece.faults]
    assert len(faults) == MAX_FAULTS + 1
    assert "is this another kind of file" in faults[-1].message
    assert tree.pieces[0].key is not None
    assert tree.pieces[0].key.text == "name"


def test_each_fault_is_told_with_the_last_piece_in_front_of_it() -> None:
    tree = read_json(Text.of('{"a": 1 "b": True,\n"c" 2, "d": x}'))
    assert [(p.key and p.key.text, [f.code for f in p.faults]) for p in tree.pieces] == [
        ("a", []),
        ("b", ["missing-comma", "quotes-needed"]),
        ("c", ["missing-colon"]),
        ("2", ["missing-comma", "quotes-needed", "missing-colon"]),
        ("d", ["quotes-needed"]),
    ]
