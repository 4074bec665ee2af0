"""Aliases of anchors that stand in a chunk above: the chunk of the alias is read again with the anchored nodes.

Without this an alias in the last step would mean that the whole document is read with every key. A node behind an
alias has its true place, so its line is a negative number where it is counted from the chunk of the alias; the
lines there are in `AliasLines.above`.
"""

from __future__ import annotations

from loop_ls.syntax.incremental.alias_lines import Above, AliasLines
from loop_ls.syntax.incremental.chunks import Chunks
from loop_ls.syntax.incremental.piece import Bound, Chunk
from loop_ls.syntax.incremental.split import Unit
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence
from loop_ls.syntax.read import Slice, read_chunk
from loop_ls.syntax.yaml.anchors import MAX_ADDED, Anchored


def bind(cut: Chunks, flagged: tuple[Chunk, ...]) -> tuple[Chunks, tuple[Chunk, ...]]:
    """The chunks with every alias bound to the anchor that it means, and those of them that are flagged. A chunk
    whose aliases mean what they meant before stays the same."""
    if not any(chunk.missing for chunk in flagged):
        return cut, flagged
    known: dict[str, tuple[Anchored, int, tuple[str, ...]]] = {}
    fresh: dict[int, Chunk] = {}
    found: list[Chunk] = []
    added = 0
    for chunk in flagged:
        one = chunk
        if chunk.missing or chunk.anchors:
            at = cut.number_of(chunk)
            start = cut.starts[at]
            if chunk.missing:
                bound = tuple(
                    Bound(known[name][0], known[name][1] - start)
                    for name in dict.fromkeys(alias.name for alias in chunk.missing)
                    if name in known
                )
                if added + sum(each.anchored.size for each in bound) > MAX_ADDED:
                    added, bound = MAX_ADDED + 1, ()
                if not _same(bound, chunk.bound):
                    one = fresh[at] = _read(chunk, bound, [known[each.anchored.name][2] for each in bound])
            known.update((anchored.name, (anchored, start, one.lines)) for anchored in one.anchors)
            added += one.added
        found.append(one)
    return (cut.exchange(fresh), tuple(found)) if fresh else (cut, flagged)


def is_too_much(flagged: tuple[Chunk, ...]) -> bool:
    """Whether aliases add more than they may in one document, or were left alone because they would."""
    seen: set[str] = set()
    added = 0
    for chunk in flagged:
        names = {alias.name for alias in chunk.missing} & seen
        if names - {one.anchored.name for one in chunk.bound}:
            return True
        added += chunk.added
        seen.update(one.name for one in chunk.anchors)
    return added > MAX_ADDED


def _same(bound: tuple[Bound, ...], before: tuple[Bound, ...]) -> bool:
    return len(bound) == len(before) and all(
        one.lines == other.lines
        and one.anchored.name == other.anchored.name
        and one.anchored.node is other.anchored.node
        for one, other in zip(bound, before, strict=True)
    )


def _read(chunk: Chunk, bound: tuple[Bound, ...], lines: list[tuple[str, ...]]) -> Chunk:
    above: list[Above] = []
    for one, written in zip(bound, lines, strict=True):
        above.append(Above(one.lines, tuple(written)))
        if isinstance(written, AliasLines):
            above += (Above(further.first + one.lines, further.lines) for further in written.above)
    outer = [one.anchored._replace(node=_moved(one.anchored.node, one.lines, {})) for one in bound]
    own = AliasLines.of(tuple(chunk.lines), tuple(above)) if bound else tuple(chunk.lines)
    part = Slice(Unit(0, chunk.kind, chunk.before, chunk.after), own, chunk.follower, chunk.order)
    return read_chunk(part, outer).flag(bound=bound)


def _moved(node: Node, lines: int, known: dict[int, Node]) -> Node:
    """The node with its places counted from another line. What several aliases share stays shared."""
    if id(node) in known:
        return known[id(node)]
    span = node.span.shift(lines)
    moved: Node
    match node:
        case Scalar():
            moved = Scalar(span, node.text, node.style, node.anchor, node.tag)
        case Alias():
            moved = Alias(span, node.name, None if node.target is None else _moved(node.target, lines, known))
        case Mapping():
            entries = tuple(_moved_entry(entry, lines, known) for entry in node.entries)
            merges = tuple(_moved_entry(entry, lines, known) for entry in node.merges)
            moved = Mapping(span, entries, node.flow, node.anchor, node.tag, merges)
        case Sequence():
            items = tuple(None if item is None else _moved(item, lines, known) for item in node.items)
            moved = Sequence(span, items, node.flow, node.anchor, node.tag)
    known[id(node)] = moved
    return moved


def _moved_entry(entry: Entry, lines: int, known: dict[int, Node]) -> Entry:
    key = entry.key
    moved = Scalar(key.span.shift(lines), key.text, key.style, key.anchor, key.tag)
    return Entry(moved, None if entry.value is None else _moved(entry.value, lines, known), entry.merged)
