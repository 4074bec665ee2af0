"""The baseline of an enhance loop: round 1, and what was first seen of elements that plans added since.

Plans are compared with it and never with the round before: two steps may not do what one may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loop_ls.engine.enhance.invariants.shape import Shape, shape_of
from loop_ls.engine.enhance.invariants.verifiers import Verifiers
from loop_ls.engine.enhance.ops.operations import Operation
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace


@dataclass(frozen=True)
class Baseline:
    """`first` is the text of round 1. `added` are the shapes of elements that came later, as first seen.
    `failed` are all elements that failed in some round, `to_mend` those that did so by themselves, or that a person has
    spoken of; a name of no element there means the whole workflow. `quoted` are texts that must not get into the
    workflow: inputs of cases. `sought` are whole texts that checks look for, `looked_at` the elements that
    they look at. `judged_by` are the criteria by which other files judge what this one gives. `declared` are the
    verifiers that somebody names, None where nobody does; `declared_in` those of called workflows, by URI. `reviewed`:
    a person looks at each plan before it is applied.
    """

    workspace: Workspace
    first: Document
    verifiers: Verifiers
    declared: frozenset[str] | None = None
    declared_in: Mapping[str, frozenset[str]] = field(default_factory=dict)
    added: Mapping[str, Shape] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()
    to_mend: frozenset[str] = frozenset()
    quoted: tuple[str, ...] = ()
    sought: tuple[str, ...] = ()
    looked_at: frozenset[str] = frozenset()
    judged_by: tuple[str, ...] = ()
    reviewed: bool = False

    @staticmethod
    def of(workspace: Workspace, first: Document, declared: frozenset[str] | None = None) -> Baseline:
        return Baseline(workspace, first, Verifiers().seen(first, declared), declared)

    @staticmethod
    def alone(first: Document) -> Baseline:
        """Of a text without others."""
        return Baseline.of(Workspace.of(Roots("/"), [first]), first)

    def shape(self, name: str) -> Shape | None:
        """An element as it was first seen."""
        element = self.first.element(name)
        return shape_of(self.first, element) if element is not None else self.added.get(name)

    def of_called(self, callee: Document) -> Baseline:
        """Of a workflow that this one calls, as it is now: what checked the work at first still does."""
        first, declared = self.workspace.documents.get(callee.uri, callee), self.declared_in.get(callee.uri)
        verifiers = Verifiers().seen(first, declared).seen(callee, declared)
        return Baseline(self.workspace, first, verifiers, declared, self.declared_in)

    def with_op(self, op: Operation, document: Document) -> Baseline:
        """After an operation that was taken: what it added is known from now on."""
        verifiers = self.verifiers
        if op.op == "add_verifier":
            verifiers = verifiers.with_added(op.text("name"), op.text("checks"))
        return replace(self, verifiers=verifiers).with_text(document)

    def with_text(self, document: Document) -> Baseline:
        """After a round's text: new elements, and the verifiers among them."""
        fresh = {
            one.name: shape_of(document, one)
            for one in document.elements
            if one.name not in self.added and self.first.element(one.name) is None
        }
        return replace(self, added={**self.added, **fresh}, verifiers=self.verifiers.seen(document, self.declared))
