"""Asking features about annotated fixtures: one object that opens the files and finds the cursor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
import yaml

from loop_ls.features.answers import Completions, Hover, Item
from loop_ls.features.complete.completion import complete
from loop_ls.features.definition import definition
from loop_ls.features.hover.hover import hover
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.testing.fixture import Fixture, read_fixture
from loop_ls.text.position import Position, Span

ROOT = "/w"


@dataclass
class Asked:
    """A fixture with its snapshot; `at` is the cursor in `document`."""

    fixture: Fixture
    settings: Any = None

    @cached_property
    def documents(self) -> dict[str, Document]:
        return {f.path: Document.open(f"file://{ROOT}/{f.path}", f.text) for f in self.fixture.files}

    @cached_property
    def workspace(self) -> Workspace:
        return Workspace.of(Roots(ROOT), self.documents.values())

    @property
    def document(self) -> Document:
        return self.documents[self.fixture.main.path]

    @property
    def at(self) -> Position:
        assert self.fixture.cursor is not None
        return self.fixture.cursor.position

    # -- hover and definition -----------------------------------------------------------------------

    @cached_property
    def hover(self) -> Hover | None:
        return hover(self.workspace, self.document, self.at, self.settings)

    @property
    def told(self) -> str:
        return self.hover.text if self.hover is not None else ""

    @property
    def targets(self) -> list[str]:
        """`file:line text` of everything that the place leads to."""
        by_uri = {document.uri: (path, document) for path, document in self.documents.items()}
        out = []
        for link in definition(self.workspace, self.document, self.at):
            path, document = by_uri[link.uri]
            assert link.target.start <= link.name.start <= link.name.end <= link.target.end
            assert link.origin.contains(self.at)
            out.append(f"{path}:{link.name.start.line + 1} {document.text.slice(link.name)}")
        return out

    # -- completion -------------------------------------------------------------------------------

    @cached_property
    def completions(self) -> Completions:
        return complete(self.workspace, self.document, self.at, self.settings)

    @property
    def items(self) -> list[Item]:
        return sorted(self.completions.items, key=lambda item: item.sort)

    @property
    def labels(self) -> list[str]:
        return [item.label for item in self.items]

    def item(self, label: str) -> Item:
        return next(item for item in self.items if item.label == label)

    def accepted(self, label: str) -> str:
        """The text of the file after accepting an item."""
        item = self.item(label)
        span = item.span or self.completions.span
        assert span.start.line == span.end.line == self.at.line
        assert span.start <= self.at <= span.end, "an editor wants the cursor inside of what is replaced"
        text = self.fixture.main.text
        for place, new in sorted([(span, item.text), *((edit.span, edit.text) for edit in item.more)], reverse=True):
            text = replaced(text, place, new)
        return text

    def accepted_line(self, label: str) -> str:
        return self.accepted(label).split("\n")[self.at.line]

    def parsed(self, label: str) -> Any:
        return yaml.safe_load(self.accepted(label))


def replaced(text: str, span: Span, new: str) -> str:
    lines = text.split("\n")
    before = "\n".join([*lines[: span.start.line], lines[span.start.line][: span.start.column]])
    after = "\n".join([lines[span.end.line][span.end.column :], *lines[span.end.line + 1 :]])
    return before + new + after


class Ask:
    """`ask(source)` reads a fixture and answers questions about its cursor."""

    def __call__(self, source: str, settings: Any = None, head: bool = True, path: str = "flow.yaml") -> Asked:
        return Asked(read_fixture(source, path, head), settings)


@pytest.fixture
def ask() -> Ask:
    return Ask()
