"""Language support: what the editor features answer for the files of one format, and the registry of it.

The entry function of each feature asks `support_of(document)`. A format overrides what it has; what it does not
have answers nothing. Its module is imported when there is a file of the format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from loop_ls.features.answers import Completions
from loop_ls.features.estimate.answers import Estimate
from loop_ls.formats.registry import (
    ASSISTANT,
    DECLARED_CHECKS,
    LOOKALIKE,
    ROLE_FILE,
    ROLE_LOOP,
    SETTINGS,
    TEST_CASES,
    WORKFLOW,
)
from loop_ls.index.calls import Calls
from loop_ls.text.position import Span

if TYPE_CHECKING:
    from loop_ls.features.answers import (
        About,
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
    from loop_ls.features.complete.request import Listing
    from loop_ls.features.estimate.answers import PriceOf
    from loop_ls.features.rename.answers import Refused, Renamable, Rename
    from loop_ls.features.runs.runnable import Runnable
    from loop_ls.features.semantic_tokens.token import Token
    from loop_ls.formats.file_format import Format
    from loop_ls.formats.settings.model import Settings
    from loop_ls.index.document import Document
    from loop_ls.index.element import Element
    from loop_ls.index.workspace import Workspace
    from loop_ls.rules.engine.finding import Finding, TextEdit
    from loop_ls.text.position import Position


class LanguageSupport:
    """The features of one format. Each method is described by the entry function of its feature."""

    # -- what stands here --------------------------------------------------------------------------

    def hover(
        self,
        workspace: Workspace,
        document: Document,
        at: Position,
        settings: Settings,
        runs: Sequence[ShownRun],
        all_known: bool,
    ) -> Hover | None:
        return None

    def complete(
        self, workspace: Workspace, document: Document, at: Position, settings: Settings, listing: Listing | None
    ) -> Completions:
        return Completions(Span(at, at))

    def describe(self, workspace: Workspace, document: Document, about: About) -> str | None:
        return None

    def on_type(self, document: Document, at: Position) -> tuple[TextEdit, ...]:
        """The indentation of the line of `at`, which a line break has just begun."""
        return ()

    # -- names -------------------------------------------------------------------------------------

    def definition(self, workspace: Workspace, document: Document, at: Position) -> tuple[Link, ...]:
        return ()

    def references(
        self, workspace: Workspace, document: Document, at: Position, declaration: bool
    ) -> tuple[Location, ...]:
        return ()

    def highlight(self, workspace: Workspace, document: Document, at: Position) -> tuple[Highlight, ...]:
        return ()

    def linked(self, workspace: Workspace, document: Document, at: Position) -> tuple[Span, ...]:
        return ()

    def prepare_rename(self, workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
        return None

    def rename(self, workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
        return None

    # -- the file at a glance ----------------------------------------------------------------------

    def symbols(self, document: Document) -> tuple[Placed, ...]:
        return ()

    def found_symbols(self, document: Document, query: str) -> Iterable[FoundSymbol]:
        """Names for the search over the workspace that may become `query`."""
        return ()

    def tokens(self, document: Document, span: Span | None) -> tuple[Token, ...]:
        return ()

    def links(
        self, workspace: Workspace, document: Document, exists: Callable[[str], bool]
    ) -> tuple[DocumentLink, ...]:
        return ()

    def inlays(
        self, workspace: Workspace, document: Document, span: Span, runs: Sequence[ShownRun]
    ) -> tuple[Inlay, ...]:
        return ()

    # -- running it --------------------------------------------------------------------------------

    def lenses(self, workspace: Workspace, document: Document, runs: Sequence[ShownRun]) -> tuple[Lens, ...]:
        return ()

    def runnables(self, document: Document) -> Iterable[Runnable]:
        return ()

    def estimate(
        self,
        workspace: Workspace,
        document: Document,
        element: Element | None,
        price: PriceOf | None,
        assistant: str | None,
    ) -> Estimate:
        return Estimate(Calls(0, 0), None, "Files of this format cannot be run.")

    def run_findings(self, document: Document, run: ShownRun) -> Iterable[Finding]:
        return ()


#: Modules that hold the `SUPPORT` of a format. None: files that are none of our formats yet.
_MODULES: dict[Format | None, str] = {
    format_: f"loop_ls.features.languages.{module}"
    for format_, module in (
        (WORKFLOW, "workflow"),
        (ROLE_LOOP, "role_loop"),
        (ASSISTANT, "assistant"),
        (SETTINGS, "settings"),
        (ROLE_FILE, "role_file"),
        (DECLARED_CHECKS, "checks"),
        (TEST_CASES, "checks"),
        (LOOKALIKE, "unrecognized"),
        (None, "unrecognized"),
    )
}
_SUPPORT: dict[Format | None, LanguageSupport] = {}


def register(format_: Format, support: LanguageSupport) -> None:
    """Give a file format its features."""
    _SUPPORT[format_] = support


def unregister(format_: Format) -> None:
    """Take a format's features away."""
    _SUPPORT.pop(format_, None)


def support_of(document: Document) -> LanguageSupport:
    """The features of a document's format; of one that registered none, nothing."""
    found = _SUPPORT.get(document.format)
    if found is None:
        module = _MODULES.get(document.format)
        found = LanguageSupport() if module is None else import_module(module).SUPPORT
        assert isinstance(found, LanguageSupport)
        _SUPPORT[document.format] = found
    return found
