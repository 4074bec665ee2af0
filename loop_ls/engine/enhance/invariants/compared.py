"""A candidate beside its baseline, and what of it breaks an invariant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.invariants.shape import Shape, shape_of
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace


class Violation(NamedTuple):
    """`code` as in rejections; `found` is the value that breaks it, to tell one state from another."""

    code: str
    subject: str
    message: str
    found: str = ""


class Compared(NamedTuple):
    """The candidate `now` beside its baseline."""

    base: Baseline
    workspace: Workspace
    now: Document

    def both(self) -> Iterator[tuple[Element, Shape, Shape]]:
        """Every element that was seen before, as it was and as it is."""
        for element in self.now.elements:
            before = self.base.shape(element.name)
            if before is not None:
                yield element, before, shape_of(self.now, element)

    def fresh(self) -> Iterator[Element]:
        """Every element that round 1 did not have."""
        return (one for one in self.now.elements if self.base.first.element(one.name) is None)


def named(names: Iterable[str]) -> str:
    """For people."""
    return " and ".join(f"`{one}`" for one in sorted(names))
