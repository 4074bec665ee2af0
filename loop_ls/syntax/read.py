"""One chunk: common shapes at once, others by libyaml, what it refuses by the tolerant reader; and doubts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from loop_ls.syntax.incremental.piece import Chunk, Piece, Source, pieces
from loop_ls.syntax.incremental.split import Follower, Unit
from loop_ls.syntax.merge_conflicts import without_markers
from loop_ls.syntax.nodes import Entry, Mapping, Node, Sequence
from loop_ls.syntax.yaml import error_recovery, fast_path
from loop_ls.syntax.yaml.anchors import Anchored
from loop_ls.syntax.yaml.compose import compose
from loop_ls.syntax.yaml.composed import ODD_BREAKS, Composed
from loop_ls.syntax.yaml.line_patterns import ODD_BLANKS, ODD_INDENT
from loop_ls.syntax.yaml.refusal import Rejected
from loop_ls.text.fault import Fault
from loop_ls.text.position import Position, Span

#: A unit that starts like this may belong to what stands in front of it.
_ODD_STARTS = ("?", ":", "\ufeff")


class Slice(NamedTuple):
    """One unit with its lines, what comes behind it, and its order number."""

    unit: Unit
    lines: tuple[str, ...]
    follower: Follower
    order: int

    def source(self, faults: tuple[Fault, ...] = (), tolerantly: bool = False) -> Source:
        section = self.unit.after.section if self.unit.kind in ("head", "item") else None
        return Source(self.lines, section, faults, tolerantly, self.order)

    def chunk(self, found: tuple[Piece, ...]) -> Chunk:
        unit = self.unit
        return Chunk(self.lines, unit.kind, unit.before, unit.after, self.follower, found, self.order)


#: More refused units than this, and what follows is not read: this is no YAML.
MAX_REFUSED = 500


def read_chunks(parts: Iterable[tuple[Slice, Chunk | None]], allowed: int | None = MAX_REFUSED) -> list[Chunk]:
    """The chunks of units, in order; a chunk that is known already stays as it is. Behind more than
    `allowed` refused ones the rest is not read; None where units follow that are none of these."""
    chunks: list[Chunk] = []
    rest: list[Slice] = []
    for part, known in parts:
        if allowed is not None and allowed <= 0:
            rest.append(part)
            continue
        chunk = known or read_chunk(part)
        chunks.append(chunk)
        if chunk.refused and allowed is not None:
            allowed -= 1
    return [*chunks, _unread(rest)] if rest else chunks


def _unread(parts: list[Slice]) -> Chunk:
    """All these units as one chunk that nobody reads."""
    first, last = parts[0], parts[-1]
    unit = Unit(first.unit.line, "tail", first.unit.before, last.unit.after)
    lines = tuple(chain.from_iterable(part.lines for part in parts))
    return Slice(unit, lines, last.follower, first.order).chunk(
        (Piece(None, "tail", None, None, lines, (), True, first.order),)
    )


def read_chunk(part: Slice, outer: Iterable[Anchored] = ()) -> Chunk:
    """`outer`: the anchors of chunks above that its aliases mean, places relative to this one."""
    kind, lines = part.unit.kind, without_markers(part.lines)
    if kind in ("lead", "tail"):
        found = pieces(None, part.source(), kind)
        doubt = kind == "lead" and (any(line.startswith("%") for line in lines) or _odd_breaks(lines))
        return part.chunk(found).flag(doubt=doubt) if doubt else part.chunk(found)
    more = part.follower != "end"
    half: list[Fault] = []
    common = fast_path.read(lines, more, half)
    if common is not None and half and _fits(common, part.unit):
        found = pieces(common, part.source(tuple(half), True), kind)
        return part.chunk(found).flag(refused=True, ended=not part.unit.before.begun)
    if common is not None and not half:
        composed = Composed(common)
    else:
        try:
            composed = compose(lines, more, outer)
        except Rejected as rejected:
            return _refused(part, lines, rejected, outer)
    root = composed.node
    if not _fits(root, part.unit) or _oddly_indented(root, lines):
        return _refused(part, lines, None, outer)
    if kind == "head" and part.follower == "item" and isinstance(root, Mapping) and root.entries[0].value is not None:
        return _head_with_text(part, composed, root.entries[0])
    chunk = part.chunk(pieces(root, part.source(composed.faults), kind))
    doubt = lines[0].startswith(_ODD_STARTS) or (_several(root) and _odd_breaks(lines)) or _merges(root)
    if doubt or composed.anchors or composed.missing:
        return _linked(chunk, composed).flag(doubt=doubt)
    return chunk


def _linked(chunk: Chunk, read: Composed | error_recovery.Tolerated) -> Chunk:
    """The chunk with what is known of its anchors and aliases."""
    return chunk.flag(anchors=read.anchors, missing=read.missing, added=read.added)


def _fits(root: Node | None, unit: Unit) -> bool:
    """Whether a unit that libyaml reads can stand where the cut found it."""
    if unit.kind == "item":
        return isinstance(root, Sequence) and not root.flow and not _too_far_left(unit)
    return isinstance(root, Mapping) and not root.flow and root.span.start == (0, 0)


def _too_far_left(unit: Unit) -> bool:
    """An item that begins further left than those in front of it."""
    return unit.kind == "item" and unit.after.dash < unit.before.dash


def _oddly_indented(root: Node | None, lines: tuple[str, ...]) -> bool:
    """Whether keys begin with what only looks like a blank: to YAML it is part of the key."""
    if not any(ODD_INDENT.match(line) for line in lines if not line.isascii()):
        return False
    waiting: list[Node | None] = [root]
    while waiting:
        match waiting.pop():
            case Mapping() as one:
                if any(entry.key.text[:1] in ODD_BLANKS for entry in one.entries if entry.key.text):
                    return True
                waiting += [entry.value for entry in one.entries]
            case Sequence() as one:
                waiting += one.items
    return False


def _merges(root: Node | None) -> bool:
    """A merge key at top level: what it brings depends on all other entries."""
    return isinstance(root, Mapping) and bool(root.merges)


def _several(root: Node | None) -> bool:
    match root:
        case Mapping():
            return len(root.entries) > 1
        case Sequence():
            return len(root.items) > 1
        case _:
            return False


def _odd_breaks(lines: tuple[str, ...]) -> bool:
    return any(sign in line for line in lines if not line.isascii() for sign in ODD_BREAKS)


def _head_with_text(part: Slice, composed: Composed, entry: Entry) -> Chunk:
    """A head whose value stands in front of items. As a whole it may be one text, so there is doubt."""
    assert entry.value is not None
    name = part.unit.after.section
    sentence = f"Unexpected text between `{name}:` and its first item; remove it or start it with `- `."
    faults = (*composed.faults, Fault(entry.value.span, sentence, "unexpected-text"))
    head = Piece(name, "head", entry.key, None, part.lines, faults, True, part.order)
    return _linked(part.chunk((head,)), composed).flag(doubt=True)


def _refused(part: Slice, lines: tuple[str, ...], why: Rejected | None, outer: Iterable[Anchored]) -> Chunk:
    """What libyaml refuses, or reads as something that cannot stand there (`why` None)."""
    read = error_recovery.read(lines, part.unit.before.dash if _too_far_left(part.unit) else None, outer)
    faults = read.faults or (_refusal(why, lines),)
    found = pieces(read.node, part.source(faults, True), part.unit.kind)
    first = not part.unit.before.begun
    if why is None and any(fault.code == "odd-blank" for fault in faults):
        first = False  # as a whole it would be read as it looks, too
    odd = (
        _odd_breaks(lines)
        or any("\ufeff" in line for line in lines)
        or lines[0].startswith(_ODD_STARTS)
        or (first and why is None)
    )
    ended = first or (why is not None and why.ended)
    return _linked(part.chunk(found), read).flag(refused=True, ended=ended, doubt=odd)


def _refusal(why: Rejected | None, lines: tuple[str, ...]) -> Fault:
    """libyaml's own words, where the tolerant reader sees nothing wrong."""
    at = why.at if why else Position(0, 0)
    line = min(at.line, len(lines) - 1)
    while line and not lines[line].strip():
        line -= 1
    end = len(lines[line])
    column = min(at.column, max(end - 1, 0)) if line == at.line else 0
    span = Span(Position(line, column), Position(line, end))
    problem = why.problem if why else "not a `key: value`"
    return Fault(span, f"Invalid YAML from here on ({problem}).", "syntax")
