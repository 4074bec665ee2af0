"""Bytes that are no text say so in one sentence with a place."""

from __future__ import annotations

import tracemalloc

import pytest

from loop_ls.text.decode import MAX_BYTES, MAX_LINES, decode
from loop_ls.text.position import Position


def test_utf_8_is_read_with_and_without_a_mark() -> None:
    for data in ("é: ²\r\n".encode(), b"\xef\xbb\xbf" + "é: ²\r\n".encode()):
        text, fault = decode(data)
        assert fault is None
        assert text is not None
        assert text.line(0) == "é: ²"


@pytest.mark.parametrize(
    ("data", "code", "place", "words"),
    [
        (b"name: x\ntext: \xe9t\xe9\n", "encoding", Position(1, 6), "Invalid UTF-8 byte 0xE9"),
        (b"\xef\xbb\xbfa: \xff", "encoding", Position(0, 3), "Invalid UTF-8 byte 0xFF"),
        (b"name: x\nb: \x00\x01", "binary", Position(1, 3), "NUL byte"),
        ("name: x".encode("utf-16"), "encoding", Position(0, 0), "UTF-16"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "encoding", Position(0, 0), "UTF-32"),
        (b"x" * (MAX_BYTES + 1), "too-large", Position(0, 0), "8.0 MB"),
        (b"\n" * (MAX_LINES + 1), "too-large", Position(0, 0), "250,001 lines"),
    ],
)
def test_anything_else_is_a_fault_at_its_place(data: bytes, code: str, place: Position, words: str) -> None:
    text, fault = decode(data)
    assert text is None
    assert fault is not None
    assert (fault.code, fault.span.start) == (code, place)
    assert words in fault.message


def test_fifty_megabytes_are_refused_without_a_copy() -> None:
    data = bytes(50 * 1024 * 1024)
    tracemalloc.start()
    text, fault = decode(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert text is None
    assert fault is not None
    assert fault.code == "too-large"
    assert peak < 1_000_000
