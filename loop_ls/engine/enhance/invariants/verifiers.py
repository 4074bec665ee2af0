"""Verifiers of a workflow: steps whose answer begins with PASS or FAIL, and what each of them checks.

A step is one because it is declared, because a plan added it as one, or because its prompt asked for PASS or
FAIL when it was first seen. What its prompt says later does not matter: no plan can talk a check away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from loop_ls.engine.enhance.invariants.shape import reads
from loop_ls.formats.workflow.verdict_prompt import asks_for_verdict
from loop_ls.index.document import Document


@dataclass(frozen=True, slots=True)
class Verifiers:
    """`checked`: verifier -> what it checks, itself where that is nothing of this file. `strict` are those
    that must say PASS or FAIL: declared ones, those that plans `added`, and those that have said FAIL."""

    checked: Mapping[str, str] = field(default_factory=dict)
    strict: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()

    def added_for(self) -> frozenset[str]:
        """What plans have added a check for."""
        return frozenset(subject for verifier, subject in self.checked.items() if verifier in self.added)

    def with_added(self, verifier: str, subject: str) -> Verifiers:
        checked = {**self.checked, verifier: subject}
        return replace(self, checked=checked, strict=self.strict | {verifier}, added=self.added | {verifier})

    def having_failed(self, names: Iterable[str]) -> Verifiers:
        """After a round in which these said FAIL: what says neither PASS nor FAIL later takes nothing back."""
        return replace(self, strict=self.strict | (frozenset(names) & self.checked.keys()))

    def seen(self, document: Document, declared: Iterable[str] = ()) -> Verifiers:
        """With those of a text; what is known already stays."""
        named = frozenset(declared) & {element.name for element in document.steps}
        found = dict(self.checked)
        for element in document.steps:
            prompt = element.block.text("run") or ""
            if element.name not in found and (element.name in named or asks_for_verdict(prompt)):
                found[element.name] = _subject(document, element.name)
        return replace(self, checked=found, strict=self.strict | named)


def _subject(document: Document, name: str) -> str:
    """The last element that a verifier reads: a review that also reads the task checks the work."""
    return next(iter(looked_at(document, name)), name)


def looked_at(document: Document, name: str) -> tuple[str, ...]:
    """The elements that a verifier reads or waits for, the last one first."""
    element = document.element(name)
    read = frozenset() if element is None else reads(document, element) | {need.name for need in element.needs}
    return tuple(one.name for one in reversed(document.elements) if one.name in read and one.name != name)
