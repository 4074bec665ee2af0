"""The tree of a YAML or JSON document: written values with their places.

Values are text as YAML reads it (escapes resolved, blocks folded), never numbers or booleans:
what a scalar means is decided by the format that expects it. Places are
relative to the first line of the piece (see `syntax.tree`) that the node was read in.
"""

from __future__ import annotations

from enum import Enum

from loop_ls.text.position import Span
from loop_ls.text.record import record


class Style(Enum):
    PLAIN = "plain"
    SINGLE = "single"
    DOUBLE = "double"
    LITERAL = "literal"
    FOLDED = "folded"

    @property
    def quoted(self) -> bool:
        return self in (Style.SINGLE, Style.DOUBLE)

    @property
    def block(self) -> bool:
        return self in (Style.LITERAL, Style.FOLDED)


@record
class Scalar:
    """`text` is the value; `span` covers it as written, quotes and block indicator included."""

    span: Span
    text: str
    style: Style = Style.PLAIN
    anchor: str | None = None
    tag: str | None = None


@record
class Entry:
    """One `key: value` of a mapping. `value` is None where nothing is written behind the colon.

    `merged` marks entries that arrive through a merge key (`<<`); they are listed behind the
    mapping's own ones and never override them.
    """

    key: Scalar
    value: Node | None
    merged: bool = False


@record
class Mapping:
    """`entries` in written order, repeated keys included: finding them is up to the caller.

    `merges` are the merge keys (`<<`) as written; `entries` has what they bring, not them.
    """

    span: Span
    entries: tuple[Entry, ...]
    flow: bool = False
    anchor: str | None = None
    tag: str | None = None
    merges: tuple[Entry, ...] = ()

    def get(self, key: str) -> Entry | None:
        """The first entry with this key (WF005: the first counts)."""
        for entry in self.entries:
            if entry.key.text == key:
                return entry
        return None


@record
class Sequence:
    """`items` holds None for an item with nothing behind its dash."""

    span: Span
    items: tuple[Node | None, ...]
    flow: bool = False
    anchor: str | None = None
    tag: str | None = None


@record
class Alias:
    """`*name`. `target` is the anchored node, None where the anchor is unknown."""

    span: Span
    name: str
    target: Node | None


Node = Scalar | Mapping | Sequence | Alias


def resolved(node: Node | None) -> Scalar | Mapping | Sequence | None:
    """The node itself, or what an alias stands for (at most 16 hops: an alias may not loop)."""
    for _ in range(16):
        if not isinstance(node, Alias):
            return node
        node = node.target
    return None
