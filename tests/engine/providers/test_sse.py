"""Events out of bytes: any cutting gives the same, and lines end as the standard says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loop_ls.engine.providers.dialects.sse import MAX_LINE, EventReader, TooLong
from loop_ls.engine.providers.stream_sanitizer import StreamSanitizer, clean


def read(*chunks: bytes) -> list[bytes]:
    reader = EventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)]


def test_data_lines_of_one_event_are_joined() -> None:
    assert read(b"event: x\ndata: a\ndata:b\nid: 7\n\n") == [b"a\nb"]


def test_comments_and_empty_events_say_nothing() -> None:
    assert read(b": ping\n\n\n\ndata: a\n\n") == [b"a"]


def test_an_event_that_is_not_finished_never_happened() -> None:
    assert read(b"data: a\n\ndata: b\n") == [b"a"]


def test_line_separators_inside_json_do_not_cut() -> None:
    text = 'data: {"x": "a\u2028b\u0085c\x0cd"}\r\n\r\n'.encode()
    assert read(text) == ['{"x": "a\u2028b\u0085c\x0cd"}'.encode()]


@given(st.lists(st.text().filter(lambda t: "\n" not in t and "\r" not in t), min_size=1), st.data())
@settings(max_examples=100, deadline=None)
def test_UP_71_any_cutting_gives_the_same(texts: list[str], data: st.DataObject) -> None:
    whole = b"".join(b"data: " + text.encode() + b"\n\n" for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert read(*pieces) == [text.encode() for text in texts]


@pytest.mark.parametrize(
    "chunks",
    [
        (b"data: a\rdata: b\r\rdata: c\r\r",),
        (b"data: a\r", b"data: b\r", b"\r", b"data: c\r\r"),
        (b"data: a\r", b"\ndata: b\r\n", b"\r", b"\n", b"data: c\n", b"\n"),
        (b"data: a\ndata: b\r\n\rdata: c\r\n\n",),
    ],
)
def test_a_return_ends_a_line_alone_and_with_a_line_feed_also_where_chunks_part_them(chunks: tuple[bytes, ...]) -> None:
    assert read(*chunks) == [b"a\nb", b"c"]


def test_a_line_feed_that_belongs_to_the_return_before_it_ends_no_second_line() -> None:
    assert read(b"data: a\r", b"\ndata: b\r", b"", b"\n\n") == [b"a\nb"]


@pytest.mark.parametrize("cuts", [(0,), (1,), (2,), (1, 2), (3,), (1, 2, 3)])
def test_one_leading_byte_order_mark_is_passed_over_however_it_is_cut(cuts: tuple[int, ...]) -> None:
    whole = b"\xef\xbb\xbfdata: first\n\ndata: second\n\n"
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert read(*pieces) == [b"first", b"second"]


def test_a_second_mark_and_half_of_one_are_no_mark() -> None:
    assert read(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n") == [b"b"]
    assert read(b"\xef\xbb", b"data: a\n\ndata: b\n\n") == [b"b"]
    assert read(b"data: \xef\xbb\xbfx\n\n") == [b"\xef\xbb\xbfx"]


@pytest.mark.parametrize("piece", [b"a" * 2**20, b"data: " + b"a" * 2**20 + b"\n", b"data: a\n" * 2**17])
def test_one_endless_line_and_an_event_without_end_are_left(piece: bytes) -> None:
    reader = EventReader()
    with pytest.raises(TooLong):
        for _ in range(MAX_LINE // 2**20 + 2):
            list(reader.feed(piece))


@given(st.text(st.characters(codec=None, categories=None)), st.data())
@settings(max_examples=200, deadline=None)
def test_UP_71_the_text_is_the_same_however_it_came(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    halves = [units[i : i + 2].decode("utf-16-le", "surrogatepass") for i in range(0, len(units), 2)]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(halves)), max_size=6)))
    pieces = ["".join(halves[a:b]) for a, b in zip([0, *cuts], [*cuts, len(halves)], strict=True)]
    spoken = StreamSanitizer()
    heard = "".join(spoken.add(piece) for piece in pieces)
    assert spoken.text() == clean(text)
    assert spoken.text().startswith(heard)


@given(st.text(st.characters(codec=None, categories=None)))
@settings(max_examples=200, deadline=None)
def test_what_was_heard_can_be_stored(text: str) -> None:
    stored = clean(text)
    assert "\0" not in stored
    assert stored.encode("utf-8").decode("utf-8") == stored
