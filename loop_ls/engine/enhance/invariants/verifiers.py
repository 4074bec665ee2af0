"""Verifiers of a workflow: steps whose answer begins with PASS or FAIL, and what each of them checks.

A step is one because it is declared, because a plan added it as one, or, where nothing is declared, because its prompt
asked for PASS or FAIL when it was first seen. What its prompt says later does not matter: no plan can talk a check
away. One whose answer begins with neither has not decided, and nothing is clean on its word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loop_ls.engine.enhance.invariants.shape import comes_from, reads
from loop_ls.formats.workflow.verdict_prompt import asks_for_verdict
from loop_ls.index.document import Document
from loop_ls.index.element import Element


@dataclass(frozen=True, slots=True)
class Verifiers:
    """`checked`: verifier -> what it checks, itself where that is nothing of this file. `added` are those of plans,
    `guessed` those that nobody declared: their prompts ask for PASS or FAIL."""

    checked: Mapping[str, str] = field(default_factory=dict)
    added: frozenset[str] = frozenset()
    guessed: frozenset[str] = frozenset()

    def added_for(self) -> frozenset[str]:
        """What plans have added a check for."""
        return frozenset(subject for verifier, subject in self.checked.items() if verifier in self.added)

    def with_added(self, verifier: str, subject: str) -> Verifiers:
        return replace(self, checked={**self.checked, verifier: subject}, added=self.added | {verifier})

    def seen(self, document: Document, declared: frozenset[str] | None = None) -> Verifiers:
        """With those of a text; what is known already stays. `declared` None: nobody says which they are."""
        asking = {one.name for one in document.steps if any(map(asks_for_verdict, prompts(document, one)))}
        named = asking if declared is None else declared & {one.name for one in document.elements}
        fresh = [one.name for one in document.elements if one.name in named and one.name not in self.checked]
        guessed = self.guessed if declared is not None else self.guessed | frozenset(fresh)
        checked = {**self.checked, **{name: _subject(document, name) for name in fresh}}
        return replace(self, checked=checked, guessed=guessed)


def prompts(document: Document, element: Element) -> tuple[str, ...]:
    """What an element asks models: also several that vote, and those of another workflow that is given the question
    with the work in it. A criterion alone is given to a workflow that checks by itself."""
    asking = [slot.scalar.text for slot in element.prompts]
    if element.reference is not None and element.reference.kind == "template":
        given = (use for use in element.uses if use.slot.kind == "with")
        asking += [
            use.slot.scalar.text
            for use in given
            if any(document.element(one) is not None for one in comes_from(document, element, use))
        ]
    return tuple(asking)


def _subject(document: Document, name: str) -> str:
    """The last element that a verifier reads: a review that also reads the task checks the work."""
    return next(iter(looked_at(document, name)), name)


def looked_at(document: Document, name: str) -> tuple[str, ...]:
    """The elements that a verifier reads or waits for, the last one first."""
    element = document.element(name)
    read = frozenset() if element is None else reads(document, element) | {need.name for need in element.needs}
    return tuple(one.name for one in reversed(document.elements) if one.name in read and one.name != name)
