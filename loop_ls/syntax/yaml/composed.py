"""What comes of reading lines with libyaml; apart from the reading, which imports PyYAML."""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.syntax.nodes import Alias, Node
from loop_ls.syntax.yaml.anchors import Anchored
from loop_ls.text.fault import Fault

#: Breaks of YAML 1.1 that end no line of ours: places must then be counted from offsets.
ODD_BREAKS = ("\x85", "\u2028", "\u2029")


@dataclass(slots=True)
class Composed:
    """The first document of some lines. `missing` are the aliases without an anchor in these lines, `added` the number
    of nodes that aliases and merge keys add."""

    node: Node | None
    anchors: tuple[Anchored, ...] = ()
    missing: tuple[Alias, ...] = ()
    faults: tuple[Fault, ...] = ()
    added: int = 0
