"""Rename with prepare: a step, loop, collected output, constant, workflow or parameter in all its homes.

A new name that would mean something else somewhere is refused with the reason; prose in prompts that
happens to hold the word is never changed, only offered (`Rename.prose`).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from loop_ls.features.anchors import anchor_at
from loop_ls.features.answers import Edits
from loop_ls.features.language_support import support_of
from loop_ls.features.rename import anchors
from loop_ls.features.rename.answers import Refused, Renamable, Rename, gathered
from loop_ls.features.rename.declared_checks import places_beside, variables_beside
from loop_ls.features.rename.occurrences import Kind, Named, Occurrence, Role, named_at, occurrences
from loop_ls.formats.workflow.placeholder_syntax import RESERVED, is_name
from loop_ls.index.document import Document
from loop_ls.index.resolve import key_of, resolve
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Position, Span


def prepare(workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
    """None where nothing is named."""
    if (anchor := anchor_at(document, at)) is not None:
        return anchors.prepare(anchor, at)
    return support_of(document).prepare_rename(workspace, document, at)


def rename(workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
    """None where nothing is named."""
    if (anchor := anchor_at(document, at)) is not None:
        return anchors.rename(document, anchor, new)
    return support_of(document).rename(workspace, document, at, new)


def prepare_in_workflow(workspace: Workspace, document: Document, at: Position) -> Renamable | Refused | None:
    found = named_at(workspace, document, at)
    if found is None:
        return None
    named, span = found
    reason = _fixed(named)
    return Refused(reason) if reason else Renamable(span, document.text.slice(span))


def rename_in_workflow(workspace: Workspace, document: Document, at: Position, new: str) -> Rename | Refused | None:
    found = named_at(workspace, document, at)
    if found is None:
        return None
    named = found[0]
    if new == named.name:
        return Rename({})
    reason = _fixed(named) or _not_a_name(named, new) or _clash(workspace, named, new)
    if reason:
        return Refused(reason)
    places = list(occurrences(workspace, named))
    if named.kind is Kind.WORKFLOW:
        return Rename(gathered(_workflow_edits(workspace, named, new, places)))
    own = [(one.document.uri, TextEdit(one.span, new)) for one in places]
    if named.kind is Kind.ELEMENT:
        beside = places_beside(workspace, named.document, named.name)
        own += [(uri, TextEdit(span, new)) for uri, span in beside]
    if named.kind is Kind.PARAMETER:
        own += variables_beside(workspace, named.document, named.name, new)
    edits = gathered(own)
    return Rename(edits, _prose(named, new) if named.kind in (Kind.ELEMENT, Kind.COLLECTED) else {})


# -- what may be renamed, and to what --------------------------------------------------------------


def _fixed(named: Named) -> str:
    if named.kind is Kind.LOOP_VARIABLE:
        return f"`{named.name}` is a built-in variable"
    if named.name in RESERVED:
        return f"`{named.name}` is a reserved name"
    return ""


def _not_a_name(named: Named, new: str) -> str:
    if not is_name(new) or "." in new:
        return f"Invalid name `{new}`: use a letter, then letters, digits, `_` or `-`"
    if new in RESERVED and named.kind is not Kind.CONSTANT:
        return f"`{new}` is a reserved name"
    return ""


def _clash(workspace: Workspace, named: Named, new: str) -> str:
    document = named.document
    match named.kind:
        case Kind.ELEMENT | Kind.COLLECTED:
            return _taken(document, new) or _captured(document, new)
        case Kind.CONSTANT:
            return f"Constant `{new}` already exists in this file" if new in document.env else ""
        case Kind.PARAMETER:
            return _taken(document, new) or _captured(document, new) or _given(workspace, named, new)
        case _:
            return _key_clash(workspace, document, new)


def _key_clash(workspace: Workspace, document: Document, new: str) -> str:
    """Another workflow has the key, or one beside a caller would take the name over."""
    key = key_of(workspace.folder(document), new)
    if key in workspace.keys:
        return f"Workflow `{key}` already exists"
    keys = {*workspace.keys, key} - {workspace.key(document)}
    for call in workspace.callers(document):
        if _reference(workspace.folder(call.document), key, call.reference.text, keys) is None:
            return f"`{call.document.name}` would then call another `{new}` in its folder"
    return ""


def _reference(folder: str, key: str, old: str, keys: Container[str]) -> str | None:
    """The reference from `folder` that means `key`, as short as the old one was; None where none does."""
    bare = key.rpartition("/")[2]
    for text in (key,) if "/" in old else (bare, key):
        match = resolve(folder, text, keys)
        if match is not None and match.key == key:
            return text
    return None


def _taken(document: Document, new: str) -> str:
    found = document.definition(new)
    if found is None:
        return ""
    what = {"step": "a step", "loop": "a loop", "accumulate": "a collected output"}[found.kind]
    line = document.absolute(found.element.piece, found.span).start.line + 1
    return f"`{new}` is already {what} of `{document.name}` (line {line})"


def _captured(document: Document, new: str) -> str:
    """A parameter of this name would be taken over."""
    if new in document.parameters:
        return f"`{document.name}` already uses `{{{{{new}}}}}` as a parameter, which would get another meaning"
    return ""


def _given(workspace: Workspace, named: Named, new: str) -> str:
    for call in workspace.callers(named.document):
        if call.reference.argument(new) is not None and call.reference.argument(named.name) is not None:
            return f"`{call.document.name}` already passes an argument `{new}`"
    return ""


# -- edits ----------------------------------------------------------------------------------------


def _workflow_edits(
    workspace: Workspace, named: Named, new: str, places: Iterable[Occurrence]
) -> Iterable[tuple[str, TextEdit]]:
    """References keep their form where it still means the workflow, else they get the whole key."""
    key = key_of(workspace.folder(named.document), new)
    keys = {*workspace.keys, key} - {workspace.key(named.document)}
    for one in places:
        (line, column), end = one.span
        if one.role is Role.CALL and not one.document.text.lines[line][:column].endswith("/"):
            text = _reference(workspace.folder(one.document), key, named.name, keys) or key
            yield one.document.uri, TextEdit(Span(Position(line, column), end), text)
        else:
            yield one.document.uri, TextEdit(one.span, new)


def _prose(named: Named, new: str) -> Edits:
    """The bare word in the texts of the file, outside of braces."""
    document = named.document
    word = re.compile(rf"(?<![\w.{{-]){re.escape(named.name)}(?![\w}}-]|\.\w)")
    found: list[tuple[str, TextEdit]] = []
    for element in document.elements:
        for slot in element.prompts:
            if named.name not in slot.scalar.text:
                continue
            span = document.absolute(element.piece, slot.scalar.span)
            for number in range(span.start.line, span.end.line + 1):
                line = document.text.lines[number]
                low = span.start.column if number == span.start.line else 0
                high = span.end.column if number == span.end.line else len(line)
                for match in word.finditer(line, low, high):
                    if _in_braces(line, match.start()):
                        continue
                    place = Span(Position(number, match.start()), Position(number, match.end()))
                    found.append((document.uri, TextEdit(place, new)))
    return gathered(found)


def _in_braces(line: str, column: int) -> bool:
    opening = line.rfind("{{", 0, column)
    return opening >= 0 and "}}" not in line[opening:column]
