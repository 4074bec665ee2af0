"""Events out of bytes: any cutting gives the same, and only line feeds end lines."""

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


def test_one_endless_line_is_left() -> None:
    reader = EventReader()
    with pytest.raises(TooLong):
        for _ in range(MAX_LINE // 2**20 + 2):
            list(reader.feed(b"a" * 2**20))


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
