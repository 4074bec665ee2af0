"""The text of the server is the text of the editor, whatever is edited and however large it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.text.decode import MAX_BYTES
from tests.server.support.flows import HEAD, LOOP, NAME_LINE
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


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 3), ("utf-16", 1), ("utf-32", 1)])
def test_a_byte_order_mark_that_the_client_sends_is_a_character(server: RawClient, encoding: str, width: int) -> None:
    """Editors keep it to themselves; programs that read a file and send what they read count it."""
    server.begin({"general": {"positionEncodings": [encoding]}})
    server.open(URI, "\ufeffnmae: odd\n$schema: workflow/v2.0\nversion: 1.0.0\nsteps:\n  - {name: a, run: x}\n")

    def unknown_keys(version: int) -> list[Json]:
        return [found["range"] for found in server.diagnostics(URI, version) if found["code"] == "WF006"]

    def change(version: int, start: int, end: int, text: str) -> list[Json]:
        span = {"start": {"line": 0, "character": start}, "end": {"line": 0, "character": end}}
        server.change(URI, version, {"range": span, "text": text})
        return unknown_keys(version)

    at = [{"start": {"line": 0, "character": width}, "end": {"line": 0, "character": width + 4}}]
    assert unknown_keys(1) == at
    assert change(2, width, width + 4, "name") == []
    assert change(3, width, width + 4, "nmae") == at
    assert change(4, 0, width, "") == [{"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 4}}]
    assert change(5, 0, 0, "\ufeff") == at
    assert change(6, 0, 0, "# ") == []  # in front of the mark, which is then a character inside of the text
    assert change(7, 0, 2, "") == at


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


def _symbols(server: RawClient, uri: str = URI) -> str:
    return str(server.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"])


def test_a_change_that_fails_is_read_with_the_whole_text_and_told_once(fake: Callable[..., RawClient]) -> None:
    server = fake("torn")
    server.begin()
    server.open(URI, LOOP)
    for version in (2, 3):
        line = NAME_LINE + 2 * (version - 2)
        server.change(URI, version, insert(line, len("  - name: "), "tear"), insert(0, 0, "# top\n\n"))
    assert "teartearrefine" in _symbols(server)
    server.change(URI, 4, {"text": LOOP.replace("name: refine", "name: whole")})
    assert "whole" in _symbols(server)
    told = [m for m in server.received if m.get("method") == "window/showMessage"]
    assert len(told) == 1
    assert "was read again" in told[0]["params"]["message"]


@pytest.mark.parametrize("change", [{"text": 5}, {"range": {"start": 4, "end": 5}, "text": "x"}, insert(-1, 0, "x")])
def test_a_change_that_cannot_be_read_leaves_one_finding_until_the_text_comes_as_a_whole(
    server: RawClient, change: Json
) -> None:
    server.begin()
    server.open(URI, LOOP)
    server.change(URI, 2, insert(0, 0, "# one\n"), change)
    [found] = server.diagnostics(URI, 2)
    assert "lost track" in found["message"]
    server.change(URI, 3, insert(0, 0, "# two\n"))
    assert _symbols(server) == "None"
    server.change(URI, 4, insert(0, 0, "# three\n"), {"text": LOOP}, insert(0, 0, "# four\n"))
    assert "refine" in _symbols(server)
    assert [one for one in server.diagnostics(URI, 4) if "not known" in one["message"]] == []


def test_a_text_that_got_lost_is_read_from_the_disk_when_it_is_saved(server: RawClient, folder: Path) -> None:
    server.begin({}, folder)
    uri = (folder / "flow.yaml").as_uri()
    server.open(uri, LOOP)
    server.change(uri, 2, {"text": 5})
    (folder / "flow.yaml").write_text(LOOP.replace("name: refine", "name: saved"))
    server.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert "saved" in _symbols(server, uri)


def test_a_whole_text_counts_as_it_came_with_its_byte_order_mark_and_line_ends(server: RawClient) -> None:
    server.begin()
    server.open(URI, LOOP)
    server.change(URI, 2, {"text": "\ufeff" + LOOP.replace("\n", "\r\n")})
    server.change(URI, 3, insert(NAME_LINE, len("  - name: "), "x_"))
    assert "x_refine" in _symbols(server)


def test_an_untitled_document_belongs_to_the_first_folder(server: RawClient, folder: Path) -> None:
    server.begin({}, folder)
    server.open(URI, LOOP.replace("name: flow", "name: new_flow"))
    server.ask("workspace/executeCommand", {"command": "loopLs.engine.status", "arguments": [{}]})
    place = {"textDocument": {"uri": URI}, "position": {"line": 7, "character": 15}}
    [link] = server.ask("textDocument/definition", place)["result"]
    assert link["uri"] == (folder / "draft.yaml").as_uri()
