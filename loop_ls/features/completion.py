"""Completion: what may be written at a place, best first.

`complete(workspace, document, at, settings)` answers for valid and half-typed text;
`describe(workspace, document, about)` tells the documentation of an item later (completion resolve).
The items themselves come from one module per kind of place (`complete_*`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.values import About, Completions
from loop_ls.text.position import Position

if TYPE_CHECKING:
    from loop_ls.formats.settings import Settings
    from loop_ls.index.document import Document
    from loop_ls.index.workspace import Workspace


def complete(workspace: Workspace, document: Document, at: Position, settings: Settings | None = None) -> Completions:
    """Everything that may stand at `at`. An empty list is an answer."""
    raise NotImplementedError


def describe(workspace: Workspace, document: Document, about: About) -> str | None:
    """The documentation (Markdown) of an item, by its `about`."""
    raise NotImplementedError
