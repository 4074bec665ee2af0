"""Gates of a workflow: checks, sources of an `if`, and what only those are told of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from loop_ls.engine.enhance.invariants.shape import comes_from, reaches, reads, tail, waits_for
from loop_ls.engine.enhance.invariants.verifiers import looked_at
from loop_ls.index.document import Document
from loop_ls.index.element import Element

#: What an element takes in.
Reads = Callable[[Document, Element], frozenset[str]]


def guard_sources(document: Document) -> frozenset[str]:
    """Elements whose results an `if` reads."""
    return _read_in(document, "if")


def gates_of(document: Document, checks: Iterable[str]) -> frozenset[str]:
    """What nothing may begin without that began behind it: checks, sources of an `if`, and what is only waited for."""
    return frozenset(checks) | guard_sources(document) | _only_waited_for(document)


def _only_waited_for(document: Document) -> frozenset[str]:
    """What stands in the `needs` of a step that reads nothing of it: that it went well is what the step waits for."""
    every = ((one, need.name) for one in document.elements for need in one.needs)
    return frozenset(name for one, name in every if name not in reads(document, one))


def told_to_gates(document: Document, checks: Mapping[str, str]) -> frozenset[str]:
    """Elements that only checks, sources of an `if` and an `until` are told of: they decide with them. What such a gate
    judges is none of them, where all that is made comes behind the gate: a check has to have something to check."""
    gates = frozenset(checks) | guard_sources(document)
    made = work(document, gates)
    until = _read_in(document, "until")
    told = (until | {one for gate in gates | until for one in into(document, gate)}) - gates - made
    for gate in gates:
        if all(gate in waits_for(document, one) for one in made):
            told -= _judged(document, gate, checks)
    return told


def _read_in(document: Document, kind: str) -> frozenset[str]:
    """Elements that a condition of another one reads."""
    uses = ((element, use) for element in document.elements for use in element.uses if use.slot.kind == kind)
    found = ((element.name, source) for element, use in uses for source in comes_from(document, element, use))
    return frozenset(one for name, one in found if one != name and document.element(one) is not None)


def work(document: Document, gates: frozenset[str], taken: Reads = reads) -> frozenset[str]:
    """What is made: what gives the result or is read by nothing, and all that flows into that, gates apart."""
    readers = _readers(document)
    ends = {name for name, _ in tail(document)} | {name for name, read_by in readers.items() if not read_by}
    found, waiting = ends - gates, [*(ends - gates)]
    while waiting:
        element = document.element(waiting.pop())
        fresh = (frozenset() if element is None else taken(document, element)) & readers.keys() - gates - found
        found |= fresh
        waiting += fresh
    return frozenset(found)


def _judged(document: Document, gate: str, checks: Mapping[str, str]) -> frozenset[str]:
    """What a gate judges, and what flows into that. The source of an `if` judges what a prompt has made."""
    subject = checks.get(gate) or next(iter(looked_at(document, gate)), gate)
    element = document.element(subject)
    if element is None or (gate not in checks and element.reference is not None):
        return frozenset()
    return into(document, subject) | {subject}


def into(document: Document, name: str) -> frozenset[str]:
    """All elements that flow into one."""
    return frozenset(one for one in reaches(document, name) if document.element(one) is not None)


def _readers(document: Document) -> Mapping[str, frozenset[str]]:
    """Of each element, who reads its result, conditions included."""
    found: dict[str, set[str]] = {one.name: set() for one in document.elements}
    for element in document.elements:
        for use in element.uses:
            for source in comes_from(document, element, use):
                if source in found and source != element.name:
                    found[source].add(element.name)
    return {name: frozenset(readers) for name, readers in found.items()}


def only_waits_decide(document: Document) -> frozenset[str]:
    """Elements that nothing reads and a step with an `if` waits for: that they go well is what they are there for."""
    readers, result = _readers(document), {name for name, _ in tail(document)}
    needed = {need.name for one in document.elements if one.block.has("if") for need in one.needs}
    return frozenset(name for name in needed - result if name in readers and not readers[name])
