"""What decides: checks, what an `if` or `until` reads, what only those read, and the files that all of it calls.

A check that calls another workflow gives the verdict of that one: whoever edits the file edits the check. So
does whoever edits what a check or the source of an `if` is told, where nothing else is made of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from loop_ls.engine.enhance.invariants.across_calls import told_across
from loop_ls.engine.enhance.invariants.gates import guard_sources, only_waits_decide, told_to_gates
from loop_ls.engine.enhance.invariants.verifiers import Verifiers
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
    for one in (document, *called(workspace, document)):
        own = checks if one.uri == document.uri else Verifiers().seen(one, declared_in.get(one.uri)).checked
        gates = guard_sources(one) | told_to_gates(one, own) | only_waits_decide(one)
        gates |= told_across(workspace, one, declared_in)
        for name in dict.fromkeys((*own, *sorted(gates))):
            found += [Deciding(file, name) for file in called(workspace, one, name)]
    return tuple(found)


def called(workspace: Workspace, document: Document, name: str | None = None) -> Iterator[Document]:
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
