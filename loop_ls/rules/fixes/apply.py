"""Applying fixes to a whole document, as long as that makes it better.

Fixes that touch one line wait for the next pass. After every pass the document is checked again: a
pass that leaves more errors than before is taken back and its fixes are tried one by one. What could
not be read before a fix may be faulty itself: such errors are no harm of the fix that shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding, Fix, Severity, TextEdit, Tier
from loop_ls.rules.engine.registry import syntax_codes

PASSES = 12


class Fixed(NamedTuple):
    """A document after its fixes; `done` are the findings that are gone because of them."""

    workspace: Workspace
    document: Document
    done: tuple[Finding, ...]
    left: tuple[Finding, ...]


class _Change(NamedTuple):
    finding: Finding
    edits: tuple[TextEdit, ...]


def fix_document(checker: Checker, workspace: Workspace, document: Document, unsafe: bool = False) -> Fixed:
    """Every fix that keeps the meaning; with `unsafe` the first proposal of the others too."""
    done: list[Finding] = []
    found = checker.findings(workspace, document)
    for _ in range(PASSES):
        changes = _changes(document, found, unsafe)
        if not changes:
            break
        step = _step(checker, workspace, document, found, changes)
        if step is None:
            break
        workspace, document, found, applied = step
        done += applied
    return Fixed(workspace, document, tuple(done), found)


_Step = tuple[Workspace, Document, tuple[Finding, ...], list[Finding]]


def _step(
    checker: Checker, workspace: Workspace, document: Document, found: tuple[Finding, ...], changes: list[_Change]
) -> _Step | None:
    """All changes at once, else the first one that does no harm by itself; None when none does good."""
    for chosen in (changes, *([change] for change in changes)):
        after = applied(document, [edit for change in chosen for edit in change.edits])
        world = workspace.with_document(after)
        left = checker.findings(world, after)
        if (_errors(left) <= _errors(found) and _weight(left) < _weight(found)) or _uncovers(chosen, found, left):
            return world, after, left, [change.finding for change in chosen]
    return None


#: Faults that keep something from being read, beside a text that is not YAML or JSON: a file that nobody takes
#: for one, a key that nobody knows.
_HIDING = frozenset({"WF002", "WF006", "RL022", "AL003", "LS002"})


def _uncovers(chosen: list[_Change], found: Sequence[Finding], left: Sequence[Finding]) -> bool:
    """Whether a fix on its own made something readable, and nothing unreadable that was not."""
    if len(chosen) != 1 or chosen[0].finding.rule not in _HIDING | syntax_codes():
        return False
    finding = chosen[0].finding
    said = [sum((one.rule, one.message) == (finding.rule, finding.message) for one in each) for each in (found, left)]
    broken = [sum(one.rule in syntax_codes() for one in each) for each in (found, left)]
    return said[1] < said[0] and (finding.rule == "WF002" or broken[1] <= broken[0])


def _errors(found: Iterable[Finding]) -> int:
    return sum(finding.severity is Severity.ERROR for finding in found)


def _weight(found: Iterable[Finding]) -> tuple[int, int]:
    """What has to go down with every pass, so that fixing comes to an end."""
    listed = list(found)
    return sum(bool(finding.fixes) for finding in listed), len(listed)


def _changes(document: Document, found: Iterable[Finding], unsafe: bool) -> list[_Change]:
    changes: list[_Change] = []
    taken: set[int] = set()
    for finding in found:
        fix = chosen_fix(finding, unsafe)
        edits = fix.edits(document) if fix is not None else ()
        if not edits or any(edit.uri not in (None, document.uri) for edit in edits):
            continue
        lines = {line for edit in edits for line in range(edit.span.start.line, edit.span.end.line + 1)}
        if taken.isdisjoint(lines):
            taken |= lines
            changes.append(_Change(finding, edits))
    return changes


def chosen_fix(finding: Finding, unsafe: bool) -> Fix | None:
    """The first safe fix; with `unsafe` else the first one that needs review."""
    fixes = [fix for fix in finding.fixes if not fix.only_by_hand]
    safe = next((fix for fix in fixes if fix.tier is Tier.SAFE), None)
    return safe or (fixes[0] if unsafe and fixes else None)


def applied(document: Document, edits: Iterable[TextEdit]) -> Document:
    """The document with edits that do not overlap, last one first so that places stay right."""
    text = document.text
    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        text = text.edit(edit.span, edit.text)
    return Document.open(document.uri, text, document.version + 1, document.path)
