"""Code actions: the fixes of findings, and one that applies every safe fix of the file.

`actions(document, findings, span)` lists what is on offer for the findings that touch `span`, preferred
ones first; `fix_all(document, findings, workspace)` is the one of kind `source.fixAll`. Edits are computed when
asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.features.answers import Action, ActionKind, Edits
from loop_ls.features.line_diff import line_edits
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding, Fix, TextEdit, Tier
from loop_ls.rules.fixes.apply import fix_document
from loop_ls.text.position import Span


def actions(document: Document, findings: Sequence[Finding], span: Span) -> tuple[Action, ...]:
    """One action for each fix; where several findings of one place have the same, it is offered once."""
    offered: dict[tuple[Span, str], tuple[Fix, list[int]]] = {}
    for number, finding in enumerate(findings):
        if not _touch(finding.span, span):
            continue
        for fix in finding.fixes:
            offered.setdefault((finding.span, fix.title), (fix, []))[1].append(number)
    found = [
        Action(
            fix.title,
            ActionKind.QUICKFIX,
            _Edits(document, fix),
            preferred=fix.preferred,
            tier=fix.tier,
            findings=tuple(numbers),
        )
        for fix, numbers in offered.values()
    ]
    found.sort(key=lambda action: (not action.preferred, action.tier is not Tier.SAFE, action.findings))
    return tuple(found)


def fix_all(document: Document, findings: Sequence[Finding], workspace: Workspace | None = None) -> Action | None:
    """All safe fixes as one action; None when there is none.

    With a workspace they are applied as `loop-ls fix` does it, checking after each pass; without one only
    those are taken that do not touch one another.
    """
    chosen = [(number, fix) for number, finding in enumerate(findings) if (fix := _safe(finding)) is not None]
    if not chosen:
        return None

    def edits() -> Edits:
        if workspace is None:
            return merged(document, [fix for _, fix in chosen])
        fixed = fix_document(Checker(), workspace, document).document
        return {document.uri: line_edits(document.text, fixed.text)}

    title = chosen[0][1].title if len(chosen) == 1 else f"Apply all {len(chosen)} safe fixes"
    return Action(title, ActionKind.FIX_ALL, edits, findings=tuple(number for number, _ in chosen))


def merged(document: Document, fixes: Sequence[Fix]) -> Edits:
    """The edits of many fixes. One that overlaps an earlier one is left for the next time."""
    taken: dict[str, list[TextEdit]] = {}
    for fix in fixes:
        wanted = fix.edits(document)
        if all(_free(edit, taken.get(edit.uri or document.uri, [])) for edit in wanted):
            for edit in wanted:
                taken.setdefault(edit.uri or document.uri, []).append(edit)
    return {uri: _sorted(edits) for uri, edits in taken.items()}


def _safe(finding: Finding) -> Fix | None:
    """The fix to take without asking: the preferred one of the safe ones, or the only one."""
    safe = [fix for fix in finding.fixes if fix.tier is Tier.SAFE]
    preferred = [fix for fix in safe if fix.preferred]
    if preferred:
        return preferred[0]
    return safe[0] if len(safe) == 1 else None


class _Edits:
    """The edits of one fix, computed when called."""

    __slots__ = ("_document", "_fix")

    def __init__(self, document: Document, fix: Fix) -> None:
        self._document, self._fix = document, fix

    def __call__(self) -> Edits:
        found: dict[str, list[TextEdit]] = {}
        for edit in self._fix.edits(self._document):
            found.setdefault(edit.uri or self._document.uri, []).append(edit)
        return {uri: _sorted(edits) for uri, edits in found.items()}


def _sorted(edits: list[TextEdit]) -> tuple[TextEdit, ...]:
    return tuple(sorted(dict.fromkeys(edits), key=lambda edit: edit.span))


def _free(edit: TextEdit, taken: list[TextEdit]) -> bool:
    """Whether an edit can be made besides those taken. The same one twice is one; edits that touch are about
    one thing (a word of a list, and a word to add to that list) and are not made together."""
    return all(edit == other or not _touch(edit.span, other.span) for other in taken)


def _touch(a: Span, b: Span) -> bool:
    return a.start <= b.end and b.start <= a.end
