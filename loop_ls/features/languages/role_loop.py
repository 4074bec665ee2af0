"""Language support of role loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loop_ls.features.answers import (
    Completions,
    FoundSymbol,
    Highlight,
    Lens,
    Link,
    Location,
    Placed,
    ShownRun,
)
from loop_ls.features.complete.object_files.role_loop import complete
from loop_ls.features.complete.prefix_filter import may_become
from loop_ls.features.complete.request import Listing
from loop_ls.features.estimate.answers import Estimate, PriceOf
from loop_ls.features.estimate.estimate import estimate_of_role_loop, price_of
from loop_ls.features.hover.object_files import about_role_loop
from loop_ls.features.languages.object_file import ObjectFileSupport
from loop_ls.features.lenses.object_files import role_loop_lenses
from loop_ls.features.lookup.object_node_at import ObjectNodeAt
from loop_ls.features.rename import role_loop, roles
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.features.runs.role_loop_findings import role_loop_findings
from loop_ls.features.runs.run_findings import RULE
from loop_ls.features.runs.runnable import Runnable
from loop_ls.features.runs.runnables import role_loop_runnables
from loop_ls.features.semantic_tokens.role_loop import role_loop_tokens
from loop_ls.features.semantic_tokens.token import Token
from loop_ls.features.symbols.object_files import found_in_role_loop, role_loop_symbols
from loop_ls.formats.common.key_table import Shape
from loop_ls.formats.role_loop.keys import ROLE_LOOP_SHAPES
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import Finding
from loop_ls.text.position import Position, Span


class RoleLoopSupport(ObjectFileSupport):
    def about_value(self, look: ObjectNodeAt, settings: Settings) -> str | None:
        return about_role_loop(look, settings)

    def complete(
        self, workspace: Workspace, document: Document, at: Position, settings: Settings, listing: Listing | None
    ) -> Completions:
        return complete(document, at, settings)

    def shapes(self, document: Document) -> Mapping[str, Shape]:
        return ROLE_LOOP_SHAPES

    def definition(self, workspace: Workspace, document: Document, at: Position) -> tuple[Link, ...]:
        return role_loop.definition(workspace, document, at)

    def references(
        self, workspace: Workspace, document: Document, at: Position, declaration: bool
    ) -> tuple[Location, ...]:
        found = role_loop.references(document, at, declaration)
        return found or roles.references(workspace, document, at, declaration)

    def highlight(self, workspace: Workspace, document: Document, at: Position) -> tuple[Highlight, ...]:
        return role_loop.highlight(document, at)

    def linked(self, workspace: Workspace, document: Document, at: Position) -> tuple[Span, ...]:
        return role_loop.linked(document, at)

    def prepare_rename(self, workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
        parameter = role_loop.prepare(document, at)
        return parameter if parameter is not None else roles.prepare(workspace, document, at)

    def rename(self, workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
        parameter = role_loop.rename(workspace, document, at, new)
        return parameter if parameter is not None else roles.rename(workspace, document, at, new)

    def symbols(self, document: Document) -> tuple[Placed, ...]:
        return role_loop_symbols(document)

    def found_symbols(self, document: Document, query: str) -> Iterable[FoundSymbol]:
        return (one for one in found_in_role_loop(document) if may_become(query, one.name))

    def tokens(self, document: Document, span: Span | None) -> tuple[Token, ...]:
        return role_loop_tokens(document, span)

    def lenses(self, workspace: Workspace, document: Document, runs: Sequence[ShownRun]) -> tuple[Lens, ...]:
        return role_loop_lenses(document, runs, workspace.settings)

    def runnables(self, document: Document) -> Iterable[Runnable]:
        return role_loop_runnables(document)

    def estimate(
        self,
        workspace: Workspace,
        document: Document,
        element: Element | None,
        price: PriceOf | None,
        assistant: str | None,
    ) -> Estimate:
        return estimate_of_role_loop(workspace, document, price or price_of(workspace, document))

    def run_findings(self, document: Document, run: ShownRun) -> Iterable[Finding]:
        return role_loop_findings(document, run, RULE)


SUPPORT = RoleLoopSupport()
