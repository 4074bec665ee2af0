"""Language support of role files."""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.features.answers import Completions, FoundSymbol, Location, Placed, Symbol, SymbolKind
from loop_ls.features.complete.prefix_filter import may_become
from loop_ls.features.complete.request import Listing
from loop_ls.features.docs.role_loop import role_text
from loop_ls.features.languages.object_file import ObjectFileSupport
from loop_ls.features.lookup.object_node_at import ObjectNodeAt
from loop_ls.features.rename import roles
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.index.role_file import in_body, name_span, role_name_of
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span


class RoleFileSupport(ObjectFileSupport):
    def about_value(self, look: ObjectNodeAt, settings: Settings) -> str | None:
        if look.on_key or look.field.key.name != "name":
            return None
        role = roles_of(settings).get(text_of(look.field.node) or "")
        return None if role is None else role_text(role)

    def complete(
        self, workspace: Workspace, document: Document, at: Position, settings: Settings, listing: Listing | None
    ) -> Completions:
        if in_body(document, at):
            return Completions(Span(at, at))
        return super().complete(workspace, document, at, settings, listing)

    def symbols(self, document: Document) -> tuple[Placed, ...]:
        lines = document.text.lines
        whole = Span(Position(0, 0), Position(len(lines) - 1, len(lines[-1])))
        name = role_name_of(document) or "?"
        return (Placed(0, Symbol(name, SymbolKind.WORKFLOW, whole, name_span(document))),)

    def found_symbols(self, document: Document, query: str) -> Iterable[FoundSymbol]:
        name = role_name_of(document)
        if name and may_become(query, name):
            yield FoundSymbol(name, SymbolKind.WORKFLOW, document.uri, name_span(document))

    def references(
        self, workspace: Workspace, document: Document, at: Position, declaration: bool
    ) -> tuple[Location, ...]:
        return roles.references(workspace, document, at, declaration)

    def prepare_rename(self, workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
        return roles.prepare(workspace, document, at)

    def rename(self, workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
        return roles.rename(workspace, document, at, new)


SUPPORT = RoleFileSupport()
