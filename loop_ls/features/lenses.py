"""Code lenses: Run above a workflow and its loops, progress and Stop while one runs, its result after.

`lenses(workspace, document, runs)` reads the runs as plain values (latest last); it starts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loop_ls.features.values import Lens, RunView

if TYPE_CHECKING:
    from loop_ls.index.document import Document
    from loop_ls.index.workspace import Workspace


def lenses(workspace: Workspace, document: Document, runs: Sequence[RunView] = ()) -> tuple[Lens, ...]:
    raise NotImplementedError
