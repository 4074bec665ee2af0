"""The text of the server is the text of the editor, whatever is edited and however large it is."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from loop_ls.text.decode import MAX_BYTES
from tests.server.support.flows import HEAD, LOOP
from tests.server.support.raw import RawClient, insert

Json = dict[str, Any]
URI = "untitled:flow.yaml"


def test_a_text_that_is_too_large_has_one_finding_until_it_shrinks(server: RawClient) -> None:
    server.begin()
    text = LOOP + "# " + "x" * MAX_BYTES + "\n"
    server.open(URI, text)
    [found] = server.diagnostics(URI, 1)
    assert "MB" in found["message"]
    server.change(URI, 2, insert(1, 0, "# still too large\n"))
    assert len(server.diagnostics(URI, 2)) == 1
    last = text.count("\n")
    span = {"start": {"line": last, "character": 0}, "end": {"line": last + 1, "character": 0}}
    server.change(URI, 3, {"range": span, "text": ""})
    assert [d for d in server.diagnostics(URI, 3) if "MB" in d["message"]] == []
    symbols = server.ask("textDocument/documentSymbol", {"textDocument": {"uri": URI}})["result"]
    assert "refine" in str(symbols)


def test_what_lsp_calls_a_line_is_a_line(server: RawClient) -> None:
    """U+2028, NEL and form feed end no line; places behind the text are its end."""
    server.begin()
    server.open(URI, HEAD.format(name="odd") + "steps:\n  - name: a\u2028\x0c\x85b\n    run: x\n")
    server.change(URI, 2, insert(7, 4, "rum: y\n    "))
    assert [d["range"]["start"]["line"] for d in server.diagnostics(URI, 2) if d["code"] == "WF006"] == [7]
    server.change(URI, 3, insert(99, 99, "    rom: z\n"))
    lines = [d["range"]["start"]["line"] for d in server.diagnostics(URI, 3) if d["code"] == "WF006"]
    assert lines == [7, 9]


def test_many_random_edits_leave_server_and_editor_equal(server: RawClient) -> None:
    """Findings of the edited text equal those of the same text opened afresh."""
    server.begin()
    rng = random.Random(7)
    text = LOOP
    server.open(URI, text)
    pieces = ["x", "\n", "  - name: y\n", "{{input}}", "\r\n", "é😀", '"', ": ", "    until: z\n", ""]
    for version in range(2, 80):
        lines = text.replace("\r\n", "\n").split("\n")
        a, b = sorted((rng.randrange(len(lines)), min(len(lines) - 1, rng.randrange(len(lines)))))
        b = min(b, a + 1)
        start = (a, rng.randrange(len(lines[a]) + 1))
        end = (b, rng.randrange(len(lines[b]) + 1)) if b > a else start
        new = rng.choice(pieces)
        units = [_utf16(lines[line][:column]) for line, column in (start, end)]
        span = {
            "start": {"line": start[0], "character": units[0]},
            "end": {"line": end[0], "character": units[1]},
        }
        text = _edited(text, start, end, new)
        server.change(URI, version, {"range": span, "text": new})
    edited = server.diagnostics(URI, 79)
    server.open("untitled:fresh.yaml", text)
    assert _shown(edited) == _shown(server.diagnostics("untitled:fresh.yaml", 1))


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _edited(text: str, start: tuple[int, int], end: tuple[int, int], new: str) -> str:
    def offset(place: tuple[int, int]) -> int:
        at = 0
        for _ in range(place[0]):
            at = text.index("\n", at) + 1
        return at + place[1]

    return text[: offset(start)] + new + text[offset(end) :]


def _shown(found: list[Json]) -> list[tuple[Any, ...]]:
    return sorted((d["code"], str(d["range"]), d["message"]) for d in found)


def test_an_untitled_document_belongs_to_the_first_folder(server: RawClient, folder: Path) -> None:
    server.begin({}, folder)
    server.open(URI, LOOP.replace("name: flow", "name: new_flow"))
    server.ask("workspace/executeCommand", {"command": "loopLs.engine.status", "arguments": [{}]})
    place = {"textDocument": {"uri": URI}, "position": {"line": 7, "character": 15}}
    [link] = server.ask("textDocument/definition", place)["result"]
    assert link["uri"] == (folder / "draft.yaml").as_uri()
