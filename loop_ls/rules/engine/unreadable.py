"""The one finding of a file that is none that can be read: too large, binary, another encoding."""

from __future__ import annotations

from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import Finding, Severity
from loop_ls.rules.engine.registry import rules_of


def unreadable(document: Document) -> tuple[Finding, ...]:
    """Nothing for a file that is not ours: whatever else lies in a folder is nobody's business."""
    if document.fault is None or document.format is None:
        return ()
    code, name = rules_of(document.format).syntax
    return (Finding(code, Severity.ERROR, document.fault.span, document.fault.message, name),)
