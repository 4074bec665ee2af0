"""The `$schema` line of a file that is no workflow yet: the line by which it becomes one.

Such a file may be anything, so only its lines are looked at, and nothing is offered in files that say what they are by
keys of their own.
"""

from __future__ import annotations

import re

from loop_ls.features.answers import Completions, Item, ItemKind
from loop_ls.features.complete.quoting import literal
from loop_ls.formats.workflow.keys import SCHEMA, WORKFLOW
from loop_ls.index.document import Document
from loop_ls.text.position import Position, Span

_NAME = "$schema"
_ABOUT = ("key", WORKFLOW.name, _NAME)
_VALUE = re.compile(r"""(["']?)\$schema\1:(?P<gap>[ \t]*)(?P<open>["']?)(?P<word>[^\s"'#]*)""")
_KEY = re.compile(r"""(?P<open>["']?)(?P<word>\$?\w*)(?P=open)?$""")
_TOP_KEY = re.compile(r"""(["']?)([^\s"'#:\-\[\]{},][^"'#:]*)\1[ \t]*:(?:[ \t]|$)""")
#: Lines that are looked at for other keys.
_LOOKED_AT = 500


def schema_line(document: Document, at: Position) -> Completions | None:
    """What completes `$schema` at the cursor, None where it cannot stand."""
    lines = document.text.lines
    if document.path.endswith(".json") or not 0 <= at.line < len(lines):
        return None
    line = lines[at.line]
    if value := _VALUE.match(line):
        return _value(value, at) if value.end("gap") <= at.column <= value.end("word") or _at_colon(value, at) else None
    key = _KEY.match(line)
    if key is None or at.column > key.end("word") or not _may_become_ours(document, at.line):
        return None
    if not "$schema".startswith(key["word"]) and not "schema".startswith(key["word"]):
        return None
    span = Span(Position(at.line, 0), Position(at.line, len(line)))
    text = f"{_NAME}: {SCHEMA}"
    item = Item(
        _NAME,
        ItemKind.KEY,
        text,
        literal(text),
        "makes the file a workflow",
        filter=f"{key['open']}{_NAME}",
        about=_ABOUT,
    )
    return Completions(span, (item,))


def _at_colon(value: re.Match[str], at: Position) -> bool:
    return not value["word"] and at.column == value.start("gap")


def _value(value: re.Match[str], at: Position) -> Completions:
    start = max(value.start("word"), at.column) if not value["word"] else value.start("word")
    text = SCHEMA if value["gap"] or value["open"] else f" {SCHEMA}"
    item = Item(SCHEMA, ItemKind.VALUE, text, detail="the format of workflows", preselect=True, about=_ABOUT)
    return Completions(Span(Position(at.line, start), Position(at.line, max(start, value.end("word")))), (item,))


def _may_become_ours(document: Document, own: int) -> bool:
    """Whether all keys at the margin are those of a workflow, and `$schema` is not among them."""
    known = False
    for number, line in enumerate(document.text.lines[:_LOOKED_AT]):
        if number == own or not line.strip() or line[0] in " \t#" or line.startswith("---"):
            continue
        if known and line.startswith("- "):
            continue
        key = _TOP_KEY.match(line)
        if key is None or key[2] not in WORKFLOW.keys or key[2] == _NAME:
            return False
        known = True
    return True
