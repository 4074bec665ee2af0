"""Findings as GitHub annotations: one workflow command a line, which shows beside the line in a change.

Paths have to be relative to the checkout, so the command should be called from there.
"""

from __future__ import annotations

from loop_ls.report.checked import Checked, CheckedFile
from loop_ls.report.terminal_text import shown
from loop_ls.rules.engine.finding import Finding, Severity

_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def as_github(checked: Checked) -> str:
    return "".join(_annotation(file, finding) + "\n" for file, finding in checked.findings())


def _annotation(file: CheckedFile, finding: Finding) -> str:
    span = file.within(finding.span)
    places = {"file": file.path, "line": span.start.line + 1, "endLine": span.end.line + 1}
    if span.start.line == span.end.line:
        # Columns of a mark over several lines are refused.
        places |= {"col": span.start.column + 1, "endColumn": span.end.column + 1}
    places |= {"title": f"{finding.rule} {finding.name}"}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in places.items())
    message = f"{' '.join(finding.message.split())} [{finding.rule} {finding.name}]"
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(message)}"


def _data(text: str) -> str:
    """What the runner would read as its own: per cent signs and line breaks."""
    return shown(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
