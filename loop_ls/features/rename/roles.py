"""The name of a project's role: set up in the settings or its own file, written in the stages of role-loop definitions.

Roles that are built in have no place of their own: they can be listed, and not renamed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loop_ls.features.answers import Location
from loop_ls.features.lookup.object_node_at import look_at_whole
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.features.rename.occurrences import bare
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.typed_mapping import Named
from loop_ls.formats.registry import ROLE_FILE, ROLE_LOOP, SETTINGS, claimed
from loop_ls.formats.role_file.read import ROLE_NAME
from loop_ls.formats.role_loop.parts import role_part
from loop_ls.index.disk.uris import stem_of
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.index.role_file import role_name_of
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Position, Span


def role_at(document: Document, at: Position) -> tuple[str, Span] | None:
    """The role that is named at a place: by a stage, or where it is set up."""
    if document.format in (SETTINGS, ROLE_FILE):
        found = ((name, span) for name, span in set_up(document) if span.start <= at <= span.end)
        return next(found, None)
    look = look_at_whole(document, at)
    if look is None or look.on_key or look.item is None or look.shape.name != "role stage":
        return None
    part = role_part(look.item)
    if part is None or part.node is not look.field.node or look.placeholder is not None:
        return None
    name = text_of(part.node)
    return (name, bare(document, look.span)) if name and "{{" not in name else None


def set_up(document: Document) -> Iterator[tuple[str, Span]]:
    """The roles of a settings file, or the role of its own file, with the places of their names."""
    if document.format == ROLE_FILE:
        name = document.whole.parts.get("name")
        text = None if name is None else text_of(name.node)
        if name is not None and name.node is not None and text:
            yield text, bare(document, document.absolute(name.piece, name.node.span))
        return
    part = document.whole.parts.get("roles") if document.format == SETTINGS else None
    for one in part.field.value if part is not None and isinstance(part.field.value, tuple) else ():
        if part is not None and isinstance(one, Named):
            yield one.name, bare(document, document.absolute(part.piece, one.entry.key.span))


def places(workspace: Workspace, role: str) -> Iterator[tuple[Document, Span, bool]]:
    """Every place of a role, and whether it is set up there."""
    for document in workspace.documents.values():
        for name, span in set_up(document):
            if name == role:
                yield document, span, True
        for stage in document.whole.role_loop.stages if document.format == ROLE_LOOP else ():
            part = role_part(stage)
            if part is not None and part.node is not None and text_of(part.node) == role:
                yield document, bare(document, document.absolute(part.piece, part.node.span)), False


def references(workspace: Workspace, document: Document, at: Position, declaration: bool) -> tuple[Location, ...]:
    found = role_at(document, at)
    if found is None:
        return ()
    return tuple(Location(one.uri, span) for one, span, sets in places(workspace, found[0]) if declaration or not sets)


def prepare(workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
    found = role_at(document, at)
    if found is None:
        return None
    reason = _fixed(workspace, found[0])
    return Refused(reason) if reason else Renamable(found[1], found[0])


def rename(workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
    found = role_at(document, at)
    if found is None:
        return None
    role = found[0]
    if new == role:
        return Rename({})
    if reason := _fixed(workspace, role) or _clash(workspace, new):
        return Refused(reason)
    edits: dict[str, list[TextEdit]] = {}
    for one, span, _ in places(workspace, role):
        edits.setdefault(one.uri, []).append(TextEdit(span, new))
    return Rename({uri: tuple(sorted(listed, key=lambda edit: edit.span)) for uri, listed in edits.items()})


def following(workspace: Workspace, paths: Mapping[str, str]) -> Iterator[tuple[Document, TextEdit]]:
    """What has to change where role files that are called like their role get another path (document -> path): the
    stages that name the role, unless it is set up elsewhere, too, or the new name is taken."""
    known = [(one, name) for one in workspace.documents.values() if (name := role_name_of(one)) is not None]
    names = [name for _, name in known]
    for document, old in known:
        new = stem_of(paths[document.uri])
        if new == old or document.whole.parts.get("name") or claimed(paths[document.uri]) != ROLE_FILE:
            continue
        if names.count(old) > 1 or new in names or _clash(workspace, new):
            continue
        found = list(places(workspace, old))
        if not any(sets for _, _, sets in found):
            yield from ((one, TextEdit(span, new)) for one, span, _ in found)


def _fixed(workspace: Workspace, role: str) -> str:
    if any(sets for _, _, sets in places(workspace, role)):
        return ""
    if any(role_name_of(one) == role for one in workspace.documents.values()):
        return f"`{role}` is called by the name of its file; add `name: {role}` to the file first"
    built_in = role in roles_of(workspace.settings)
    return f"`{role}` is built in" if built_in else f"no role `{role}` in the settings of this project"


def _clash(workspace: Workspace, new: str) -> str:
    if not ROLE_NAME.fullmatch(new):
        return f"Invalid role name `{new}`: use letters, digits, `_` and `-`, starting with a letter"
    return f"role `{new}` already exists" if new in roles_of(workspace.settings) else ""
