"""Which loops the `loop.*` variables of a use may belong to, and whether one of that name exists there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from loop_ls.index.element import Element, Use
from loop_ls.index.loop_variables import LoopVariable, Where, variables_of
from loop_ls.rules.engine.tracked_view import View

Mode = Literal["refine", "iterate"]
Places = Sequence[tuple[Mode, Where]]


def places_of(element: Element, use: Use, view: View) -> list[tuple[Mode, Where]]:
    """The loops whose variables a use may mean, each with its role there.

    `items` is read before its own loop has begun, so it sees what a step in the same place would see.
    """
    if in_iteration(use):
        inside: Where = "until" if use.slot.kind == "until" else "with"
        return [] if element.loop_mode is None else [(element.loop_mode, inside)]
    found: list[tuple[Mode, Where]] = [
        (loop.loop_mode, "after") for loop in view.loops_before(element) if loop.loop_mode is not None
    ]
    found += [(call.loop_mode, "callee") for call in view.callers().loops if call.loop_mode is not None]
    return found


def in_iteration(use: Use) -> bool:
    """Whether a use is read anew in each iteration of the loop that it is written in."""
    return use.slot.of_loop and use.slot.kind != "items"


def variables_at(places: Places) -> dict[str, LoopVariable]:
    """Every loop variable of these places by name."""
    return {variable.name: variable for mode, where in places for variable in variables_of(mode, where)}


def exists(name: str, places: Places) -> bool:
    return name in variables_at(places)
