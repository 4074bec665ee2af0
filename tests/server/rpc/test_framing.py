"""Frames survive any cut and any noise between them."""

from __future__ import annotations

import pytest

from loop_ls.server.rpc.framing import MOST_BYTES, Frames, frame


def test_bodies_come_out_whatever_the_chunks_are() -> None:
    stream = frame(b'{"a":1}') + frame('{"ä":2}'.encode()) + frame(b"")
    for size in range(1, len(stream) + 1):
        frames = Frames()
        found = [body for at in range(0, len(stream), size) for body in frames.feed(stream[at : at + size])]
        assert found == [b'{"a":1}', '{"ä":2}'.encode(), b""]


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        b"Content-Type: x\r\nContent-Length: 2\r\n\r\n",
        b"content-length:2\r\n\r\n",
        b"Content-Length: 2\n\n",
    ],
)
def test_headers_are_read_as_they_are_met(head: bytes) -> None:
    assert Frames().feed(head + b"{}") == [b"{}"]


@pytest.mark.parametrize(
    "noise",
    [
        b"warning: something printed\n",
        b"Content-Length: many\r\n\r\n",
        b"\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"\0\xff",
    ],
)
def test_noise_costs_nothing_but_itself(noise: bytes) -> None:
    assert Frames().feed(noise + frame(b"[1]") + frame(b"[2]")) == [b"[1]", b"[2]"]


def test_endless_noise_is_not_kept() -> None:
    frames = Frames()
    for _ in range(64):
        assert frames.feed(b"x" * 65536) == []
    assert len(frames._buffer) <= 65536
    assert frames.feed(b"\n" + frame(b"{}")) == [b"{}"]


def test_a_monstrous_message_is_skipped_without_being_kept() -> None:
    frames = Frames()
    size = MOST_BYTES + 3
    assert frames.feed(b"Content-Length: %d\r\n\r\n" % size) == []
    chunk = b"x" * (1 << 20)
    left = size
    while left:
        part = chunk[: min(left, len(chunk))]
        assert frames.feed(part) == []
        assert len(frames._buffer) <= len(chunk)
        left -= len(part)
    assert frames.feed(frame(b"{}")) == [b"{}"]
