"""Language support of assistants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loop_ls.features.answers import (
    FoundSymbol,
    Inlay,
    Lens,
    Placed,
    ShownRun,
)
from loop_ls.features.complete.prefix_filter import may_become
from loop_ls.features.estimate.answers import Estimate, PriceOf
from loop_ls.features.estimate.estimate import estimate_of_assistants
from loop_ls.features.hover.object_files import about_assistant
from loop_ls.features.inlay_hints.assistant import assistant_inlays
from loop_ls.features.languages.object_file import ObjectFileSupport
from loop_ls.features.lenses.object_files import assistant_lenses
from loop_ls.features.lookup.object_node_at import ObjectNodeAt
from loop_ls.features.runs.assistant_findings import assistant_findings
from loop_ls.features.runs.run_findings import RULE
from loop_ls.features.runs.runnable import Runnable
from loop_ls.features.runs.runnables import assistant_runnables
from loop_ls.features.symbols.object_files import assistant_symbols, found_in_assistants
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import Finding
from loop_ls.text.position import Span


class AssistantSupport(ObjectFileSupport):
    def about_value(self, look: ObjectNodeAt, settings: Settings) -> str | None:
        return about_assistant(look, settings)

    def symbols(self, document: Document) -> tuple[Placed, ...]:
        return assistant_symbols(document)

    def found_symbols(self, document: Document, query: str) -> Iterable[FoundSymbol]:
        return (one for one in found_in_assistants(document) if may_become(query, one.name))

    def inlays(
        self, workspace: Workspace, document: Document, span: Span, runs: Sequence[ShownRun]
    ) -> tuple[Inlay, ...]:
        return assistant_inlays(document, span, workspace.settings)

    def lenses(self, workspace: Workspace, document: Document, runs: Sequence[ShownRun]) -> tuple[Lens, ...]:
        return assistant_lenses(document, runs, workspace.settings)

    def runnables(self, document: Document) -> Iterable[Runnable]:
        return assistant_runnables(document)

    def estimate(
        self,
        workspace: Workspace,
        document: Document,
        element: Element | None,
        price: PriceOf | None,
        assistant: str | None,
    ) -> Estimate:
        return estimate_of_assistants(workspace, document, assistant)

    def run_findings(self, document: Document, run: ShownRun) -> Iterable[Finding]:
        return assistant_findings(document, run, RULE)


SUPPORT = AssistantSupport()
