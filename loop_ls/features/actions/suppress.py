"""The action that silences a finding where it stands: a comment above its line, or one more code in it.

Not for JSON, which has no comments, and not for what cannot be read: that is told whatever a comment says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loop_ls.features.answers import Action, ActionKind, Edits
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import Finding, TextEdit, Tier
from loop_ls.rules.engine.suppression import MARK, UNUSED, anchor, never_silent
from loop_ls.text.position import Position, Span

_ABOVE = re.compile(r"^\s*#\s*loop-ls:\s*ignore\s+[A-Z]{2}\d{3}(?:[\s,]+[A-Z]{2}\d{3})*")


def ignoring(document: Document, findings: Sequence[Finding], span: Span) -> tuple[Action, ...]:
    """One action for each rule that speaks at the place."""
    if document.path.endswith((".json", ".jsonc")) or document.fault is not None:
        return ()
    found: dict[tuple[str, int], list[int]] = {}
    always = never_silent() | {UNUSED}
    for number, finding in enumerate(findings):
        if finding.rule not in always and finding.span.start <= span.end and span.start <= finding.span.end:
            found.setdefault((finding.rule, anchor(document, finding.span.start)), []).append(number)
    return tuple(
        Action(
            f"Ignore {rule} here",
            ActionKind.QUICKFIX,
            _Comment(document, rule, line),
            tier=Tier.SAFE,
            findings=tuple(numbers),
        )
        for (rule, line), numbers in found.items()
    )


class _Comment:
    """The edit that writes the comment, computed when the action is chosen."""

    __slots__ = ("_document", "_line", "_rule")

    def __init__(self, document: Document, rule: str, line: int) -> None:
        self._document, self._rule, self._line = document, rule, line

    def __call__(self) -> Edits:
        lines, line = self._document.text.lines, self._line
        # A file as a whole is marked in its first line, which may be such a comment.
        there = next((at for at in (line, line - 1) if at >= 0 and _ABOVE.match(lines[at])), None)
        above = _ABOVE.match(lines[there]) if there is not None else None
        if there is not None and above is not None:
            at, text = Position(there, above.end()), f", {self._rule}"
        else:
            own = lines[line]
            indent = own[: len(own) - len(own.lstrip())]
            at, text = Position(line, 0), f"{indent}# {MARK} ignore {self._rule}{self._document.text.eol}"
        return {self._document.uri: (TextEdit(Span(at, at), text),)}
