"""Language support of declared checks and test cases: of those beside a loop file, and of no others."""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.features.answers import Completions, Hover, Lens, ShownRun
from loop_ls.features.complete.request import Listing
from loop_ls.features.languages.object_file import ObjectFileSupport
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span


class ChecksSupport(ObjectFileSupport):
    def hover(
        self,
        workspace: Workspace,
        document: Document,
        at: Position,
        settings: Settings,
        runs: Sequence[ShownRun],
        all_known: bool,
    ) -> Hover | None:
        if workspace.subject(document) is None:
            return None
        return super().hover(workspace, document, at, settings, runs, all_known)

    def complete(
        self, workspace: Workspace, document: Document, at: Position, settings: Settings, listing: Listing | None
    ) -> Completions:
        if workspace.subject(document) is None:
            return Completions(Span(at, at))
        return super().complete(workspace, document, at, settings, listing)

    def lenses(self, workspace: Workspace, document: Document, runs: Sequence[ShownRun]) -> tuple[Lens, ...]:
        from loop_ls.features.lenses.declared_cases import case_lenses

        return tuple(case_lenses(workspace, document))


SUPPORT = ChecksSupport()
