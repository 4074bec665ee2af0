"""Steps that the settings name as verifiers of a workflow: `enhance.workflows.NAME.verifiers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loop_ls.formats.common.object_parts import Parts
from loop_ls.formats.common.typed_mapping import Block, Named
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Node, Sequence


class NamedVerifier(NamedTuple):
    """`workflow` is the key of the workflow whose step it is."""

    workflow: str
    piece: Piece
    node: Node


def named_verifiers(settings: Parts) -> Iterator[NamedVerifier]:
    part = settings.get("enhance")
    block = None if part is None else part.field.value
    workflows = block.get("workflows") if isinstance(block, Block) else None
    if part is None or workflows is None or not isinstance(workflows.value, tuple):
        return
    for one in [each for each in workflows.value if isinstance(each, Named)]:
        field = None if one.block is None else one.block.get("verifiers")
        items = field.node.items if field is not None and isinstance(field.node, Sequence) else ()
        yield from (NamedVerifier(one.name, part.piece, item) for item in items if item is not None)
