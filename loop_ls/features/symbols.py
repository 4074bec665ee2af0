"""Document symbols: sections, steps and loops as a tree.

`symbols(document)` keeps one value per piece, so that an edit in a long file costs one new symbol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.values import Placed

if TYPE_CHECKING:
    from loop_ls.index.document import Document


def symbols(document: Document) -> tuple[Placed, ...]:
    """The outline. Nothing for a document that is none of our formats."""
    raise NotImplementedError
