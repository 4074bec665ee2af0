"""Values as YAML in the style of the place they go to: new keys, other values, entries of lists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from collections.abc import Sequence as Many

from loop_ls.engine.enhance.ops.operations import Rejected
from loop_ls.engine.enhance.plan.working_copy import Target, WorkingCopy
from loop_ls.syntax.edit.edits import Edit, add_to_list, insert_entry, remove_entry, set_scalar
from loop_ls.syntax.edit.layout import Layout
from loop_ls.syntax.edit.render import block_text, scalar_text
from loop_ls.syntax.nodes import Entry, Scalar, Sequence, Style
from loop_ls.text.json_value import Json
from loop_ls.text.position import Position, Span

#: Finds the mapping to change in a copy: its places move with every edit.
Find = Callable[[WorkingCopy], Target]

#: The order in which keys of a step and of a loop are usually written: a new one goes behind
#: the nearest of those before it.
_STEP = (
    *("name", "needs", "execution_order", "if", "run", "template", "consensus", "rag", "embeddings", "loop"),
    *("provider", "model", "providers", "temperature", "max_tokens", "timeout", "max_iterations", "servers"),
    *("skills", "on_failure", "max_retries"),
)
_LOOP = (
    *("name", "workflow", "mode", "items", "with", "max_iterations", "until", "accumulate", "on_failure"),
    *("max_retries", "retry_delay", "min_success_rate", "timeout_per_item", "total_timeout", "parallel"),
)
_EXECUTION = (
    *("provider", "model", "providers", "servers", "skills", "temperature", "max_tokens", "timeout"),
    *("max_iterations", "parallel", "max_workers", "on_error", "logging"),
)


_BLANK = re.compile(r"(\r\n|\n|\r)[ ]+(?=[\r\n])")


def order_of(kind: str) -> Many[str]:
    return {"loop": _LOOP, "execution": _EXECUTION}.get(kind, _STEP)


def set_value(copy: WorkingCopy, target: Target, key: str, value: Json, order: Many[str]) -> list[Edit]:
    """Edits that give a key this value, a text, number or truth value. The key is added where it is missing."""
    entry = target.entry(key)
    if entry is None:
        return insert(copy, target, key, _new(value, target, copy), order)
    node = entry.value
    if isinstance(value, str) and isinstance(node, Scalar) and not _needs_block(value, node, target):
        return set_scalar(copy.document.tree, target.piece, node, value, target.mapping.flow)
    return _replaced(copy, target, entry, _new(value, target, copy))


def insert(copy: WorkingCopy, target: Target, key: str, written: str, order: Many[str]) -> list[Edit]:
    """A new entry with a value as it is to be written, at its place in `order`."""
    tree = copy.document.tree
    edits = insert_entry(tree, target.piece, target.mapping, key, written, _before(target, key, order))
    return [Edit(edit.span, tidy(edit.text)) for edit in edits]


def drop(copy: WorkingCopy, target: Target, key: str) -> list[Edit]:
    entry = target.entry(key)
    return [] if entry is None else remove_entry(copy.document.tree, target.piece, target.mapping, entry)


def add_words(copy: WorkingCopy, find: Find, key: str, words: Many[str], order: Many[str]) -> WorkingCopy:
    """More entries of a list of texts, which is added where it is missing."""
    for word in words:
        target = find(copy)
        entry = target.entry(key)
        if entry is None:
            copy = copy.edited(insert(copy, target, key, f"[{scalar_text(word, True)}]", order))
            continue
        edits = add_to_list(copy.document.tree, target.piece, target.mapping, key, word)
        if not edits:
            raise Rejected("breaks_document", f"`{key}` is not a list")
        copy = copy.edited(edits)
    return copy


def remove_words(copy: WorkingCopy, target: Target, key: str, words: Many[str]) -> list[Edit]:
    """Without these entries of a list; without the key where nothing is left."""
    entry = target.entry(key)
    if entry is None or not isinstance(entry.value, Sequence):
        return []
    sequence = entry.value
    kept = [item for item in sequence.items if not (isinstance(item, Scalar) and item.text in words)]
    if len(kept) == len(sequence.items):
        return []
    if not kept:
        return drop(copy, target, key)
    if sequence.flow:
        listed = ", ".join(scalar_text(item.text, True) for item in kept if isinstance(item, Scalar))
        return _replaced(copy, target, entry, f"[{listed}]")
    layout, start = Layout(copy.document.tree, target.piece), copy.document.tree.start_of(target.piece)
    gone = [item for item in sequence.items if isinstance(item, Scalar) and item.text in words]
    return [Edit(layout.lines(item.span.start.line, item.span.end.line).shift(start), "") for item in gone]


def tidy(text: str) -> str:
    """Without blanks in lines that hold nothing else: blank lines of a prompt stay blank."""
    return _BLANK.sub(r"\1", text)


def flow(value: Json) -> str:
    """A value in flow style: lists and mappings of texts and numbers."""
    match value:
        case str():
            return scalar_text(value, True)
        case list():
            return "[" + ", ".join(flow(one) for one in value) + "]"
        case dict():
            return "{" + ", ".join(f"{scalar_text(key, True)}: {flow(one)}" for key, one in value.items()) + "}"
        case _:
            return json.dumps(value)


def item(keys: Mapping[str, Json]) -> str:
    """A new item of `steps` or `loops` as block text: a key on each line, prompts as literal blocks."""
    lines = []
    for key, value in keys.items():
        match value:
            case dict():
                lines.append(f"{key}:")
                lines += [f"  {scalar_text(name)}: {_inline(one)}" for name, one in value.items()]
            case _:
                lines.append(f"{key}: {_block(value, 2)}")
    return "\n".join(lines)


def _inline(value: Json) -> str:
    if isinstance(value, dict):
        return flow(value)
    return _block(value, 4)


def _block(value: Json, margin: int) -> str:
    """A value behind its colon; a text of several lines as a literal block."""
    if not isinstance(value, str):
        return flow(value)
    if "\n" in value:
        written = block_text(value, Style.LITERAL, margin, "|" if value.endswith("\n") else "|-")
        if written is not None:
            return written
    return scalar_text(value)


def _new(value: Json, target: Target, copy: WorkingCopy) -> str:
    if not isinstance(value, str):
        return flow(value)
    if "\n" in value and not target.mapping.flow:
        written = block_text(value, Style.LITERAL, 2, "|" if value.endswith("\n") else "|-")
        if written is not None:
            return written
    return scalar_text(value, target.mapping.flow)


def _needs_block(value: str, old: Scalar, target: Target) -> bool:
    """A text of several lines is written as a literal block where its key stood on one line."""
    return "\n" in value and not old.style.block and not target.mapping.flow


def _replaced(copy: WorkingCopy, target: Target, entry: Entry, written: str) -> list[Edit]:
    """Another value behind the colon, and what stood there gone."""
    tree, margin = copy.document.tree, " " * target.mapping.span.start.column
    start = Layout(tree, target.piece).behind_colon(entry)
    end = start if entry.value is None else entry.value.span.end
    span = Span(start, end).shift(tree.start_of(target.piece))
    header, *rows = written.split("\n")
    if rows:  # a comment behind the old value would become a part of the block: it goes behind the header
        behind = tree.text.line(span.end.line)[span.end.column :]
        header, span = header + behind, Span(span.start, Position(span.end.line, span.end.column + len(behind)))
    text = tidy(" " + (tree.text.eol + margin).join([header, *rows]))
    return [Edit(span, text)]


def _before(target: Target, key: str, order: Many[str]) -> Entry | None:
    """The entry behind which a new one goes; None: at the end."""
    if key not in order:
        return None
    earlier = set(order[: order.index(key)])
    found = [entry for entry in target.mapping.entries if not entry.merged and entry.key.text in earlier]
    return max(found, key=lambda entry: entry.key.span, default=None)
