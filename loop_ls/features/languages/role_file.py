"""Language support of role files."""

from __future__ import annotations

from loop_ls.features.answers import Location
from loop_ls.features.docs.role_loop import role_text
from loop_ls.features.languages.object_file import ObjectFileSupport
from loop_ls.features.lookup.object_node_at import ObjectNodeAt
from loop_ls.features.rename import roles
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position


class RoleFileSupport(ObjectFileSupport):
    def about_value(self, look: ObjectNodeAt, settings: Settings) -> str | None:
        if look.on_key or look.field.key.name != "name":
            return None
        role = roles_of(settings).get(text_of(look.field.node) or "")
        return None if role is None else role_text(role)

    def references(
        self, workspace: Workspace, document: Document, at: Position, declaration: bool
    ) -> tuple[Location, ...]:
        return roles.references(workspace, document, at, declaration)

    def prepare_rename(self, workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
        return roles.prepare(workspace, document, at)

    def rename(self, workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
        return roles.rename(workspace, document, at, new)


SUPPORT = RoleFileSupport()
