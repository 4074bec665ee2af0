"""Documents and workspaces from a few lines, for the tests of this room."""

from __future__ import annotations

import textwrap

from loop_ls.index.disk.roots import Root, Roots
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span

ROOT = "/w"


def document(body: str = "", name: str = "w", path: str | None = None) -> Document:
    """A workflow whose first three lines are the head."""
    text = f"$schema: workflow/v2.0\nname: {name}\nversion: 1.0.0\n" + textwrap.dedent(body)
    return Document.open(f"file://{path or f'{ROOT}/{name}.yaml'}", text)


def workspace(*documents: Document) -> Workspace:
    return Workspace.of(Roots(ROOT, (Root(ROOT),)), documents)


def element(found: Document, name: str) -> Element:
    one = found.element(name)
    assert one is not None, f"{name} is none of {list(found.names)}"
    return one


def place(found: Document, text: str, occurrence: int = 0) -> Span:
    """Where a text of one line stands."""
    for number, line in enumerate(found.text.lines):
        start = -1
        while (start := line.find(text, start + 1)) >= 0:
            if occurrence == 0:
                return Span(Position(number, start), Position(number, start + len(text)))
            occurrence -= 1
    raise AssertionError(f"{text!r} does not stand in the document")


def typed(found: Document, old: str, new: str, occurrence: int = 0) -> Document:
    """The document after an edit that puts `new` in the place of `old`."""
    return found.edit(place(found, old, occurrence), new)
