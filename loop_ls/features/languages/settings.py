"""Language support of a project's settings."""

from __future__ import annotations

from loop_ls.features.answers import Location, Placed
from loop_ls.features.hover.object_files import about_setting
from loop_ls.features.languages.object_file import ObjectFileSupport
from loop_ls.features.lookup.object_node_at import ObjectNodeAt
from loop_ls.features.rename import roles
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.features.symbols.object_files import settings_symbols
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position


class SettingsSupport(ObjectFileSupport):
    def about_value(self, look: ObjectNodeAt, settings: Settings) -> str | None:
        return about_setting(look, settings)

    def references(
        self, workspace: Workspace, document: Document, at: Position, declaration: bool
    ) -> tuple[Location, ...]:
        return roles.references(workspace, document, at, declaration)

    def prepare_rename(self, workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
        return roles.prepare(workspace, document, at)

    def rename(self, workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
        return roles.rename(workspace, document, at, new)

    def symbols(self, document: Document) -> tuple[Placed, ...]:
        return settings_symbols(document)


SUPPORT = SettingsSupport()
