"""Pieces: what a document consists of for its readers, each with places of its own.

A piece keeps its identity until its own text changes; whoever computes something from a piece
may keep the result as long as the piece lives, wherever it moves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field, replace
from itertools import accumulate
from typing import Any, NamedTuple

from loop_ls.syntax.incremental.split import SECTIONS, Follower, Kind, State
from loop_ls.syntax.nodes import Alias, Mapping, Node, Scalar, Sequence
from loop_ls.syntax.yaml.anchors import Anchored
from loop_ls.text.fault import Fault
from loop_ls.text.record import equal_record, record


@record
class Piece:
    """One top-level entry, or one item of a section of items.

    - `entry`: a top-level `key: value`; `node` is the value.
    - `head`: the key line of a section of items; `node` is a value that is no block sequence
      (`steps: []`), None where items follow or nothing is written.
    - `item`: one item of a section; `node` is the item.
    - `root`: the root of a document without entries: no mapping, or an empty one.
    - `lead`, `tail`: what stands before the first entry and behind the first document.

    `lines` are the written lines that places count from. `tolerant`: libyaml refuses these lines.
    """

    section: str | None
    kind: Kind
    key: Scalar | None
    node: Node | None
    lines: tuple[str, ...] = field(repr=False)
    faults: tuple[Fault, ...] = ()
    tolerant: bool = False
    order: int = 0


class Bound(NamedTuple):
    """An anchor that an alias of a chunk means: it was read in a chunk that begins `lines` further down, which are
    less than none."""

    anchored: Anchored
    lines: int


@record
class Chunk:
    """Lines that are read together, and the pieces they hold (at least one).

    `follower`: what comes behind, as far as it matters for the reading. `refused`: libyaml does
    not take it. `ended`: refused, but what follows may complete it. `doubt`: reads well, but the
    cut may be wrong. `missing` are the aliases whose anchor is elsewhere, `bound` the anchors that those
    mean. `added`: nodes that come from aliases and merge keys.
    """

    lines: tuple[str, ...]
    kind: Kind
    before: State
    after: State
    follower: Follower
    pieces: tuple[Piece, ...]
    order: int
    refused: bool = False
    ended: bool = False
    doubt: bool = False
    anchors: tuple[Anchored, ...] = ()
    missing: tuple[Alias, ...] = ()
    bound: tuple[Bound, ...] = ()
    added: int = 0

    @property
    def flagged(self) -> bool:
        """Whether the document must look at this chunk before it trusts the cut."""
        return self.refused or self.doubt or bool(self.anchors) or bool(self.missing)

    def flag(self, **flags: Any) -> Chunk:
        return replace(self, **flags)


@equal_record
class Source:
    """What all pieces of a chunk have in common."""

    lines: tuple[str, ...]
    section: str | None = None
    faults: tuple[Fault, ...] = ()
    tolerant: bool = False
    order: int = 0

    def piece(self, kind: Kind, section: str | None, key: Scalar | None, node: Node | None) -> Piece:
        return Piece(section, kind, key, node, self.lines, (), self.tolerant, self.order)


def pieces(root: Node | None, source: Source, kind: Kind) -> tuple[Piece, ...]:
    """The pieces of a read chunk; its faults go to the piece that they stand in."""
    match root:
        case Mapping():
            found = list(_of_mapping(root, source))
        case Sequence() if kind == "item":
            found = [source.piece("item", source.section, None, item) for item in root.items]
        case _:
            found = []
    if not found:
        found = [_single(root, source, kind)]
    return _with_faults(found, source.faults)


def _of_mapping(root: Mapping, source: Source) -> Iterator[Piece]:
    for entry in root.entries:
        name = entry.key.text
        if name not in SECTIONS:
            yield source.piece("entry", name, entry.key, entry.value)
            continue
        match entry.value:
            case Sequence(flow=False) as items:
                yield source.piece("head", name, entry.key, None)
                for item in items.items:
                    yield source.piece("item", name, None, item)
            case value:
                yield source.piece("head", name, entry.key, value)


def _single(root: Node | None, source: Source, kind: Kind) -> Piece:
    """The piece of a chunk without entries or items."""
    if kind in ("item", "head"):
        return source.piece(kind, source.section, None, root)
    if root is None:
        return source.piece(kind if kind == "tail" else "lead", None, None, None)
    return source.piece("root", None, None, root)


def _with_faults(found: list[Piece], faults: tuple[Fault, ...]) -> tuple[Piece, ...]:
    """Each fault at the last piece that begins in front of it, so that each is reported once."""
    if not faults:
        return tuple(found)
    homes: list[list[Fault]] = [[] for _ in found]
    # The first place of each piece and all behind it rises, also where places of pieces do not.
    starts = [*accumulate(map(_start, reversed(found)), min)][::-1]
    for fault in faults:
        homes[max(0, bisect_right(starts, fault.span.start) - 1)].append(fault)
    return tuple(
        Piece(p.section, p.kind, p.key, p.node, p.lines, tuple(home), p.tolerant, p.order) if home else p
        for p, home in zip(found, homes, strict=True)
    )


def _start(piece: Piece) -> tuple[int, int]:
    if piece.key is not None:
        return piece.key.span.start
    if piece.node is None or isinstance(piece.node, Alias):
        return (0, 0)
    return piece.node.span.start
