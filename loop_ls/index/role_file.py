"""Role files among the documents of a workspace."""

from __future__ import annotations

from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.registry import ROLE_FILE
from loop_ls.formats.role_file.file_format import FOLDERS
from loop_ls.formats.role_file.read import front_end
from loop_ls.index.document import Document
from loop_ls.text.position import Position, Span


def role_name_of(document: Document) -> str | None:
    """What a role file calls its role: its `name`, else the name of the file. None: it is no role file."""
    if document.format != ROLE_FILE:
        return None
    part = document.whole.parts.get("name")
    stem = document.path.rpartition("/")[2].removesuffix(".md")
    return stem if part is None else text_of(part.node)


def name_span(document: Document) -> Span:
    """Where a role file names its role; the whole line that begins it where it does not."""
    part = document.whole.parts.get("name")
    if part is not None and part.node is not None:
        return document.absolute(part.piece, part.node.span)
    return Span(Position(0, 0), Position(0, len(document.text.lines[0])))


def in_body(document: Document, at: Position) -> bool:
    """Whether a place is in the instructions, below the keys."""
    return at.line >= front_end(document.text.lines)


def precedence(document: Document) -> tuple[int, str]:
    """Of several files of one role the least counts: those in `roles`, and of one folder the first by name."""
    folder, _, name = document.path.rpartition("/")
    place = next((number for number, one in enumerate(FOLDERS) if f"/{folder}".endswith(f"/{one}")), 0)
    return -place, name
