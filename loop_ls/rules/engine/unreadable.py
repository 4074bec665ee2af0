"""The one finding of a file that is none that can be read: too large, binary, another encoding."""

from __future__ import annotations

from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import Finding, Severity

_CODES = {"role_loop": ("RL001", "json"), "assistant": ("AL001", "syntax"), "settings": ("LS001", "syntax")}


def unreadable(document: Document) -> tuple[Finding, ...]:
    """Nothing for a file that is not ours: whatever else lies in a folder is nobody's business."""
    if document.fault is None or document.format is None:
        return ()
    code, name = _CODES.get(document.format, ("WF001", "syntax"))
    return (Finding(code, Severity.ERROR, document.fault.span, document.fault.message, name),)
