"""Language support that every format has whose files are one object: what the key table of the format tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loop_ls.features.answers import About, Completions, Hover, ShownRun
from loop_ls.features.complete.object_files.completion import complete_object
from loop_ls.features.complete.object_files.describe import describe_object, shapes_below
from loop_ls.features.complete.request import Listing
from loop_ls.features.hover.object_files import hover_object
from loop_ls.features.language_support import LanguageSupport
from loop_ls.features.lookup.object_node_at import ObjectNodeAt
from loop_ls.formats.common.key_table import Shape
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.object_file import shape_of
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span


class ObjectFileSupport(LanguageSupport):
    def hover(
        self,
        workspace: Workspace,
        document: Document,
        at: Position,
        settings: Settings,
        runs: Sequence[ShownRun],
        all_known: bool,
    ) -> Hover | None:
        return hover_object(document, at, lambda look: self.about_value(look, settings))

    def about_value(self, look: ObjectNodeAt, settings: Settings) -> str | None:
        """What is known of a place besides the meaning of its key (Markdown)."""
        return None

    def complete(
        self, workspace: Workspace, document: Document, at: Position, settings: Settings, listing: Listing | None
    ) -> Completions:
        root = shape_of(document.format)
        if root is None:
            return Completions(Span(at, at))
        return complete_object(workspace, document, at, settings, root, listing)

    def describe(self, workspace: Workspace, document: Document, about: About) -> str | None:
        return describe_object(workspace, document, about, self.shapes(document))

    def shapes(self, document: Document) -> Mapping[str, Shape]:
        """The key tables of the format by the name of their shape."""
        return shapes_below(shape_of(document.format))
