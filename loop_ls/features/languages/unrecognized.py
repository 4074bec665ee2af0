"""Language support of a file that is none of our formats yet: it may become a workflow, and is completed like one."""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.features.answers import About, Completions, ShownRun
from loop_ls.features.complete.request import Listing
from loop_ls.features.estimate.answers import Estimate, PriceOf
from loop_ls.features.language_support import LanguageSupport
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import Finding
from loop_ls.text.position import Position


class Unrecognized(LanguageSupport):
    def complete(
        self, workspace: Workspace, document: Document, at: Position, settings: Settings, listing: Listing | None
    ) -> Completions:
        from loop_ls.features.complete.completion import complete_workflow

        return complete_workflow(workspace, document, at, settings, listing)

    def describe(self, workspace: Workspace, document: Document, about: About) -> str | None:
        from loop_ls.features.complete.describe import describe_workflow

        return describe_workflow(workspace, document, about)

    def estimate(
        self,
        workspace: Workspace,
        document: Document,
        element: Element | None,
        price: PriceOf | None,
        assistant: str | None,
    ) -> Estimate:
        from loop_ls.features.estimate.estimate import estimate_of_workflow

        return estimate_of_workflow(workspace, document, element, price)

    def run_findings(self, document: Document, run: ShownRun) -> Iterable[Finding]:
        from loop_ls.features.runs.run_findings import workflow_findings

        return workflow_findings(document, run)


SUPPORT = Unrecognized()
