"""The chunks of a document in order, with what finds them quickly. Immutable; a change copies lists of
numbers, not what they stand for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import is_

from loop_ls.syntax.incremental.piece import Chunk, Piece
from loop_ls.text.invariant import invariant


class Chunks:
    """`starts`: the first line of each chunk. `pieces`: those of all chunks.

    `orders` rise with the chunks and never change for a chunk, so that its place is found without
    keeping it in the chunk, which may move.
    """

    __slots__ = ("_orders", "chunks", "pieces", "starts")

    def __init__(self, chunks: list[Chunk], starts: list[int], orders: list[int], pieces: list[Piece]) -> None:
        self.chunks, self.starts, self._orders, self.pieces = chunks, starts, orders, pieces
        invariant(lambda: starts == _starts(chunks), "the first lines of chunks fit the chunks")
        invariant(lambda: orders == [chunk.order for chunk in chunks] == sorted(orders), "order numbers rise")
        invariant(lambda: _same(pieces, _pieces(chunks)), "the pieces are those of the chunks")

    @classmethod
    def of(cls, chunks: list[Chunk]) -> Chunks:
        return cls(chunks, _starts(chunks), [chunk.order for chunk in chunks], _pieces(chunks))

    def replace(self, low: int, high: int, fresh: list[Chunk]) -> Chunks:
        """With `fresh` in place of the chunks low..high (exclusive)."""
        chunks, orders, pieces, starts = self.chunks.copy(), self._orders.copy(), self.pieces.copy(), self.starts
        old = chunks[low:high]
        first = pieces.index(old[0].pieces[0], low)  # each chunk has a piece at least, most have one
        pieces[first : first + sum(len(chunk.pieces) for chunk in old)] = _pieces(fresh)
        chunks[low:high] = fresh
        orders[low:high] = [chunk.order for chunk in fresh]
        *inner, end = accumulate((len(chunk.lines) for chunk in fresh), initial=starts[low])
        old_end = starts[high - 1] + len(old[-1].lines)
        if inner != starts[low:high] or end != old_end:
            delta = end - old_end
            behind = [start + delta for start in starts[high:]] if delta else starts[high:]
            starts = starts[:low] + inner + behind
        return Chunks(chunks, starts, orders, pieces)

    def at(self, line: int) -> int:
        """The number of the chunk with this line."""
        return bisect_right(self.starts, line) - 1

    def exchange(self, others: Mapping[int, Chunk]) -> Chunks:
        """With other readings of the same lines in place of the chunks with these numbers."""
        chunks, pieces = self.chunks.copy(), self.pieces.copy()
        for at, chunk in others.items():
            old, chunks[at] = chunks[at], chunk
            first = pieces.index(old.pieces[0], at)
            pieces[first : first + len(old.pieces)] = chunk.pieces
        return Chunks(chunks, self.starts, self._orders, pieces)

    def number_of(self, owner: Piece | Chunk) -> int:
        """The number of the chunk that a piece belongs to."""
        at = bisect_left(self._orders, owner.order)
        while at < len(self.chunks) and self._orders[at] == owner.order:
            if self.chunks[at].lines is owner.lines:
                return at
            at += 1
        raise LookupError("no such piece in this tree")

    def start_of(self, owner: Piece | Chunk) -> int:
        """The first line of the chunk that a piece belongs to."""
        return self.starts[self.number_of(owner)]


def _starts(chunks: list[Chunk]) -> list[int]:
    return list(accumulate((len(chunk.lines) for chunk in chunks), initial=0))[:-1]


def _pieces(chunks: list[Chunk]) -> list[Piece]:
    return [piece for chunk in chunks for piece in chunk.pieces]


def _same(one: list[Piece], other: list[Piece]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


def flagged(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    return tuple(chunk for chunk in chunks if chunk.flagged)
