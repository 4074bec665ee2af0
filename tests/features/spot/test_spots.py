"""Where the cursor is, in well-formed and half-typed text."""

from __future__ import annotations

import textwrap

import pytest

from loop_ls.features.spot.block import Frame
from loop_ls.features.spot.line import spots_at
from loop_ls.features.spot.place import Lines, Spot
from loop_ls.text.position import Position


def spots(text: str) -> tuple[Spot, ...]:
    lines = textwrap.dedent(text).strip("\n").split("\n")
    row = next(i for i, line in enumerate(lines) if "$0" in line)
    column = lines[row].index("$0")
    lines[row] = lines[row].replace("$0", "")
    root = Frame("mapping", 0, (), 0)
    return spots_at(Lines(lines, 0, len(lines), (root,)), Position(row, column))


def shown(text: str) -> list[str]:
    """`kind path @column`, with `-` where a dash has to be inserted."""
    return [
        f"{s.where.value} {'/'.join(s.path) or '.'} @{s.column}{' -' if s.dash else ''}{' flow' if s.flow else ''}"
        for s in spots(text)
    ]


def first(text: str) -> Spot:
    return spots(text)[0]


STEPS = """
    steps:
      - name: draft
        run: "Draft {{input}}"
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$0", ["key . @0"]),
        ("na$0", ["key . @0"]),
        ("name: x\nver$0\nsteps: []", ["key . @0"]),
        ("execution:\n  $0", ["below execution @2"]),
        ("execution:\n  provider: x\n  mo$0", ["key execution @2"]),
        ("execution:\n  provider: $0", ["value execution/provider @2"]),
        ("execution:\n  provider: ope$0nai # why", ["value execution/provider @2"]),
        ("steps:\n  - $0", ["item steps @4"]),
        ("steps:\n  - na$0", ["item steps @4"]),
        ("steps:\n  - name$0: x", ["key steps/[] @4"]),
        ("steps:\n  - name: $0", ["value steps/[]/name @4"]),
        ("steps:\n  - name: x\n    needs:\n      - $0", ["item steps/[]/needs @8"]),
        ("steps:\n  - name: x\n    needs:\n    - $0", ["item steps/[]/needs @6"]),
        ("steps:\n  - name: x\n    needs: [$0]", ["item steps/[]/needs @4 flow"]),
        ("steps:\n  - name: x\n    needs: [a, $0", ["item steps/[]/needs @4 flow"]),
        ("steps:\n  - name: x\n    needs: [a,\n      b$0]", ["item steps/[]/needs @6 flow"]),
        ("steps:\n  - {name: x, $0}", ["key steps/[] @2 flow"]),
        ("steps:\n  - {name: x, ne$0", ["key steps/[] @2 flow"]),
        ("steps:\n  - {name: x, loop: {mode: $0}}", ["value steps/[]/loop/mode @2 flow"]),
        ("steps:\n  - {name: x, loop: {mode: it$0, workflow: y}}", ["value steps/[]/loop/mode @2 flow"]),
        ("steps:\n  - name: x\n    loop:\n      with:\n        $0", ["below steps/[]/loop/with @8"]),
        ("steps:\n  - name: x\n    run: |\n      Say $0", ["text steps/[]/run @4"]),
        ("steps:\n  - name: x\n    run: |\n      A:\n        - b\n      $0", ["text steps/[]/run @4"]),
        ('steps:\n  - name: x\n    run: "Say\n      hello $0"', ["text steps/[]/run @4"]),
        ("steps:\n  - name: x\n    run: Say\n      hello $0", ["text steps/[]/run @4"]),
        ("steps:\n  - name: x # $0", []),
        ("# $0", []),
        ("steps:\n  - name: x\n    run: '# $0'", ["value steps/[]/run @4"]),
        ("steps:\n  $0- name: x", []),
        ("steps:\n  - name: x\n    run: {{inp$0}}", ["value steps/[]/run @4"]),
    ],
)
def test_kind_path_and_column(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("blank", "expected"),
    [
        ("    $0", ["key steps/[] @4", "item steps @2 -"]),
        ("          $0", ["key steps/[] @4", "item steps @2 -"]),
        ("  $0", ["item steps @2 -"]),
        ("$0", ["key . @0", "item steps @2 -"]),
    ],
)
def test_UP_20_a_blank_line_behind_a_step(blank: str, expected: list[str]) -> None:
    assert shown(textwrap.dedent(STEPS) + blank) == expected


@pytest.mark.parametrize("blank", ["$0", "  $0", "    $0", "        $0"])
def test_UP_20_between_two_steps_nothing_is_offered_that_would_tear_them_apart(blank: str) -> None:
    places = shown(f"{textwrap.dedent(STEPS)}{blank}\n  - name: next\n    run: x")
    assert places
    assert "key . @0" not in places
    assert set(places) <= {"key steps/[] @4", "item steps @2 -"}


def test_UP_20_dashes_at_column_0() -> None:
    text = 'steps:\n- name: draft\n  run: "Draft"\n{}\n- name: next\n  run: x'
    assert shown(text.format("  $0")) == ["key steps/[] @2", "item steps @0 -"]
    assert shown(text.format("$0")) == ["item steps @0 -"]
    assert shown("steps:\n- name: draft\n  run: x\n$0") == ["key . @0", "item steps @0 -"]


def test_UP_20_the_replaced_range_takes_wrong_indentation_with_it() -> None:
    over = first("steps:\n  - name: x\n            $0")
    assert over.word.start == (2, 4) and over.word.end == (2, 12) and over.lead == ""
    under = spots("steps:\n  - name: x\n    run: y\n$0")[1]
    assert under.word.start == (3, 0) and under.lead == "  "


def test_a_line_above_existing_children_takes_their_column() -> None:
    assert shown("execution:\n$0\n    provider: x") == ["below execution @4"]
    assert shown("steps:\n  - name: x\n    with:\n  $0\n        a: b") == ["below steps/[]/with @8"]


def test_what_is_written_around() -> None:
    spot = first(
        """
        steps:
          - name: x
            loop:
              with:
                a: "1"
                $0
                b: 2
              workflow: "polish"  # comment
            needs: [y]
        """
    )
    assert spot.written == {"a": "1", "b": "2"}
    assert spot.outer[0] == {"with": "", "workflow": "polish"}
    assert spot.outer[1]["name"] == "x" and "needs" in spot.outer[1]


def test_the_own_key_is_not_among_the_written_ones() -> None:
    assert set(first("steps:\n  - name: x\n    ru$0n: y\n    needs: []").written) == {"name", "needs"}
    assert set(first("steps:\n  - {name: x, ru$0n: y, needs: [a]}").written) == {"name", "needs"}
    assert first("steps:\n  - {name: x, needs: [a$0, b]}").items == ("b",)
    assert first("steps:\n  - name: x\n    needs:\n      - a\n      - $0\n      - c").items == ("a", "c")


def test_keys_below_a_fresh_dash_belong_to_the_same_item() -> None:
    spot = first("steps:\n  - $0\n    run: x\n    needs: [a]")
    assert spot.where.value == "key" and set(spot.written) == {"run", "needs"}


@pytest.mark.parametrize(
    ("text", "word", "quote"),
    [
        ('mode: "re$0fine"', "refine", '"'),
        ("mode: 're$0", "re", "'"),
        ("mode: re$0fine  # c", "refine", ""),
        ("a: {mode: 're$0fine'}", "refine", "'"),
        ('needs: ["dra$0ft", x]', "draft", '"'),
        ("mode: $0", "", ""),
        ("mode:$0", "", ""),
        ("mode: x $0", "x ", ""),
    ],
)
def test_only_the_word_is_replaced(text: str, word: str, quote: str) -> None:
    spot = first(text)
    line = text.replace("$0", "")
    assert line[spot.word.start.column : spot.word.end.column] == word
    assert spot.quote == quote


def test_a_missing_blank_behind_the_colon_is_added() -> None:
    assert first("mode:$0").lead == " "
    assert first("a: {mode:$0}").lead == " "
    assert first("needs:\n  -$0").lead == " "


def test_an_unclosed_quote_or_bracket_ends_with_its_owner() -> None:
    assert shown('steps:\n  - name: x\n    run: "Draft {{input}}\n    ne$0') == ["key steps/[] @4", "item steps @2 -"]
    assert shown("steps:\n  - name: x\n    needs: [a, b\n    ru$0") == ["key steps/[] @4", "item steps @2 -"]
    assert shown("steps:\n  - {name: x, needs: [a\n  - name: $0") == ["value steps/[]/name @4"]


def test_block_texts_hide_what_looks_like_keys() -> None:
    text = "steps:\n  - name: x\n    run: |\n      key: value\n\n      - item\n    $0"
    assert set(first(text).written) == {"name", "run"}
