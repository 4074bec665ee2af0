"""Names in a role-loop definition: where they lead, where they are used, and renaming them.

A parameter is named by its declaration and by every placeholder; `requires_artifact_from` leads to a
stage, the role of a stage to the project's settings where it is set up there.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Highlight, Link, Location
from loop_ls.features.lookup.object_node_at import ObjectNodeAt, look_at_whole
from loop_ls.features.rename.answers import Refused, Renamable, Rename, gathered
from loop_ls.features.rename.declared_checks import variables_beside
from loop_ls.features.rename.occurrences import bare
from loop_ls.formats.common.json_types import text_of, whole
from loop_ls.formats.common.object_parts import Item
from loop_ls.formats.common.typed_mapping import Named
from loop_ls.formats.registry import SETTINGS
from loop_ls.formats.role_loop.parts import Declared, role_part
from loop_ls.formats.role_loop.problems import PARAMETER_NAME
from loop_ls.index.document import Document
from loop_ls.index.placeholders import placeholders
from loop_ls.index.role_file import name_span, precedence, role_name_of
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Position, Span


def definition(workspace: Workspace, document: Document, at: Position) -> tuple[Link, ...]:
    look = look_at_whole(document, at)
    return () if look is None else tuple(_links(workspace, look))


def _links(workspace: Workspace, look: ObjectNodeAt) -> Iterator[Link]:
    loop = look.document.whole.role_loop
    if look.placeholder is not None:
        declared = loop.declared.get(look.placeholder.name)
        if declared is not None:
            yield _to_parameter(look, declared)
        return
    match (look.shape.name, look.field.key.name):
        case ("role stage", "requires_artifact_from") if not look.on_key:
            index, stages = whole(look.field.node), loop.in_run_order
            if index is not None and 0 <= index < len(stages):
                yield _to_stage(look, stages[index])
        case ("role stage", "role" | "name") if not look.on_key and look.item is not None:
            part = role_part(look.item)
            if part is not None and part.node is look.field.node:
                yield from _to_settings(workspace, look, loop.role_of(look.item) or "")
        case ("parameter", "name") if not look.on_key:
            declared = loop.declared.get(text_of(look.field.node) or "")
            if declared is not None:
                yield _to_parameter(look, declared)
        case _:
            return


def _to_parameter(look: ObjectNodeAt, declared: Declared) -> Link:
    document = look.document
    span = _declaration(document, declared)
    block = declared.item.block
    target = span if block is None else document.absolute(declared.item.piece, block.node.span)
    return Link(bare(document, look.span), document.uri, target, span)


def _declaration(document: Document, declared: Declared) -> Span:
    """The name of a parameter where it is declared, without quotes."""
    part = declared.item.get("name")
    assert part is not None and part.node is not None
    return bare(document, document.absolute(part.piece, part.node.span))


def _to_stage(look: ObjectNodeAt, stage: Item) -> Link:
    document = look.document
    part = stage.get("name") or role_part(stage)
    node = None if part is None else part.node
    assert stage.block is not None
    target = document.absolute(stage.piece, stage.block.node.span)
    name = target if node is None else document.absolute(stage.piece, node.span)
    return Link(look.span, document.uri, target, bare(document, name))


def _to_settings(workspace: Workspace, look: ObjectNodeAt, role: str) -> Iterator[Link]:
    """Where the role is set up: in the settings, or in a file of its own."""
    for document in workspace.documents.values():
        part = document.whole.parts.get("roles") if document.format == SETTINGS else None
        listed = part.field.value if part is not None and isinstance(part.field.value, tuple) else ()
        for one in listed:
            if part is not None and isinstance(one, Named) and one.name == role:
                name = document.absolute(part.piece, one.entry.key.span)
                yield Link(bare(look.document, look.span), document.uri, name, name)
    files = (one for one in workspace.documents.values() if role_name_of(one) == role)
    for document in sorted(files, key=precedence):
        yield Link(bare(look.document, look.span), document.uri, name_span(document), name_span(document))


# -- a parameter in all its places ----------------------------------------------------------------


def _parameter_at(document: Document, at: Position) -> tuple[str, Span] | None:
    """The parameter that is named at a place, declared or not, and where its name stands there."""
    look = look_at_whole(document, at)
    if look is None:
        return None
    if look.placeholder is not None:
        return look.placeholder.name, look.span
    if (look.shape.name, look.field.key.name) == ("parameter", "name") and not look.on_key:
        name = text_of(look.field.node)
        return (name, bare(document, look.span)) if name else None
    return None


def _places(document: Document, name: str) -> Iterator[tuple[Span, bool]]:
    """Every place of a parameter, and whether it is a declaration."""
    for item in document.whole.parts.listed("parameters"):
        part = item.get("name")
        if part is not None and part.node is not None and text_of(part.node) == name:
            yield bare(document, document.absolute(part.piece, part.node.span)), True
    for one in placeholders(document):
        if one.name == name:
            yield document.absolute(one.piece, one.name_span), False


def references(document: Document, at: Position, declaration: bool = True) -> tuple[Location, ...]:
    found = _parameter_at(document, at)
    if found is None:
        return ()
    return tuple(
        Location(document.uri, span) for span, declares in _places(document, found[0]) if declaration or not declares
    )


def highlight(document: Document, at: Position) -> tuple[Highlight, ...]:
    found = _parameter_at(document, at)
    return () if found is None else tuple(Highlight(*place) for place in _places(document, found[0]))


def linked(document: Document, at: Position) -> tuple[Span, ...]:
    """The places of a parameter that is declared once, to be typed over together."""
    found = _parameter_at(document, at)
    if found is None:
        return ()
    places = list(_places(document, found[0]))
    once = sum(declares for _, declares in places) == 1
    return tuple(sorted(span for span, _ in places)) if once and len(places) > 1 else ()


def prepare(document: Document, at: Position) -> Renamable | Refused | None:
    found = _parameter_at(document, at)
    if found is None:
        return None
    name, span = found
    if name not in document.whole.role_loop.declared:
        return Refused(f"unknown parameter `{name}`")
    return Renamable(span, name)


def rename(workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
    found = _parameter_at(document, at)
    if found is None:
        return None
    name = found[0]
    declared = document.whole.role_loop.declared
    if new == name:
        return Rename({})
    if name not in declared:
        return Refused(f"unknown parameter `{name}`")
    if not PARAMETER_NAME.fullmatch(new):
        return Refused(f"Invalid parameter name `{new}`; use lowercase letters, digits and `_`, starting with a letter")
    if new in declared:
        return Refused(f"parameter `{new}` already exists")
    if any(one.name == new and not one.idle for one in placeholders(document)):
        return Refused(f"`{{{{{new}}}}}` is already in the text and would be filled in after the rename")
    own = [(document.uri, TextEdit(span, new)) for span, _ in _places(document, name)]
    return Rename(gathered([*own, *variables_beside(workspace, document, name, new)]))
