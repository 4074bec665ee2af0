"""What is written in an element itself, as opposed to what an alias or a merge brings in.

A fault inside an anchored or merged mapping is reported once, where it is written. A value of the
wrong type is left to WF007 and WF008.
"""

from __future__ import annotations

from functools import lru_cache

from loop_ls.index.element import Element, Need, Slot, StrayBraces, Use
from loop_ls.rules.engine.finding import Severity
from loop_ls.syntax.nodes import Alias
from loop_ls.text.position import Span


def own_slots(element: Element) -> tuple[Slot, ...]:
    return _own(element)[0]


def own_uses(element: Element) -> tuple[Use, ...]:
    return _own(element)[1]


def own_strays(element: Element) -> tuple[StrayBraces, ...]:
    return tuple(stray for stray in element.strays if element.block.node.span.covers(stray.scalar.span))


def own_needs(element: Element) -> tuple[Need, ...]:
    """The entries of a `needs` that is written here."""
    field = element.block.get("needs")
    if field is None or field.entry.merged or isinstance(field.node, Alias):
        return ()
    return element.needs


@lru_cache(maxsize=512)
def _own(element: Element) -> tuple[tuple[Slot, ...], tuple[Use, ...]]:
    slots: dict[int, Slot] = {}
    whole = element.block.node.span
    for slot in element.slots:
        field, scalar = slot.block.fields[slot.key.name], slot.scalar
        if not field.faults and whole.covers(scalar.span):
            slots.setdefault(id(scalar), slot)
    own = tuple(slots.values())
    if own == element.slots:
        return own, element.uses
    kept = set(map(id, own))
    return own, tuple(use for use in element.uses if id(use.slot) in kept)


def placeholder(use: Use) -> Span:
    """The braces around a use: also where it is the operand of `${{ x == "v" }}`."""
    for island in use.slot.islands:
        if island.span.covers(use.span):
            return island.span
    return use.span


def unknown_severity(use: Use) -> Severity | None:
    """How bad a variable is that nothing can supply: an error where it fails the run or where a condition can never
    hold, as the table of keys says (`formats.common.key_table`)."""
    return None if use.slot.key.unknown == "stays" else Severity.ERROR
