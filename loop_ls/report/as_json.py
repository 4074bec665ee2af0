"""Findings as the one JSON object that editors and CI read. Its shape is a contract (version 1)."""

from __future__ import annotations

import json

from loop_ls.report.checked import WORDS, Checked, CheckedFile
from loop_ls.rules.engine.finding import Finding
from loop_ls.text.json_value import JsonObject

VERSION = 1


def as_json(checked: Checked) -> str:
    """One object and one line break; places count from 1, columns in code points."""
    body = {
        "version": VERSION,
        "findings": [_finding(file, finding) for file, finding in checked.findings()],
        "files": checked.count,
    }
    text = json.dumps(body, ensure_ascii=False, separators=(", ", ": "))
    # Half a surrogate pair cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def _finding(file: CheckedFile, finding: Finding) -> JsonObject:
    start, end = file.within(finding.span)
    return {
        "path": file.path,
        "line": start.line + 1,
        "column": start.column + 1,
        "end_line": end.line + 1,
        "end_column": end.column + 1,
        "rule": finding.rule,
        "name": finding.name,
        "severity": WORDS[finding.severity],
        "message": " ".join(finding.message.split()),
        "fixable": finding.fixable,
    }
