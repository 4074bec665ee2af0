"""A document as pieces, read again only where an edit touched it.

The cut is trusted unless a chunk shows that it may be wrong (see `Chunk`); then the document is
read as a whole, and only if libyaml refuses that too, the cut with its tolerant reading counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from loop_ls.syntax import whole
from loop_ls.syntax.cut import START, Follower, Kind, Unit, cut
from loop_ls.syntax.nodes import Mapping, Scalar
from loop_ls.syntax.nodes import Sequence as SequenceNode
from loop_ls.syntax.piece import Chunk, Piece
from loop_ls.syntax.read import Slice, read_chunk
from loop_ls.text.fault import Fault
from loop_ls.text.lines import Change, Text
from loop_ls.text.position import Span

__all__ = ["Fault", "Piece", "Tree", "read_yaml"]

#: Distance of the order numbers of neighbouring chunks; halved by what is inserted between them.
GAP = 1 << 40


class Tree:
    """An immutable snapshot; `edit` gives the next one, which shares every untouched piece."""

    __slots__ = ("_chunks", "_flagged", "_orders", "_starts", "_whole", "faults", "pieces", "root_kind", "text")

    def __init__(
        self, text: Text, chunks: list[Chunk], starts: list[int], orders: list[int], flagged: tuple[Chunk, ...]
    ) -> None:
        self.text = text
        self._chunks, self._starts, self._orders, self._flagged = chunks, starts, orders, flagged
        self._whole: Chunk | None = whole.read_whole(chunks, flagged) if flagged else None
        self.pieces: Sequence[Piece]
        if self._whole is not None:
            self.pieces = self._whole.pieces
        else:
            self.pieces = [piece for chunk in chunks for piece in chunk.pieces]
        self.faults = self._document_faults()
        self.root_kind = _root_kind(self.pieces)

    def _document_faults(self) -> tuple[Fault, ...]:
        last, read = self._chunks[-1], self._whole
        faults: tuple[Fault, ...] = ()
        if self._flagged:
            starts = [self._starts[bisect_left(self._orders, chunk.order)] for chunk in self._flagged]
            found = [(read, 0)] if read is not None else zip(self._flagged, starts, strict=True)
            faults = tuple(whole.unknown_anchors(found))
        if last.kind == "tail" and (read is None or whole.ends_document(last)):
            faults += whole.second_document(last, self._starts[-1])
        return faults

    def start_of(self, piece: Piece) -> int:
        """The line of the document that the piece counts its places from."""
        if self._whole is not None and piece.lines is self._whole.lines:
            return 0
        at = bisect_left(self._orders, piece.order)
        while at < len(self._chunks) and self._orders[at] == piece.order:
            if self._chunks[at].lines is piece.lines:
                return self._starts[at]
            at += 1
        raise LookupError(f"no piece of this tree: {piece.kind} {piece.section}")

    def edit(self, span: Span, new: str) -> Tree:
        """The tree of the text with `span` replaced by `new`."""
        text, change = self.text.change(span, new)
        return self.after(text, change)

    def after(self, text: Text, change: Change) -> Tree:
        """The tree of `text`, which differs from this one's by `change`."""
        chunks, starts = self._chunks, self._starts
        low = max(0, bisect_right(starts, change.first) - 2)
        high = bisect_right(starts, change.first + change.removed - 1) - 1
        delta = change.added - change.removed
        fresh, high = _recut(text, chunks, starts, low, high, delta)
        new = _reread(fresh, chunks, low, high + 1)
        kept = set(map(id, new))
        gone = {id(chunk) for chunk in chunks[low : high + 1]} - kept
        all_chunks, all_orders = chunks.copy(), self._orders.copy()
        all_chunks[low : high + 1] = new
        all_orders[low : high + 1] = [chunk.order for chunk in new]
        sizes = accumulate((len(chunk.lines) for chunk in new), initial=starts[low])
        new_starts = list(sizes)[:-1]
        all_starts = starts.copy()
        all_starts[low : high + 1] = new_starts
        if delta:
            tail = low + len(new)
            all_starts[tail:] = [start + delta for start in starts[high + 1 :]]
        flagged = [c for c in self._flagged if id(c) not in gone]
        old = set(map(id, flagged))
        flagged += [c for c in new if c.flagged and id(c) not in old]
        flagged.sort(key=lambda c: c.order)
        return Tree(text, all_chunks, all_starts, all_orders, tuple(flagged))


def read_yaml(text: Text) -> Tree:
    """The tree of a YAML text. Never raises on content."""
    lines = list(text.lines)
    units = _lines_of(list(cut(lines, START)), lines)
    chunks = [read_chunk(Slice(unit, own, follower, GAP * n)) for n, (unit, own, follower) in enumerate(units)]
    starts = list(accumulate((len(chunk.lines) for chunk in chunks), initial=0))[:-1]
    flagged = tuple(chunk for chunk in chunks if chunk.flagged)
    return Tree(text, chunks, starts, [chunk.order for chunk in chunks], flagged)


_Cut = tuple[Unit, tuple[str, ...], Follower]


def _lines_of(units: list[Unit], lines: list[str], follower: Follower = "end") -> list[_Cut]:
    ends = [unit.line for unit in units[1:]] + [len(lines)]
    followers = [_as_follower(unit.kind) for unit in units[1:]] + [follower]
    return [
        (unit, tuple(lines[unit.line : end]), behind) for unit, end, behind in zip(units, ends, followers, strict=True)
    ]


def _as_follower(kind: Kind) -> Follower:
    return "item" if kind == "item" else "unit"


def _reread(fresh: list[_Cut], chunks: list[Chunk], low: int, high: int) -> list[Chunk]:
    """The chunks of fresh units in place of chunks low..high; those whose text did not change stay."""
    kept = _kept(fresh, chunks[low:high])
    last = chunks[low - 1].order if low else chunks[0].order - 2 * GAP
    after = chunks[high].order if high < len(chunks) else None
    if len(fresh) == high - low:
        orders = [chunk.order for chunk in chunks[low:high]]
    else:
        orders = _orders(kept, last, after)
    return [
        old or read_chunk(Slice(unit, lines, follower, order))
        for (unit, lines, follower), old, order in zip(fresh, kept, orders, strict=True)
    ]


def _kept(fresh: list[_Cut], old: list[Chunk]) -> list[Chunk | None]:
    """For each unit the old chunk that says the same, from the front and from the back."""
    kept: list[Chunk | None] = [None] * len(fresh)
    front = 0
    while front < min(len(fresh), len(old)) and _same(fresh[front], old[front]):
        kept[front] = old[front]
        front += 1
    back = 1
    while back <= min(len(fresh), len(old)) - front and _same(fresh[-back], old[-back]):
        kept[-back] = old[-back]
        back += 1
    return kept


def _same(cut: _Cut, old: Chunk) -> bool:
    unit, lines, follower = cut
    return (old.lines, old.kind, old.before, old.after, old.follower) == (
        lines,
        unit.kind,
        unit.before,
        unit.after,
        follower,
    )


def _orders(kept: list[Chunk | None], last: int, after: int | None) -> list[int]:
    """An order number for each chunk, between those of its neighbours. Numbers may be equal when a
    gap is used up; `Tree.start_of` copes with that."""
    orders: list[int] = []
    for number, chunk in enumerate(kept):
        if chunk is None:
            fixed = next((c.order for c in kept[number:] if c is not None), after)
            last = last + GAP if fixed is None else last + (fixed - last) // 32
            orders.append(last)
        else:
            last = chunk.order
            orders.append(last)
    return orders


def _recut(
    text: Text, chunks: list[Chunk], starts: list[int], low: int, high: int, delta: int
) -> tuple[list[_Cut], int]:
    """The units in place of chunks low..high, and the last chunk that they replace."""
    start, state = starts[low], chunks[low].before
    lines = text.lines[start : starts[high] + len(chunks[high].lines) + delta]
    while True:
        units = list(cut(lines, state))
        after = units[-1].after
        if high + 1 == len(chunks):
            return _lines_of(units, lines), high
        follower = chunks[high + 1]
        if after == follower.before:
            return _lines_of(units, lines, _as_follower(follower.kind)), high
        high += 1
        lines += chunks[high].lines


def _root_kind(pieces: Sequence[Piece]) -> str:
    for piece in pieces:
        match piece.kind:
            case "entry" | "head" | "item":
                return "mapping"
            case "root":
                match piece.node:
                    case Mapping():
                        return "mapping"
                    case SequenceNode():
                        return "sequence"
                    case Scalar():
                        return "scalar"
                    case _:
                        return "empty"
            case _:
                continue
    return "empty"
