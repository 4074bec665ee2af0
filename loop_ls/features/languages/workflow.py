"""Language support of workflows. The features stand beside their entry functions, and are imported when asked for:
the first hover of a session pays for hover alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from loop_ls.features.answers import (
    DocumentLink,
    FoundSymbol,
    Highlight,
    Hover,
    Inlay,
    Lens,
    Link,
    Location,
    Placed,
    ShownRun,
)
from loop_ls.features.languages.unrecognized import Unrecognized
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.features.runs.runnable import Runnable
from loop_ls.features.semantic_tokens.token import Token
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Position, Span


class WorkflowSupport(Unrecognized):
    def hover(
        self,
        workspace: Workspace,
        document: Document,
        at: Position,
        settings: Settings,
        runs: Sequence[ShownRun],
        all_known: bool,
    ) -> Hover | None:
        from loop_ls.features.hover.hover import hover_workflow

        return hover_workflow(workspace, document, at, settings, runs, all_known)

    def on_type(self, document: Document, at: Position) -> tuple[TextEdit, ...]:
        from loop_ls.features import on_type

        return on_type.indented(document, at)

    def definition(self, workspace: Workspace, document: Document, at: Position) -> tuple[Link, ...]:
        from loop_ls.features import definition

        return definition.in_workflow(workspace, document, at)

    def references(
        self, workspace: Workspace, document: Document, at: Position, declaration: bool
    ) -> tuple[Location, ...]:
        from loop_ls.features import references

        return references.in_workflow(workspace, document, at, declaration)

    def highlight(self, workspace: Workspace, document: Document, at: Position) -> tuple[Highlight, ...]:
        from loop_ls.features import highlight

        return highlight.in_workflow(workspace, document, at)

    def linked(self, workspace: Workspace, document: Document, at: Position) -> tuple[Span, ...]:
        from loop_ls.features import linked_editing

        return linked_editing.in_workflow(workspace, document, at)

    def prepare_rename(self, workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
        from loop_ls.features.rename import rename

        return rename.prepare_in_workflow(workspace, document, at)

    def rename(self, workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
        from loop_ls.features.rename import rename

        return rename.rename_in_workflow(workspace, document, at, new)

    def symbols(self, document: Document) -> tuple[Placed, ...]:
        from loop_ls.features.symbols.document_symbols import workflow_symbols

        return tuple(workflow_symbols(document))

    def found_symbols(self, document: Document, query: str) -> Iterable[FoundSymbol]:
        from loop_ls.features.symbols.workspace_symbols import found_in_workflow

        return found_in_workflow(document, query)

    def tokens(self, document: Document, span: Span | None) -> tuple[Token, ...]:
        from loop_ls.features.semantic_tokens.tokens import workflow_tokens

        return workflow_tokens(document, span)

    def links(
        self, workspace: Workspace, document: Document, exists: Callable[[str], bool]
    ) -> tuple[DocumentLink, ...]:
        from loop_ls.features import links

        return links.of_workflow(workspace, document, exists)

    def inlays(
        self, workspace: Workspace, document: Document, span: Span, runs: Sequence[ShownRun]
    ) -> tuple[Inlay, ...]:
        from loop_ls.features.inlay_hints.inlay_hints import workflow_inlays

        return workflow_inlays(document, span, runs)

    def lenses(self, workspace: Workspace, document: Document, runs: Sequence[ShownRun]) -> tuple[Lens, ...]:
        from loop_ls.features.lenses.lenses import workflow_lenses

        return workflow_lenses(workspace, document, runs)

    def runnables(self, document: Document) -> Iterable[Runnable]:
        from loop_ls.features.runs.runnables import workflow_runnables

        return workflow_runnables(document)


SUPPORT = WorkflowSupport()
