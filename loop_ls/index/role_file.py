"""Role files among the documents of a workspace."""

from __future__ import annotations

from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.registry import ROLE_FILE
from loop_ls.index.document import Document


def role_name_of(document: Document) -> str | None:
    """What a role file calls its role: its `name`, else the name of the file. None: it is no role file."""
    if document.format != ROLE_FILE:
        return None
    part = document.whole.parts.get("name")
    stem = document.path.rpartition("/")[2].removesuffix(".md")
    return stem if part is None else text_of(part.node)
