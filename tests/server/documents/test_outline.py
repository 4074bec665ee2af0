"""The outline is written part by part, and reads as if it were written as a whole."""

from __future__ import annotations

import json
from typing import Any

from loop_ls.features.answers import Placed
from loop_ls.features.symbols.document_symbols import symbols
from loop_ls.index.document import Document
from loop_ls.server.documents.outline import KINDS, Outlines
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.text.position import Position, Span
from tests.properties.samples import samples

TEXT = """\
$schema: workflow/v2.0
name: 100 % 😀
version: 1.0.0
execution: {provider: ollama, model: llama3.2}
env: {TONE: "50 %d"}
steps:
  - name: first
    template: {name: other, with: {😀 a: "%s", b: 1}}
  - {name: 😀😀, run: x}
loops:
  - {name: again, workflow: other, max_iterations: 3, until: done, accumulate: all}
"""


def plainly(places: PositionMapping, placed: Placed, above: int, shown: set[int] | None) -> dict[str, Any]:
    line, symbol = placed.line + above, placed.symbol
    found: dict[str, Any] = {"name": symbol.name or "(no name)", "kind": KINDS[symbol.kind]}
    found["range"] = places.range(symbol.span.shift(line))
    found["selectionRange"] = places.range(symbol.name_span.shift(line))
    if symbol.detail:
        found["detail"] = symbol.detail
    children = [plainly(places, one, line, shown) for one in symbol.children if shown is None or id(one) in shown]
    return {**found, "children": children} if children else found


def check(outlines: Outlines, document: Document, shown: set[int] | None = None) -> None:
    outline, places = symbols(document), PositionMapping(document.text, "utf-16")
    kept = [one for one in outline if shown is None or id(one) in shown]
    told = [json.loads(one) for one in outlines.written(document.uri, places, outline, shown)]
    assert told == [plainly(places, one, 0, shown) for one in kept]


def test_parts_that_move_and_parts_that_change() -> None:
    outlines, document = Outlines(), Document.open("file:///w/a.yaml", TEXT)
    check(outlines, document)
    for at, text in ((0, "# 😀\n"), (8, "\n\n"), (0, "#\n"), (12, "  - {name: more, run: y}\n")):
        document = document.edit(Span(Position(at, 0), Position(at, 0)), text)
        check(outlines, document)


def test_parts_that_do_not_fit_are_left_out() -> None:
    document = Document.open("file:///w/a.yaml", TEXT)
    outline = symbols(document)
    level, all_of_them = list(outline), list(outline)
    while level := [child for one in level for child in one.symbol.children]:
        all_of_them += level
    outlines = Outlines()
    for count in range(1, len(all_of_them)):
        places = PositionMapping(document.text, "utf-16")
        shown = {id(one) for one in all_of_them[:count]}
        kept = [one for one in outline if id(one) in shown]
        told = [json.loads(one) for one in outlines.written(document.uri, places, outline, shown)]
        assert told == [plainly(places, one, 0, shown) for one in kept]


def test_files_of_every_format() -> None:
    outlines = Outlines()
    for sample in samples():
        check(outlines, sample.workspace()[1])
