"""Definition: from a use to what it names.

Placeholder -> step, loop, `env` key, `accumulate` line or the `with` keys of the callers; reference ->
the callee's `name`; `needs` entry -> `name`; alias -> anchor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.values import Link
from loop_ls.text.position import Position

if TYPE_CHECKING:
    from loop_ls.index.document import Document
    from loop_ls.index.workspace import Workspace


def definition(workspace: Workspace, document: Document, at: Position) -> tuple[Link, ...]:
    raise NotImplementedError
