"""What decides inside of a called workflow, seen from its call: the arguments that its checks and conditions read.

Whoever sets `strict: no`, or another criterion, for a workflow that checks by it has changed the check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from loop_ls.engine.enhance.invariants.gates import guard_sources, into, work
from loop_ls.engine.enhance.invariants.shape import comes_from, shape_of
from loop_ls.engine.enhance.invariants.verifiers import Verifiers, looked_at
from loop_ls.index.document import Document
from loop_ls.index.element import Element, Use
from loop_ls.index.workspace import Workspace


class Deciders(NamedTuple):
    """Variables that decide in a workflow: `conditions` are read by an `if`, `flags` by that and by nothing that is
    made, `told` by checks and an `until` only. `reviews`: nothing is made in it."""

    conditions: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    reviews: bool = False

    @property
    def all(self) -> frozenset[str]:
        return self.conditions | self.told


Declared = Mapping[str, frozenset[str]]


def deciding_arguments(workspace: Workspace, document: Document, element: Element, declared_in: Declared) -> Deciders:
    """Those of a call; none where an element calls nothing."""
    callee = workspace.callee(document, element.reference)
    return Deciders() if callee is None else _deciders(workspace, callee, declared_in, frozenset({document.uri}))


def told_across(workspace: Workspace, document: Document, declared_in: Declared) -> frozenset[str]:
    """Elements whose results decide in a workflow that is called, and are used for nothing else."""
    calls = _calls(workspace, document, declared_in, frozenset())
    checks = _checks(document, declared_in)
    made = _made(document, checks, calls)
    found = set[str]()
    for element in document.elements:
        inner = calls.get(element.name, Deciders())
        flags = _sources(document, element, inner.flags)
        told = {one for source in _sources(document, element, inner.told) for one in (source, *into(document, source))}
        if inner.reviews:
            judged = next(iter(looked_at(document, element.name)), "")
            told -= {judged, *into(document, judged)}
        found |= flags | (told - made)
    return frozenset(found - checks - guard_sources(document))


def judged_inside(workspace: Workspace, document: Document, element: Element, declared_in: Declared) -> tuple[str, ...]:
    """The criteria of the checks and loops in all workflows that a call leads to: they judge what is given to it."""
    found, seen, waiting = list[str](), {document.uri}, [(document, element)]
    while waiting:
        caller, call = waiting.pop()
        callee = workspace.callee(caller, call.reference)
        if callee is None or callee.uri in seen:
            continue
        seen.add(callee.uri)
        waiting += [(callee, one) for one in callee.calling]
        checks = _checks(callee, declared_in)
        for one in callee.elements:
            shape = shape_of(callee, one)
            found += [shape.until] if shape.until else []
            found += [shape.prompt] if one.name in checks else []
    return tuple(found)


def _deciders(workspace: Workspace, document: Document, declared_in: Declared, within: frozenset[str]) -> Deciders:
    if document.uri in within:
        return Deciders()
    calls = _calls(workspace, document, declared_in, within)
    made = _made(document, _checks(document, declared_in), calls)
    conditions, told, used = set[str](), set[str](), set[str]()
    for element in document.elements:
        inner = calls.get(element.name, Deciders())
        for use in element.uses:
            variables = {one for one in comes_from(document, element, use) if document.element(one) is None}
            if use.slot.kind == "if" or _gives(use, inner.conditions):
                conditions |= variables
            elif use.slot.kind == "until" or _gives(use, inner.told) or element.name not in made:
                told |= variables
            else:
                used |= variables
    return Deciders(frozenset(conditions), frozenset(conditions - used), frozenset(told - used), not made)


def _calls(
    workspace: Workspace, document: Document, declared_in: Declared, within: frozenset[str]
) -> dict[str, Deciders]:
    found = dict[str, Deciders]()
    for element in document.calling:
        callee = workspace.callee(document, element.reference)
        if callee is not None:
            found[element.name] = _deciders(workspace, callee, declared_in, within | {document.uri})
    return found


def _checks(document: Document, declared_in: Declared) -> frozenset[str]:
    return frozenset(Verifiers().seen(document, declared_in.get(document.uri)).checked)


def _made(document: Document, checks: frozenset[str], calls: Mapping[str, Deciders]) -> frozenset[str]:
    """The work, with the sources of an `if` that it is made of: such an argument is worked on as well."""

    def taken(document: Document, element: Element) -> frozenset[str]:
        inner = calls.get(element.name, Deciders()).all
        uses = (use for use in element.uses if use.slot.kind not in ("if", "until") and not _gives(use, inner))
        return frozenset(one for use in uses for one in comes_from(document, element, use))

    sources = guard_sources(document)
    made = work(document, checks | sources, taken)
    both = (sources - checks) & {
        one for name in made if (element := document.element(name)) is not None for one in taken(document, element)
    }
    return made | both.union(*(into(document, one) for one in both))


def _sources(document: Document, element: Element, arguments: frozenset[str]) -> frozenset[str]:
    """The elements that some arguments of a call read."""
    found = (one for use in element.uses if _gives(use, arguments) for one in comes_from(document, element, use))
    return frozenset(one for one in found if document.element(one) is not None)


def _gives(use: Use, arguments: frozenset[str]) -> bool:
    return use.slot.kind == "with" and use.slot.argument in arguments
