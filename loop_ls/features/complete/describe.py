"""The documentation of an item, when the editor asks for it (completion resolve)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.key_docs import key_text
from loop_ls.features.values import About
from loop_ls.formats.workflow_keys import SHAPES

if TYPE_CHECKING:
    from loop_ls.index.document import Document
    from loop_ls.index.workspace import Workspace


def describe(workspace: Workspace, document: Document, about: About) -> str | None:
    """The documentation (Markdown) of an item, by its `about`. None for what is not known any more."""
    match about:
        case ("key", shape, name):
            found = SHAPES.get(shape)
            key = found.keys.get(name) if found is not None else None
            return key_text(key, found) if found is not None and key is not None else None
        case ("snippet", text):
            return f"```yaml\n{text}\n```"
        case _:
            return None
