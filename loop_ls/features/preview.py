"""Prompts as a model would see them in the first iteration, with what is known before a run filled in.

What only a run can tell (results of steps, items) stands there in angle marks; names that do not
exist stay as written and are listed. Nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from loop_ls.formats.workflow.placeholder_syntax import substituted
from loop_ls.index.document import Document
from loop_ls.index.element import Element, Slot
from loop_ls.index.scope import Scope, Variable, scope_at
from loop_ls.index.workspace import Workspace

#: Deeper calls are not shown.
DEPTH = 3
_PROMPTS = ("run", "prompt", "query", "input")


class Preview(NamedTuple):
    """One text of one element. `path` leads to it from the started file: loop, step of its workflow."""

    path: tuple[str, ...]
    what: str
    text: str
    unresolved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreviewInputs:
    """What a start gives: the input (None: nobody said), arguments by name; values of `loop.*` where another
    iteration than the first is meant."""

    input: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    loop: Mapping[str, str] = field(default_factory=dict)


def previews(
    workspace: Workspace, document: Document, element: Element | None = None, given: PreviewInputs | None = None
) -> tuple[Preview, ...]:
    """Of one element, or of all, in the order in which they run; called workflows included."""
    chosen = [document.elements[number] for number in document.graph.order()] if element is None else [element]
    found = (one for each in chosen for one in _element(workspace, document, each, given or PreviewInputs(), (), ()))
    return tuple(found)


def _element(
    workspace: Workspace,
    document: Document,
    element: Element,
    given: PreviewInputs,
    path: tuple[str, ...],
    callers: tuple[str, ...],
) -> Iterator[Preview]:
    own = (*path, element.name or "?")
    arguments: dict[str, str] = {}
    for slot in element.slots:
        text, unresolved = render(workspace, document, element, slot, given)
        if slot.kind == "with" and slot.argument is not None:
            arguments[slot.argument] = text
        what = f"with.{slot.argument}" if slot.kind == "with" else slot.kind
        if slot.kind in (*_PROMPTS, "with", "items", "until"):
            yield Preview(own, what, text, unresolved)
    for pair in (element.reference.arguments or ()) if element.reference is not None else ():
        arguments.setdefault(pair.name, pair.text or "")
    callee = workspace.callee(document, element.reference)
    if callee is None or callee.uri in callers or len(callers) >= DEPTH:
        return
    loop = {**_first_values(element), **(given.loop if not path else {})}
    inside = PreviewInputs(arguments.get("input", ""), arguments, loop)
    for number in callee.graph.order():
        yield from _element(workspace, callee, callee.elements[number], inside, own, (*callers, document.uri))


def render(
    workspace: Workspace, document: Document, element: Element, slot: Slot, given: PreviewInputs
) -> tuple[str, tuple[str, ...]]:
    """One text with its values, and the names in it that do not exist."""
    scope = scope_at(workspace, document, element, slot)
    unresolved: dict[str, None] = {}

    def value(name: str) -> str | None:
        found = _value(document, scope, given, name)
        if found is None:
            unresolved[name] = None
        return found

    return substituted(slot.scalar.text, value), tuple(unresolved)


def _value(document: Document, scope: Scope, given: PreviewInputs, name: str) -> str | None:
    variable = scope.look_up(name)
    if variable is not None and variable.kind in ("result", "accumulate", "rag"):
        return f"‹{variable.meaning}›"
    if name == "input":
        return "‹input›" if given.input is None else given.input
    if name in given.arguments:
        return given.arguments[name]
    if variable is None:
        return None
    return _known(document, given, variable, name)


def _known(document: Document, given: PreviewInputs, variable: Variable, name: str) -> str:
    match variable.kind:
        case "env":
            pair = document.env.get(name.partition(".")[2])
            return (pair.text or "") if pair is not None else ""
        case "loop":
            first = f"‹{variable.meaning}›" if variable.first is None else variable.first
            return given.loop.get(variable.name, first)
        case _:
            return f"‹{name}›"


def _first_values(element: Element) -> dict[str, str]:
    if element.loop_mode != "iterate":
        return {}
    return {"loop.current": "‹the first item›", "loop.count": "‹number of items›"}
