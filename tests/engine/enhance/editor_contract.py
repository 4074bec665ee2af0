"""What every editor makes of edits that it is sent: places count UTF-16 units of the text as it was before all of
them, and reach at most to the end of a line."""

from __future__ import annotations

from typing import Any, NamedTuple


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
    places = {name: {"line": line, "character": unit} for name, (line, unit) in (("start", start), ("end", end))}
    return {"range": places, "newText": text}


class Case(NamedTuple):
    name: str
    before: str
    edits: list[dict[str, Any]]
    after: str


CASES = (
    Case("inside of a line", "name: a\nrun: x\n", [edit((1, 5), (1, 6), "y")], "name: a\nrun: y\n"),
    Case("a line more", "a: 1\nb: 2\n", [edit((1, 0), (1, 0), "c: 3\n")], "a: 1\nc: 3\nb: 2\n"),
    Case("a line less", "a: 1\nb: 2\nc: 3\n", [edit((1, 0), (2, 0), "")], "a: 1\nc: 3\n"),
    Case("over several lines", "a: 1\nb: 2\nc: 3\n", [edit((0, 3), (2, 3), "9 #")], "a: 9 #3\n"),
    Case("two at once", "a: 1\nb: 2\n", [edit((0, 3), (0, 4), "10"), edit((1, 3), (1, 4), "20")], "a: 10\nb: 20\n"),
    Case(
        "two in one line", "a: 1, b: 2\n", [edit((0, 3), (0, 4), "111"), edit((0, 9), (0, 10), "2")], "a: 111, b: 2\n"
    ),
    Case("behind a wide character", "a: 🎉 x\n", [edit((0, 6), (0, 7), "y")], "a: 🎉 y\n"),
    Case("behind an accent", "a: é x\n", [edit((0, 5), (0, 6), "y")], "a: é y\n"),
    Case("beyond the end of a line", "a: 1\nb: 2\n", [edit((0, 3), (0, 99), "7")], "a: 7\nb: 2\n"),
    Case("at the end of the file", "a: 1\n", [edit((1, 0), (1, 0), "b: 2\n")], "a: 1\nb: 2\n"),
)
