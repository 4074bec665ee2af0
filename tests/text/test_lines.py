"""Texts: exact round trip, line ends of LSP and no others, edits that touch few lines."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loop_ls.text.lines import BLOCK, Text
from loop_ls.text.position import Position, Span, span

pieces = st.lists(st.sampled_from(["a", "bc", "\n", "\r", "\r\n", "\u2028", "\x85", "\x0c", "é", "😀"]), max_size=20)


@given(pieces)
def test_a_text_comes_back_as_it_was(parts: list[str]) -> None:
    text = "".join(parts)
    assert str(Text.of(text)) == text


def test_a_byte_order_mark_is_kept_aside() -> None:
    text = Text.of("\ufeffname: x\n")
    assert text.line(0) == "name: x"
    assert str(text.edit(span(0, 0, 0, 4), "id")) == "\ufeffid: x\n"


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x1c"])
def test_other_signs_end_no_line(sign: str) -> None:
    assert list(Text.of(f"a{sign}b\r\nc\rd\ne").lines) == [f"a{sign}b", "c", "d", "e"]


def test_the_empty_text_has_one_line() -> None:
    text = Text.of("")
    assert (list(text.lines), text.end) == ([""], Position(0, 0))
    assert str(text.edit(span(0, 0, 0, 0), "x\n")) == "x\n"


@given(pieces, pieces, st.data())
def test_an_edit_is_what_it_is_in_one_string(parts: list[str], new: list[str], data: st.DataObject) -> None:
    text = Text.of("".join(parts))
    start, end = sorted((_place(text, data), _place(text, data)))
    before = text.slice(Span(Position(0, 0), start))
    after = text.slice(Span(end, text.end))
    edited, change = text.change(Span(start, end), "".join(new))
    expected = Text.of(before + "".join(new) + after)
    assert str(edited) == str(expected)
    assert list(edited.lines) == list(expected.lines)
    assert len(edited.lines) == len(text.lines) + change.added - change.removed
    assert text.slice(Span(start, end)) == "".join(parts)[len(before) : len("".join(parts)) - len(after)]


def _place(text: Text, data: st.DataObject) -> Position:
    line = data.draw(st.integers(0, len(text.lines) - 1))
    return Position(line, data.draw(st.integers(0, len(text.line(line)))))


def test_places_outside_are_moved_inside() -> None:
    text = Text.of("ab\ncd")
    assert str(text.edit(span(1, 50, 9, 0), "X")) == "ab\ncdX"
    assert str(text.edit(span(-3, 0, 0, 1), "")) == "b\ncd"
    assert str(text.edit(span(1, 1, 0, 1), "-")) == "a-d"


def test_a_line_feed_behind_a_lone_carriage_return_belongs_to_it() -> None:
    text = Text.of("a\rb").edit(span(1, 0, 1, 1), "\n")
    assert str(text) == "a\r\n"
    assert list(text.lines) == ["a", ""]


def test_a_large_text_is_kept_in_blocks() -> None:
    lines = [f"line {number}" for number in range(10 * BLOCK)]
    text = Text.of("\n".join(lines))
    for at, new in ((0, "x"), (BLOCK, "y\nz"), (5 * BLOCK + 3, "q" * 3)):
        lines[at : at + 2] = (new + "!").split("\n")
        text = text.edit(span(at, 0, at + 1, len(text.line(at + 1))), new + "!")
        assert list(text.lines) == lines
    assert text.lines[-1] == lines[-1]
    assert text.lines[3:700] == lines[3:700]
    assert text.lines[10:20:3] == lines[10:20:3]
    everything = Span(Position(0, 0), text.end)
    assert str(text.edit(everything, "")) == ""


def test_a_line_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(IndexError):
        Text.of("a").line(1)


@given(st.lists(st.tuples(st.integers(0, 600), st.sampled_from(["word\n", "x", "\n", "wo", "rd"])), max_size=12))
def test_a_word_is_found_wherever_edits_put_it(edits: list[tuple[int, str]]) -> None:
    text = Text.of("line\n" * (2 * BLOCK + 3))
    for line, new in edits:
        text = text.edit(span(line, 0, line, 0), new)
        assert text.mentions("word") == any("word" in one for one in text.lines)
    everything = Span(Position(0, 0), text.end)
    assert not text.edit(everything, "").mentions("word")


def test_an_edit_over_several_blocks_that_keeps_the_number_of_lines_keeps_places_right() -> None:
    text = Text.of("".join(f"# line {number}\n" for number in range(600)))
    text = text.edit(span(10, 0, 10, 0), "# new\n")
    text = text.edit(Span(Position(0, 0), text.end), str(text).replace("line", "LINE"))
    fresh = Text.of(str(text))
    assert [text.line(number) for number in range(len(text.lines))] == list(fresh.lines)
    assert text.lines[200:400] == fresh.lines[200:400]
    assert str(text.edit(span(300, 0, 300, 0), "!")) == str(fresh.edit(span(300, 0, 300, 0), "!"))


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_any_row_of_edits_of_a_long_text_equals_the_same_edits_of_one_string(eol: str) -> None:
    rng = random.Random(len(eol))
    for _ in range(40):
        whole = eol.join(f"l{number}" for number in range(rng.randrange(300, 3_000)))
        text = Text.of(whole)
        for _ in range(12):
            low, high = sorted(_outside_a_line_end(whole, rng.randrange(len(whole) + 1)) for _ in range(2))
            removed = whole[low:high]
            new = rng.choice([removed.replace("l", "L"), "", eol, "x", removed + eol, removed[1:], "é😀\r", "\n"])
            changed = Span(Text.of(whole[:low]).end, Text.of(whole[:high]).end)
            text, whole = text.edit(changed, new), whole[:low] + new + whole[high:]
            fresh = Text.of(whole)
            assert str(text) == whole
            assert list(text.lines) == list(fresh.lines)
            assert [text.lines[number] for number in range(len(text.lines))] == list(fresh.lines)


def _outside_a_line_end(whole: str, offset: int) -> int:
    """Between CR and LF there is no place."""
    return offset - 1 if whole[offset - 1 : offset + 1] == "\r\n" else offset
