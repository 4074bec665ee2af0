"""Bytes of a file to text, or one fault that says why they are none."""

from __future__ import annotations

from loop_ls.text.fault import Fault
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

#: Larger files are not read. A workflow of 50,000 lines has 1.7 MB.
MAX_BYTES = 8 * 1024 * 1024
MAX_LINES = 250_000

_START = Span(Position(0, 0), Position(0, 0))
_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def decode(data: bytes) -> tuple[Text | None, Fault | None]:
    """The text of a file, or the fault that keeps it from being read; exactly one is None."""
    if len(data) > MAX_BYTES:
        return None, too_large(len(data))
    for mark, name in _BOMS:
        if data.startswith(mark):
            return None, Fault(_START, f"The file is written in {name}; save it as UTF-8.", "encoding")
    if (zero := data.find(0)) >= 0:
        at = _place(data, zero)
        return None, Fault(at, "The file contains a NUL byte: it is binary; only UTF-8 text is supported.", "binary")
    if (lines := data.count(b"\n")) > MAX_LINES:
        sentence = f"The file has {lines:,} lines and is not read; the limit is {MAX_LINES:,} lines."
        return None, Fault(_START, sentence, "too-large")
    try:
        return Text.of(data.decode("utf-8")), None
    except UnicodeDecodeError as error:
        byte = data[error.start]
        sentence = f"Invalid UTF-8 byte 0x{byte:02X}; save the file as UTF-8."
        return None, Fault(_place(data, error.start), sentence, "encoding")


def too_large(size: int) -> Fault:
    """The fault of a file that is too large to be read, for callers that know its size beforehand."""
    sentence = f"The file has {size / 1_048_576:.1f} MB and is not read; the limit is {MAX_BYTES // 1_048_576} MB."
    return Fault(_START, sentence, "too-large")


def unread_link() -> Fault:
    """The fault of a file that is a link to where nobody looks."""
    return Fault(_START, "The file is a link to a place outside the project, so it is not read.", "link")


def _place(data: bytes, offset: int) -> Span:
    """Where a byte stands. Everything in front of it is UTF-8 or does not count."""
    before = data[:offset].decode("utf-8", "replace").removeprefix("\ufeff")
    end = Text.of(before).end
    return Span(end, Position(end.line, end.column + 1))
