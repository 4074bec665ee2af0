"""Which of our formats a file is, if any. Everything else gets no finding and no feature."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import LOOKALIKE, WORKFLOW, claimed
from loop_ls.formats.workflow.keys import SCHEMA
from loop_ls.syntax import nodes
from loop_ls.syntax.nodes import Node, Scalar, resolved
from loop_ls.text.pattern import pattern

if TYPE_CHECKING:
    from loop_ls.syntax.tree import Tree

_SAYS_NOTHING = pattern(r"[ \t]*(?:#.*)?$|%|---[ \t]*(?:#.*)?$")
_BEGINS_BLOCK = pattern(r" *[\w$\"'?.<]")
_SCHEMA_LINE = pattern(rf"[ \t]*(?:- )?(['\"]?)\$schema\1[ \t]*:[ \t]*(['\"]?){re.escape(SCHEMA)}\2[ \t]*(?:#.*)?$")


def recognise(path: str, tree: Tree) -> Format | None:
    """What the file at `path` (with `/`) is by its name and by what stands in it."""
    entries: dict[str, Node | None] = {}
    items: set[str] = set()
    for piece in tree.pieces:
        if piece.key is not None:
            entries.setdefault(piece.key.text, piece.node)
        elif piece.kind == "item" and piece.section:
            items.add(piece.section)
    return claimed(path) or by_content(entries, items)


def by_content(entries: Mapping[str, Node | None], sections_with_items: Iterable[str]) -> Format | None:
    """Workflow or look-alike, from the top-level entries of a YAML file."""
    schema = resolved(entries.get("$schema"))
    if isinstance(schema, Scalar) and schema.text == SCHEMA:
        return WORKFLOW
    name = resolved(entries.get("name"))
    execution = resolved(entries.get("execution"))
    if not isinstance(name, Scalar) or not isinstance(execution, nodes.Mapping):
        return None
    listed = set(sections_with_items)
    lists = ("steps" in listed, "loops" in listed, _is_list(entries, "steps"), _is_list(entries, "loops"))
    return LOOKALIKE if any(lists) else None


def could_be_ours(head: Iterable[str], holds: Callable[[str], bool]) -> bool:
    """Whether a YAML text may be a workflow or look like one, by a glance that costs no reading: `head` are its
    first lines, `holds` tells whether a word stands anywhere in it, with `\\n` in front: at the start of a line."""
    if holds(SCHEMA):
        return True
    first = next((line for line in head if not _SAYS_NOTHING.match(line)), "")
    margin = first[: len(first) - len(first.lstrip(" "))]
    if not _BEGINS_BLOCK.match(first):  # `{`, a tag: its keys may stand anywhere
        return holds("execution") and holds("name") and (holds("steps") or holds("loops"))

    def has(key: str) -> bool:
        return any(holds(f"\n{margin}{mark}{key}") for mark in ("", '"', "'", "? "))

    return has("execution") and has("name") and (has("steps") or has("loops"))


def names_schema(lines: Iterable[str]) -> bool:
    """Whether a line of a text that is no mapping, or is broken, still says what it wants to be."""
    return any("$schema" in line and _SCHEMA_LINE.match(line) for line in lines)


def _is_list(entries: Mapping[str, Node | None], key: str) -> bool:
    return isinstance(resolved(entries.get(key)), nodes.Sequence)
