"""Hover: what a key, value, variable, reference, loop or `needs` entry means where it stands.

`hover(workspace, document, at, settings)` answers None where there is nothing to tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.values import Hover
from loop_ls.text.position import Position

if TYPE_CHECKING:
    from loop_ls.formats.settings import Settings
    from loop_ls.index.document import Document
    from loop_ls.index.workspace import Workspace


def hover(workspace: Workspace, document: Document, at: Position, settings: Settings | None = None) -> Hover | None:
    raise NotImplementedError
