"""Language support of declared checks and test cases: of those beside a loop file, and of no others."""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.features.answers import Completions, Highlight, Hover, Lens, Link, Location, ShownRun
from loop_ls.features.complete.request import Listing
from loop_ls.features.languages.object_file import ObjectFileSupport
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.element import Element
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
        from loop_ls.features.docs.element import element_text
        from loop_ls.features.rename.declared_checks import named_beside

        if workspace.subject(document) is None:
            return None
        if (named := named_beside(workspace, document, at)) is not None:
            workflow, element, span = named
            return Hover(span, element_text(workspace, workflow, element))
        return super().hover(workspace, document, at, settings, runs, all_known)

    def complete(
        self, workspace: Workspace, document: Document, at: Position, settings: Settings, listing: Listing | None
    ) -> Completions:
        if workspace.subject(document) is None:
            return Completions(Span(at, at))
        return super().complete(workspace, document, at, settings, listing)

    def definition(self, workspace: Workspace, document: Document, at: Position) -> tuple[Link, ...]:
        from loop_ls.features.definition import to_element
        from loop_ls.features.rename.declared_checks import named_beside

        found = named_beside(workspace, document, at)
        return () if found is None else (to_element(found[2], found[0], found[1]),)

    def references(
        self, workspace: Workspace, document: Document, at: Position, declaration: bool
    ) -> tuple[Location, ...]:
        """As at the name of the step or loop."""
        from loop_ls.features.references import in_workflow
        from loop_ls.features.rename.declared_checks import named_beside

        found = named_beside(workspace, document, at)
        return () if found is None else in_workflow(workspace, found[0], _name_of(*found[:2]), declaration)

    def highlight(self, workspace: Workspace, document: Document, at: Position) -> tuple[Highlight, ...]:
        from loop_ls.features.rename.declared_checks import named_beside, places_in

        found = named_beside(workspace, document, at)
        return () if found is None else tuple(map(Highlight, sorted(places_in(document, found[1].name or ""))))

    def prepare_rename(self, workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
        from loop_ls.features.rename.declared_checks import named_beside
        from loop_ls.features.rename.rename import prepare_in_workflow

        found = named_beside(workspace, document, at)
        if found is None:
            return None
        workflow, element, span = found
        there = prepare_in_workflow(workspace, workflow, _name_of(workflow, element))
        return Renamable(span, document.text.slice(span)) if isinstance(there, Renamable) else there

    def rename(self, workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
        """As at the name of the step or loop: what names it follows."""
        from loop_ls.features.rename.declared_checks import named_beside
        from loop_ls.features.rename.rename import rename_in_workflow

        found = named_beside(workspace, document, at)
        if found is None:
            return None
        workflow, element, _ = found
        return rename_in_workflow(workspace, workflow, _name_of(workflow, element), new)

    def lenses(self, workspace: Workspace, document: Document, runs: Sequence[ShownRun]) -> tuple[Lens, ...]:
        from loop_ls.features.lenses.declared_cases import case_lenses

        return tuple(case_lenses(workspace, document))


def _name_of(workflow: Document, element: Element) -> Position:
    return workflow.absolute(element.piece, element.label_span).start


SUPPORT = ChecksSupport()
