"""Merge keys (`<<`): the entries that they bring into a mapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loop_ls.syntax.nodes import Entry, Mapping, Node, Sequence, Style, resolved
from loop_ls.syntax.yaml.anchors import MAX_ADDED, Anchors
from loop_ls.text.fault import Fault

MERGE = "<<"


class Merged(NamedTuple):
    """All entries, merged ones behind the own ones, and the merge keys as written."""

    entries: tuple[Entry, ...]
    merges: tuple[Entry, ...]


def is_merge(entry: Entry) -> bool:
    return entry.key.text == MERGE and entry.key.style is Style.PLAIN and entry.key.tag is None


def merge(written: list[Entry], anchors: Anchors) -> Merged:
    """What the entries of a mapping are once its merge keys are followed. Own ones win, then earlier ones."""
    merges = tuple(entry for entry in written if is_merge(entry))
    if not merges:
        return Merged(tuple(written), ())
    entries = [entry for entry in written if not is_merge(entry)]
    known = {entry.key.text for entry in entries}
    for key in merges:
        for source in _sources(key, anchors):
            fresh = [entry for entry in source.entries if entry.key.text not in known]
            if not anchors.afford(len(source.entries)):
                sentence = f"`<<` makes the file too large: merge keys add more than {MAX_ADDED} values."
                anchors.faults.append(Fault(key.key.span, sentence, "too-many-aliases"))
                break
            known.update(entry.key.text for entry in fresh)
            entries += [Entry(entry.key, entry.value, merged=True) for entry in fresh]
    return Merged(tuple(entries), merges)


def _sources(key: Entry, anchors: Anchors) -> Iterator[Mapping]:
    """The mappings behind a merge key; anything else there is a fault."""
    parts: tuple[Node | None, ...] = (key.value,)
    value = resolved(key.value)
    if isinstance(value, Sequence):
        parts = value.items
    for part in parts:
        match resolved(part):
            case Mapping() as source:
                yield source
            case None if part is not None:
                pass  # an alias without an anchor is a fault of its own
            case _:
                span = part.span if part is not None else key.key.span
                sentence = "`<<` must be a mapping or a list of mappings, such as `<<: *defaults`."
                anchors.faults.append(Fault(span, sentence, "merge"))
