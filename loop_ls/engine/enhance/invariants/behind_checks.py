"""What decides: checks, what an `if` or `until` reads, what only those read, and the files that all of it calls.

A check that calls another workflow gives the verdict of that one: whoever edits the file edits the check. So
does whoever edits what a check or the source of an `if` is told, where nothing else is made of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from loop_ls.engine.enhance.invariants.shape import reaches, reads, source_of, tail, waits_for
from loop_ls.engine.enhance.invariants.verifiers import Verifiers, looked_at
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace

NONE_DECLARED: Mapping[str, frozenset[str]] = MappingProxyType({})


class Deciding(NamedTuple):
    """`file` is called for `element`, which decides."""

    file: Document
    element: str


def deciding_files(
    workspace: Workspace,
    document: Document,
    checks: Mapping[str, str],
    declared_in: Mapping[str, frozenset[str]] = NONE_DECLARED,
) -> tuple[Deciding, ...]:
    """Those behind the checks and gates of a workflow, and of all that it calls. `checks` are its own ones,
    `declared_in` those that called files declare, by URI."""
    found = list[Deciding]()
    for one in (document, *_called(workspace, document)):
        own = checks if one.uri == document.uri else Verifiers().seen(one, declared_in.get(one.uri)).checked
        gates = guard_sources(one) | told_to_gates(one, own) | only_waits_decide(one)
        for name in dict.fromkeys((*own, *sorted(gates))):
            found += [Deciding(file, name) for file in _called(workspace, one, name)]
    return tuple(found)


def guard_sources(document: Document) -> frozenset[str]:
    """Elements whose results an `if` reads."""
    return _read_in(document, "if")


def told_to_gates(document: Document, checks: Mapping[str, str]) -> frozenset[str]:
    """Elements that only checks, sources of an `if` and an `until` are told of: they decide with them. What such a gate
    judges is none of them, where all that is made comes behind the gate: a check has to have something to check."""
    gates = frozenset(checks) | guard_sources(document)
    made = _made(document, gates)
    until = _read_in(document, "until")
    told = (until | {one for gate in gates | until for one in _into(document, gate)}) - gates - made
    for gate in gates:
        if all(gate in waits_for(document, one) for one in made):
            told -= _judged(document, gate, checks)
    return told


def _read_in(document: Document, kind: str) -> frozenset[str]:
    """Elements that a condition of another one reads."""
    uses = ((element.name, use) for element in document.elements for use in element.uses if use.slot.kind == kind)
    found = ((name, source) for name, use in uses for source in source_of(document, use.name))
    return frozenset(one for name, one in found if one != name and document.element(one) is not None)


def _made(document: Document, gates: frozenset[str]) -> frozenset[str]:
    """The work: what gives the result or is read by nothing, and all that flows into that, gates apart."""
    readers = _readers(document)
    ends = {name for name, _ in tail(document)} | {name for name, read_by in readers.items() if not read_by}
    found, waiting = ends - gates, [*(ends - gates)]
    while waiting:
        element = document.element(waiting.pop())
        fresh = (frozenset() if element is None else reads(document, element)) & readers.keys() - gates - found
        found |= fresh
        waiting += fresh
    return frozenset(found)


def _judged(document: Document, gate: str, checks: Mapping[str, str]) -> frozenset[str]:
    """What a gate judges, and what flows into that. The source of an `if` judges what a prompt has made."""
    subject = checks.get(gate) or next(iter(looked_at(document, gate)), gate)
    element = document.element(subject)
    if element is None or (gate not in checks and element.reference is not None):
        return frozenset()
    return _into(document, subject) | {subject}


def _into(document: Document, name: str) -> frozenset[str]:
    """All elements that flow into one."""
    return frozenset(one for one in reaches(document, name) if document.element(one) is not None)


def _readers(document: Document) -> Mapping[str, frozenset[str]]:
    """Of each element, who reads its result, conditions included."""
    found: dict[str, set[str]] = {one.name: set() for one in document.elements}
    for element in document.elements:
        for use in element.uses:
            for source in source_of(document, use.name):
                if source in found and source != element.name:
                    found[source].add(element.name)
    return {name: frozenset(readers) for name, readers in found.items()}


def only_waits_decide(document: Document) -> frozenset[str]:
    """Elements that nothing reads and a step with an `if` waits for: that they go well is what they are there for."""
    readers, result = _readers(document), {name for name, _ in tail(document)}
    needed = {need.name for one in document.elements if one.block.has("if") for need in one.needs}
    return frozenset(name for name in needed - result if name in readers and not readers[name])


def _called(workspace: Workspace, document: Document, name: str | None = None) -> Iterator[Document]:
    """Each file that a workflow, or one element of it, leads to."""
    seen, waiting = {document.uri}, [(document, name)]
    while waiting:
        one, only = waiting.pop()
        for element in one.calling:
            callee = workspace.callee(one, element.reference)
            if callee is None or callee.uri in seen or only not in (None, element.name):
                continue
            seen.add(callee.uri)
            waiting.append((callee, None))
            yield callee
