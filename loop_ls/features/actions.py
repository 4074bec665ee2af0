"""Code actions: the fixes of findings, and one that applies every safe fix of the file.

`actions(document, findings, span)` lists what is on offer for the findings that touch `span`, preferred ones
first; `fix_all(document, findings)` is the one of kind `source.fixAll`. Edits are computed when asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loop_ls.features.values import Action
from loop_ls.rules.finding import Finding
from loop_ls.text.position import Span

if TYPE_CHECKING:
    from loop_ls.index.document import Document


def actions(document: Document, findings: Sequence[Finding], span: Span) -> tuple[Action, ...]:
    raise NotImplementedError


def fix_all(document: Document, findings: Sequence[Finding]) -> Action | None:
    """All safe fixes that do not overlap, as one action; None when there is none."""
    raise NotImplementedError
