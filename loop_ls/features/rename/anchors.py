"""Rename of a YAML anchor together with its aliases."""

from __future__ import annotations

from loop_ls.features.anchors import Anchor, is_anchor_name, names
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Position


def prepare(anchor: Anchor, at: Position) -> Renamable | Refused:
    if anchor.at is None:
        return Refused(f"`&{anchor.name}` was not found")
    under = next((span for span in (anchor.at, *anchor.aliases) if span.contains(at)), None)
    own = under or next(span for span in (anchor.at, *anchor.aliases) if span.start.line == at.line)
    return Renamable(own, anchor.name)


def rename(document: Document, anchor: Anchor, new: str) -> Rename | Refused:
    if new == anchor.name:
        return Rename({})
    if anchor.at is None:
        return Refused(f"`&{anchor.name}` was not found")
    if not is_anchor_name(new):
        return Refused(f"Invalid anchor name `{new}`: spaces, commas, brackets and braces are not allowed")
    if new in names(document):
        return Refused(f"`&{new}` is already used in this file")
    edits = sorted((TextEdit(span, new) for span in (anchor.at, *anchor.aliases)), key=lambda edit: edit.span)
    return Rename({document.uri: tuple(edits)})
