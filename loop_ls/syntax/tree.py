"""A document as pieces, read again only where an edit touched it.

The cut is trusted unless a chunk shows that it may be wrong (see `Chunk`); then the document is
read as a whole, and only if libyaml refuses that too, the cut with its tolerant reading counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile
from operator import is_not

from loop_ls.syntax.incremental import full_reparse
from loop_ls.syntax.incremental.aliases import bind
from loop_ls.syntax.incremental.chunks import Chunks
from loop_ls.syntax.incremental.chunks import flagged as _flagged
from loop_ls.syntax.incremental.piece import Chunk, Piece, Source, pieces
from loop_ls.syntax.incremental.single_line_edit import spliced
from loop_ls.syntax.incremental.split import START, Follower, Kind, Unit, cut
from loop_ls.syntax.json.one_text import with_text
from loop_ls.syntax.json.reader import JsonReader
from loop_ls.syntax.merge_conflicts import Conflict, conflict_fault, find_conflicts, is_marker, without_markers
from loop_ls.syntax.nodes import Mapping, Scalar
from loop_ls.syntax.nodes import Sequence as SequenceNode
from loop_ls.syntax.read import MAX_REFUSED, Slice, read_chunks
from loop_ls.text.fault import Fault
from loop_ls.text.invariant import invariant
from loop_ls.text.lines import Change, Text
from loop_ls.text.position import Span

__all__ = ["Fault", "Piece", "Tree", "read_front_matter", "read_json", "read_yaml", "unread"]

#: Distance of the order numbers of neighbouring chunks; halved by what is inserted between them.
GAP = 1 << 40


class Tree:
    """An immutable snapshot; `edit` gives the next one, which shares every untouched piece.

    - `pieces`: what the document consists of, in written order.
    - `faults`: what is wrong with the document as a whole, places absolute: a second document, an
      alias without an anchor. Everything else is among the faults of a piece.
    - `conflicts`: the merge conflicts, each of which is among the faults; their markers are read as blank lines.
    - `root_kind`: mapping, sequence, scalar or empty.
    """

    __slots__ = ("_cut", "_flagged", "_whole", "conflicts", "faults", "pieces", "root_kind", "text")

    def __init__(
        self, text: Text, cut: Chunks, flagged: tuple[Chunk, ...], conflicts: tuple[Conflict, ...] | None = None
    ) -> None:
        self.text, self._cut, self._flagged = text, cut, flagged
        self._whole: Chunk | None = full_reparse.read_whole(cut.chunks, flagged) if flagged else None
        self.pieces: Sequence[Piece] = cut.pieces if self._whole is None else self._whole.pieces
        self.conflicts = find_conflicts(text) if conflicts is None else conflicts
        self.faults = self._document_faults()
        self.root_kind = _root_kind(self.pieces)
        invariant(lambda: self.fits(text), "the chunks of a tree have the lines of its text")
        invariant(
            lambda: not self.is_read or self.conflicts == find_conflicts(text), "the conflicts are those of the text"
        )
        invariant(lambda: flagged == _flagged(cut.chunks), "the flagged chunks of a tree are all of them")

    @property
    def is_read(self) -> bool:
        return self._cut is not _NOTHING

    def fits(self, text: Text) -> bool:
        """Whether the tree was read from exactly the lines of `text`."""
        lines = iter(text.lines)
        return all(line == next(lines, None) for chunk in self._cut.chunks for line in chunk.lines) and not any(
            True for _ in lines
        )

    def _document_faults(self) -> tuple[Fault, ...]:
        last, read = self._cut.chunks[-1], self._whole
        faults: tuple[Fault, ...] = ()
        if read is not None:
            faults = tuple(full_reparse.unknown_anchors([(read, 0)]))
        elif self._flagged:
            faults = tuple(full_reparse.unknown_anchors((chunk, self._cut.start_of(chunk)) for chunk in self._flagged))
        if last.kind == "tail" and (read is None or full_reparse.ends_document(last)):
            faults += full_reparse.second_document(last, self._cut.starts[-1])
        return (*faults, *(conflict_fault(self.text, one) for one in self.conflicts)) if self.conflicts else faults

    @property
    def linked(self) -> Sequence[Piece]:
        """The pieces in which anchors or aliases may stand."""
        if self._whole is not None:
            return self.pieces
        return [piece for chunk in self._flagged if chunk.anchors or chunk.missing for piece in chunk.pieces]

    def around(self, line: int) -> tuple[int, Sequence[Piece]]:
        """The pieces of the lines that a line is among, and the line that their places count from. Several share their
        lines where the document could not be cut."""
        if line < 0:
            return 0, ()
        if self._whole is not None:
            return 0, self.pieces
        at = self._cut.at(line)
        return self._cut.starts[at], self._cut.chunks[at].pieces

    def start_of(self, piece: Piece) -> int:
        """The line of the document that the piece counts its places from."""
        if self._whole is not None and piece.lines is self._whole.lines:
            return 0
        return self._cut.start_of(piece)

    def edit(self, span: Span, new: str) -> Tree:
        """The tree of the text with `span` replaced by `new`."""
        text, change = self.text.change(span, new)
        return self.after(text, change)

    def after(self, text: Text, change: Change) -> Tree:
        """The tree of `text`, which differs from this one's by `change`."""
        old = self._cut
        touched = text.lines[change.first : change.first + change.added]
        conflicts = None if self.conflicts or any(map(is_marker, touched)) else ()
        if change.removed == change.added == 1:
            at = old.at(change.first)
            part = spliced(old.chunks[at], change.first - old.starts[at], text.line(change.first))
            if part is not None:
                return Tree(text, old.replace(at, at + 1, [part]), self._flagged, conflicts)
        low = max(0, old.at(change.first) - 1)
        high = old.at(change.first + change.removed - 1)
        fresh, high = _recut(text, old, low, high, change.added - change.removed)
        gone = set(map(id, old.chunks[low : high + 1]))
        flags = [chunk for chunk in self._flagged if id(chunk) not in gone]
        at_end = high + 1 == len(old.chunks)
        allowed = MAX_REFUSED - sum(chunk.refused for chunk in flags) if at_end else None
        new = _reread(fresh, old.chunks, low, high + 1, allowed)
        above = sum(_stands_above(chunk, old.chunks, low) for chunk in flags)
        flags[above:above] = _flagged(new)
        fresh_cut, found = old.replace(low, high + 1, new), tuple(flags)
        if change.added != change.removed or len(found) != len(self._flagged) or any(map(is_not, found, self._flagged)):
            fresh_cut, found = bind(fresh_cut, found)
        return Tree(text, fresh_cut, found, conflicts)


def read_yaml(text: Text) -> Tree:
    """The tree of a YAML text. Never raises on content."""
    lines = list(text.lines)
    parts = _lines_of(list(cut(lines, START)), lines)
    chunks = read_chunks((Slice(*part, GAP * number), None) for number, part in enumerate(parts))
    return Tree(text, *bind(Chunks.of(chunks), _flagged(chunks)))


class _UnreadTree(Tree):
    """Of a file that is none of ours: only its text is kept."""

    __slots__ = ()

    def fits(self, text: Text) -> bool:
        return True

    def after(self, text: Text, change: Change) -> Tree:
        return unread(text)


def unread(text: Text) -> Tree:
    """A tree that says nothing about its text, for the price of nothing."""
    return _UnreadTree(text, _NOTHING, (), ())


_NOTHING = Chunks.of([Chunk((), "lead", START, START, "end", (Piece(None, "lead", None, None, (), (), False, 0),), 0)])


class _JsonTree(Tree):
    """Read again as a whole by each edit but one inside a text: a bracket may change all that follows."""

    __slots__ = ()

    def after(self, text: Text, change: Change) -> Tree:
        if change.removed == change.added == 1 and not self.conflicts:
            chunk = with_text(self._cut.chunks[0], change.first, text.line(change.first))
            if chunk is not None:
                tree = _JsonTree(text, Chunks.of([chunk]), (), ())
                invariant(lambda: repr(tree.pieces) == repr(read_json(text).pieces), "an edit of a text is only that")
                return tree
        return read_json(text)


def read_json(text: Text) -> Tree:
    """The tree of a JSON text: one reading, places of all pieces absolute. Never raises on content."""
    lines = tuple(text.lines)
    reader = JsonReader(without_markers(lines))
    found = pieces(reader.root, Source(lines, None, tuple(reader.faults)), "root")
    return _JsonTree(text, Chunks.of([Chunk(lines, "root", START, START, "end", found, 0)]), ())


class _FrontMatterTree(Tree):
    """Of the keys above a text. Read again as a whole by each edit: such files are small, and a line may make a text of
    keys."""

    __slots__ = ()

    def _document_faults(self) -> tuple[Fault, ...]:
        return tuple(one for one in super()._document_faults() if one.code != "second-document")

    def after(self, text: Text, change: Change) -> Tree:
        return read_front_matter(text) or unread(text)


def read_front_matter(text: Text) -> Tree | None:
    """The tree of the keys between two lines `---` at the beginning of a text, which ends it; None: there are none."""
    lines = text.lines
    if not lines or lines[0].rstrip() != "---" or not any(line.rstrip() == "---" for line in lines[1:]):
        return None
    parts = _lines_of(list(cut(list(lines), START)), list(lines))
    chunks = read_chunks((Slice(*part, GAP * number), None) for number, part in enumerate(parts))
    return _FrontMatterTree(text, *bind(Chunks.of(chunks), _flagged(chunks)))


_Cut = tuple[Unit, tuple[str, ...], Follower]


def _lines_of(units: list[Unit], lines: list[str], follower: Follower = "end") -> list[_Cut]:
    ends = [unit.line for unit in units[1:]] + [len(lines)]
    followers = [_as_follower(unit.kind) for unit in units[1:]] + [follower]
    return [
        (unit, tuple(lines[unit.line : end]), behind) for unit, end, behind in zip(units, ends, followers, strict=True)
    ]


def _as_follower(kind: Kind) -> Follower:
    return "item" if kind == "item" else "unit"


def _reread(fresh: list[_Cut], chunks: list[Chunk], low: int, high: int, allowed: int | None) -> list[Chunk]:
    """The chunks of fresh units in place of chunks low..high; those whose text did not change stay."""
    kept = _kept(fresh, chunks[low:high])
    before = chunks[low - 1].order if low else chunks[0].order - 2 * GAP
    after = chunks[high].order if high < len(chunks) else before + GAP * (len(fresh) + 2)
    if len(fresh) == high - low:
        orders = [chunk.order for chunk in chunks[low:high]]
    else:
        orders = _orders(kept, before, after)
    parts = ((Slice(*part, order), old) for part, old, order in zip(fresh, kept, orders, strict=True))
    return read_chunks(parts, allowed)


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


def _stands_above(chunk: Chunk, chunks: list[Chunk], low: int) -> bool:
    """Whether one of the chunks stands above number `low`. Order numbers may be equal; then the places decide."""
    order = chunks[low].order
    if chunk.order != order:
        return chunk.order < order
    return any(one is chunk for one in takewhile(lambda one: one.order == order, reversed(chunks[:low])))


def _same(cut: _Cut, old: Chunk) -> bool:
    unit, lines, follower = cut
    return (old.lines, old.kind, old.before, old.after, old.follower) == (
        lines,
        unit.kind,
        unit.before,
        unit.after,
        follower,
    )


def _orders(kept: list[Chunk | None], before: int, after: int) -> list[int]:
    """An order number for each chunk, between those of its neighbours. Numbers may be equal when a
    gap is used up; `Chunks.start_of` copes with that."""
    orders: list[int] = []
    for is_kept, group in groupby(kept, key=lambda chunk: chunk is not None):
        run = list(group)
        if is_kept:
            orders += [chunk.order for chunk in run if chunk is not None]
            continue
        low = orders[-1] if orders else before
        following = kept[len(orders) + len(run)] if len(orders) + len(run) < len(kept) else None
        high = following.order if following is not None else max(after, low)
        step = (high - low) // max(32, len(run) + 1)  # most room stays behind, where one types next
        orders += [low + step * (number + 1) for number in range(len(run))]
    return orders


def _recut(text: Text, old: Chunks, low: int, high: int, delta: int) -> tuple[list[_Cut], int]:
    """The units in place of chunks low..high, and the last chunk that they replace."""
    chunks, starts = old.chunks, old.starts
    state = chunks[low].before
    lines = text.lines[starts[low] : starts[high] + len(chunks[high].lines) + delta]
    more = 1
    while True:
        units = list(cut(lines, state))
        if high + 1 == len(chunks):
            return _lines_of(units, lines), high
        follower = chunks[high + 1]
        if units[-1].after == follower.before:
            return _lines_of(units, lines, _as_follower(follower.kind)), high
        for chunk in chunks[high + 1 : high + 1 + more]:
            lines += chunk.lines
            high += 1
        more *= 2  # the meaning of much that follows may have changed


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
