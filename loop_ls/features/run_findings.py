"""What a run said, as findings on the file (source `loop-run`, rule `loop-run`).

`run_findings(document, run)`: one finding on each loop's name with the result so far, and one related entry
per verdict on the `until` line; after a limit or a suspiciously quick end, the advice of the guide. The
server clears them on the next run or on an edit of the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.values import RunView
from loop_ls.rules.finding import Finding

if TYPE_CHECKING:
    from loop_ls.index.document import Document


def run_findings(document: Document, run: RunView) -> tuple[Finding, ...]:
    raise NotImplementedError
