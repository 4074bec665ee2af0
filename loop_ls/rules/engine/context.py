"""What a local rule looks at: one block of one piece, and how to mark places in it.

Drafts are findings whose places still count from the first line of their piece; `rules.engine.checker`
turns them into findings when it knows where the piece stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.index.element import Element
from loop_ls.rules.engine.finding import Fix, Severity
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence
from loop_ls.text.position import Position, Span


class Spot(NamedTuple):
    """A place in a piece; without a piece it counts from line 0. `uri` None: the same document."""

    piece: Piece | None
    span: Span
    uri: str | None = None


#: "Line 1": the whole first line is marked.
LINE_1 = Spot(None, Span(Position(0, 0), Position(0, 0)))


#: Gives the number of the line that a spot stands in, for sentences that name it.
LineOf = Callable[[Spot], int]


class Draft(NamedTuple):
    """A finding before its piece has a place. A message that names lines is a function of `LineOf`.

    Of findings with the same `once` a file gets the first only.
    """

    spot: Spot
    message: str | Callable[[LineOf], str]
    severity: Severity | None = None
    related: tuple[tuple[Spot, str], ...] = ()
    fixes: tuple[Fix, ...] = ()
    tags: frozenset[str] = frozenset()
    once: str = ""


def draft(
    piece: Piece | None,
    span: Span,
    message: str | Callable[[LineOf], str],
    severity: Severity | None = None,
    *,
    related: tuple[tuple[Spot, str], ...] = (),
    fixes: tuple[Fix, ...] = (),
    tags: frozenset[str] = frozenset(),
) -> Draft:
    return Draft(Spot(piece, span), message, severity, related, fixes, tags)


UNNECESSARY = frozenset({"unnecessary"})


class Site(NamedTuple):
    """One block, the piece and element that it lies in, and the entry that leads to it.

    `outer` is the block around it; both are None for the block of the element itself.
    """

    piece: Piece
    block: Block
    element: Element | None = None
    outer: Block | None = None
    entry: Entry | None = None

    @property
    def label(self) -> Span:
        """What to mark when the block itself is meant: the name of a step or loop, else the key
        that leads here."""
        if self.entry is not None:
            return self.entry.key.span
        return self.element.label_span if self.element is not None else entry_span(self.block)

    def at(self, span: Span) -> Spot:
        return Spot(self.piece, span)

    def found(
        self,
        span: Span,
        message: str | Callable[[LineOf], str],
        severity: Severity | None = None,
        *,
        related: tuple[tuple[Spot, str], ...] = (),
        fixes: tuple[Fix, ...] = (),
        tags: frozenset[str] = frozenset(),
    ) -> Draft:
        return Draft(Spot(self.piece, span), message, severity, related, fixes, tags)

    def own_fields(self) -> Iterator[Field]:
        """The fields written here; merged ones are reported where they are written."""
        return (field for field in self.block.fields.values() if not field.entry.merged)

    def own(self, name: str) -> Field | None:
        """A field written here, without fault: what a rule about its value may judge."""
        field = self.block.fields.get(name)
        return None if field is None or field.entry.merged or field.faults else field


def value_span(field: Field) -> Span:
    """The value as marked: where it starts, and as much of it as fits on that line."""
    node = field.entry.value
    return field.entry.key.span if node is None else node_span(node)


def node_span(node: Node) -> Span:
    """A value that takes several lines is marked by its first sign only, so that a squiggle does not
    cover half the file."""
    start, end = node.span
    if start.line == end.line:
        return node.span
    match node:
        case Scalar() if node.style.block:
            return Span(start, Position(start.line, start.column + 1))
        case Mapping() if not node.flow and node.entries:
            return node.entries[0].key.span if not node.entries[0].merged else node.merges[0].key.span
        case Sequence() if not node.flow:
            return Span(start, Position(start.line, start.column + 1))
        case Scalar() | Mapping() | Sequence() | Alias():
            return node.span


def entry_span(block: Block) -> Span:
    """The item of a sequence: its first key in block style, else its first line."""
    return node_span(block.node)


def sites(element: Element) -> Iterator[Site]:
    """The element's block and those inside it, as far as they are written there (what an alias
    or a merge brings in is reported where it is written)."""
    yield from _walk(Site(element.piece, element.block, element))


def block_sites(piece: Piece, block: Block) -> Iterator[Site]:
    """The same for a block of the head, such as `execution`."""
    yield from _walk(Site(piece, block))


def _walk(site: Site) -> Iterator[Site]:
    yield site
    whole = site.block.node.span
    for field in site.block.fields.values():
        value = field.value
        if field.entry.merged or not isinstance(value, Block | tuple):
            continue
        for inner in (value,) if isinstance(value, Block) else value:
            if isinstance(inner, Block) and whole.covers(inner.node.span):
                yield from _walk(Site(site.piece, inner, site.element, site.block, field.entry))
