"""A document as pieces, read again only where an edit touched it.

The cut is trusted unless a chunk shows that it may be wrong (see `Chunk`); then the document is
read as a whole, and only if libyaml refuses that too, the cut with its tolerant reading counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from loop_ls.syntax import read, whole
from loop_ls.syntax.cut import START, State, Unit, cut
from loop_ls.syntax.nodes import Mapping, Scalar
from loop_ls.syntax.nodes import Sequence as SequenceNode
from loop_ls.syntax.piece import Chunk, Piece
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
            self.pieces = self._whole.pieces + (chunks[-1].pieces if chunks[-1].kind == "tail" else ())
        else:
            self.pieces = [piece for chunk in chunks for piece in chunk.pieces]
        self.faults: tuple[Fault, ...] = whole.second_document(chunks[-1], starts[-1])
        self.root_kind = _root_kind(self.pieces)

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
        orders = _orders_between(self._orders, low, high + 1, len(fresh))
        reusable = {chunk.lines: chunk for chunk in chunks[low : high + 1]}
        new = [
            _chunk(unit, lines, followed, order, reusable)
            for (unit, lines, followed), order in zip(fresh, orders, strict=True)
        ]
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
    units = _lines_of(list(_units(lines, START)), lines)
    chunks = [_chunk(unit, own, followed, GAP * n, {}) for n, (unit, own, followed) in enumerate(units)]
    starts = list(accumulate((len(chunk.lines) for chunk in chunks), initial=0))[:-1]
    flagged = tuple(chunk for chunk in chunks if chunk.flagged)
    return Tree(text, chunks, starts, [chunk.order for chunk in chunks], flagged)


_Cut = tuple[Unit, tuple[str, ...], bool]


def _units(lines: Iterable[str], state: State) -> Iterable[Unit]:
    first = True
    for unit in cut(lines, state):
        if first and unit.line > 0:
            yield Unit(0, "lead", state, state)
        first = False
        yield unit
    if first:
        yield Unit(0, "lead", state, state)


def _lines_of(units: list[Unit], lines: list[str], followed: bool = False) -> list[_Cut]:
    ends = [unit.line for unit in units[1:]] + [len(lines)]
    nexts = [unit.kind == "item" for unit in units[1:]] + [followed]
    return [
        (unit, tuple(lines[unit.line : end]), unit.kind == "head" and item)
        for unit, end, item in zip(units, ends, nexts, strict=True)
    ]


def _chunk(
    unit: Unit, lines: tuple[str, ...], followed: bool, order: int, reusable: dict[tuple[str, ...], Chunk]
) -> Chunk:
    old = reusable.get(lines)
    if old is not None and (old.kind, old.before, old.after, old.followed) == (
        unit.kind,
        unit.before,
        unit.after,
        followed,
    ):
        del reusable[lines]
        return old
    return read.read_chunk(lines, unit.kind, unit.before, unit.after, followed, order)


def _recut(
    text: Text, chunks: list[Chunk], starts: list[int], low: int, high: int, delta: int
) -> tuple[list[_Cut], int]:
    """The units in place of chunks low..high, and the last chunk that they replace."""
    start, state = starts[low], chunks[low].before
    lines = text.lines[start : starts[high] + len(chunks[high].lines) + delta]
    while True:
        units = list(_units(lines, state))
        after = units[-1].after
        if high + 1 == len(chunks):
            return _lines_of(units, lines), high
        follower = chunks[high + 1]
        if after == follower.before:
            return _lines_of(units, lines, follower.kind == "item"), high
        high += 1
        lines += chunks[high].lines


def _orders_between(orders: list[int], low: int, high: int, count: int) -> list[int]:
    """Order numbers for `count` chunks in place of low..high, kept where the number of chunks is."""
    if count == high - low:
        return orders[low:high]
    before = orders[low - 1] if low else orders[0] - GAP
    after = orders[high] if high < len(orders) else max(before, orders[-1]) + GAP * (count + 1)
    step = (after - before) // (count + 1)
    return [before + step * (number + 1) for number in range(count)]


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
