"""Where nodes start and end, as written."""

from __future__ import annotations

import pytest

from loop_ls.syntax.nodes import Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import span


def value(text: str) -> Node | None:
    """The value of the only top-level entry."""
    (piece,) = (piece for piece in read_yaml(Text.of(text)).pieces if piece.kind == "entry")
    return piece.node


@pytest.mark.parametrize(
    ("text", "place", "meaning", "style"),
    [
        ("a: x", (0, 3, 0, 4), "x", Style.PLAIN),
        ("a:   x y   # remark\n", (0, 5, 0, 8), "x y", Style.PLAIN),
        ("a: x\n  y\n\n  z  \n", (0, 3, 3, 3), "x y\nz", Style.PLAIN),
        ('a: "x"  \n', (0, 3, 0, 6), "x", Style.DOUBLE),
        ('a: "x\n  y"\n', (0, 3, 1, 4), "x y", Style.DOUBLE),
        ("a:\n  'it''s'\n", (1, 2, 1, 9), "it's", Style.SINGLE),
        ("a: |\n  x\n  y\n\n\n", (0, 3, 2, 3), "x\ny\n", Style.LITERAL),
        ("a: |+ # remark\n  x\n\n", (0, 3, 1, 3), "x\n\n", Style.LITERAL),
        ("a: >-\n  x\n  y\n# remark\n", (0, 3, 2, 3), "x y", Style.FOLDED),
        ("a: |\n", (0, 3, 0, 4), "", Style.LITERAL),
        ("a: |2-\n\n", (0, 3, 0, 6), "", Style.LITERAL),
        ("a: &x !!str x\n", (0, 12, 0, 13), "x", Style.PLAIN),
        ('a: &x\n  # remark\n  "x"\n', (2, 2, 2, 5), "x", Style.DOUBLE),
        ("a: &x |\n  x\n", (0, 6, 1, 3), "x\n", Style.LITERAL),
        ("a: &x\n", (0, 5, 0, 5), "", Style.PLAIN),
        ("a: x\r\n  y\r\n", (0, 3, 1, 3), "x y", Style.PLAIN),
        ("\ufeffa: x\n", (0, 3, 0, 4), "x", Style.PLAIN),
        ("a: 😀x\n", (0, 3, 0, 5), "😀x", Style.PLAIN),
        ("a: 'x\u2028y' # z\n", (0, 3, 0, 8), "x\u2028y", Style.SINGLE),
    ],
)
def test_scalars(text: str, place: tuple[int, int, int, int], meaning: str, style: Style) -> None:
    node = value(text)
    assert isinstance(node, Scalar)
    assert (node.span, node.text, node.style) == (span(*place), meaning, style)


@pytest.mark.parametrize(
    ("text", "place", "flow"),
    [
        ("a:\n  b: 1\n  c: x  # remark\n\n# remark\n", (1, 2, 2, 6), False),
        ("a:\n  - x\n  - y z\n", (1, 2, 2, 7), False),
        ("a:\n- x\n-\n", (1, 0, 2, 1), False),
        ("a:\n  b:\n", (1, 2, 1, 4), False),
        ("a:\n  b: |\n    x\n\n\n", (1, 2, 2, 5), False),
        ("a: &x\n  b: 1\n", (1, 2, 1, 6), False),
        ("a: [x, y]  # remark\n", (0, 3, 0, 9), True),
        ("a: {x: 1,\n  y: 2\n}\n", (0, 3, 2, 1), True),
        ("a: !t {}\n", (0, 6, 0, 8), True),
        ("a: {{x}}\n", (0, 3, 0, 8), True),
    ],
)
def test_collections(text: str, place: tuple[int, int, int, int], flow: bool) -> None:
    node = value(text)
    assert isinstance(node, Mapping | Sequence)
    assert (node.span, node.flow) == (span(*place), flow)


def test_nothing_behind_a_colon_or_dash_is_none() -> None:
    node = value("a:\n  b:\n  c: ~\n  d: ''\n  e:\n    -\n    - x\n")
    assert isinstance(node, Mapping)
    assert [entry.value is None for entry in node.entries] == [True, False, False, False]
    items = node.entries[3].value
    assert isinstance(items, Sequence)
    assert [item is None for item in items.items] == [True, False]


def test_repeated_keys_are_kept_and_the_first_counts() -> None:
    node = value("a:\n  b: 1\n  b: 2\n")
    assert isinstance(node, Mapping)
    assert len(node.entries) == 2
    assert node.get("b") is node.entries[0]


def test_a_key_that_is_no_text_counts_as_written() -> None:
    node = value("a: {[x, y]: 1, {z}: 2}\n")
    assert isinstance(node, Mapping)
    assert [entry.key.text for entry in node.entries] == ["[x, y]", "{z}"]


def test_braces_without_quotes_are_a_mapping_whose_key_shows_them() -> None:
    node = value("a: {{x}}\n")
    assert isinstance(node, Mapping)
    assert [(entry.key.text, entry.value) for entry in node.entries] == [("{x}", None)]


def test_a_pair_without_braces_ends_with_its_value() -> None:
    node = value("a: [b: c ,  d]\n")
    assert isinstance(node, Sequence)
    pair = node.items[0]
    assert isinstance(pair, Mapping)
    assert pair.span == span(0, 4, 0, 8)


def test_written_numbers_and_words_stay_text() -> None:
    node = value("a: [1_000, 0777, yes, 2024-01-01, null, 1:30]\n")
    assert isinstance(node, Sequence)
    assert [item.text for item in node.items if isinstance(item, Scalar)] == [
        *("1_000", "0777", "yes", "2024-01-01", "null", "1:30")
    ]
