"""The one finding of a file that is none that can be read: too large, binary, another encoding."""

from __future__ import annotations

from loop_ls.index.document import Document
from loop_ls.rules.finding import Finding, Severity

_CODES = {"role_loop": "RL001", "assistant": "AL001", "settings": "LS001"}


def unreadable(document: Document) -> tuple[Finding, ...]:
    """Nothing for a file that is not ours: whatever else lies in a folder is nobody's business."""
    if document.fault is None or document.format is None:
        return ()
    code = _CODES.get(document.format, "WF001")
    return (Finding(code, Severity.ERROR, document.fault.span, document.fault.message, "syntax"),)
