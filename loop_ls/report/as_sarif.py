"""Findings as SARIF 2.1.0, for code scanning and for viewers of many linters at once.

Paths are relative (`%SRCROOT%`); columns count code points and say so. Rules carry their whole
page as help; only those that were found are listed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import quote

from loop_ls import __version__
from loop_ls.report.checked import Checked, CheckedFile
from loop_ls.rules.docs.render import help_text, page_markdown
from loop_ls.rules.engine.finding import Finding, Fix, Severity
from loop_ls.rules.engine.registry import Rule, all_rules
from loop_ls.text.json_value import JsonObject
from loop_ls.text.position import Position, Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}

Json = JsonObject


def as_sarif(checked: Checked) -> str:
    found = list(checked.findings())
    known = all_rules()
    rules = {code: known[code] for code in sorted({finding.rule for _, finding in found} & known.keys())}
    places = {code: place for place, code in enumerate(rules)}
    seen: dict[tuple[str, str, str], int] = {}
    run = {
        "tool": {"driver": {"name": "loop-ls", "version": __version__, "rules": [_rule(r) for r in rules.values()]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder in which loop-ls was run."}}},
        "invocations": [{"executionSuccessful": True}],
        "results": [_result(checked, file, finding, places, seen) for file, finding in found],
    }
    text = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def _rule(rule: Rule) -> JsonObject:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": " ".join((rule.page.text or rule.title).split())},
        "help": {"text": help_text(rule), "markdown": page_markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity], "enabled": rule.profile is None},
        "properties": {"tags": ["ai-loops", *([rule.profile] if rule.profile else [])]},
    }


def _result(
    checked: Checked,
    file: CheckedFile,
    finding: Finding,
    places: Mapping[str, int],
    seen: dict[tuple[str, str, str], int],
) -> JsonObject:
    result: Json = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": " ".join(finding.message.split())},
        "locations": [{"physicalLocation": _place(file.path, file.within(finding.span))}],
        "partialFingerprints": {"loopLsFinding/v1": _fingerprint(file, finding, seen)},
    }
    if finding.rule in places:
        result["ruleIndex"] = places[finding.rule]
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": _place(
                    checked.path_of(related.uri) if related.uri else file.path,
                    related.span if related.uri else file.within(related.span),
                ),
                "message": {"text": related.message},
            }
            for number, related in enumerate(finding.related, 1)
        ]
    fixes = [fix for one in finding.fixes if (fix := _fix(checked, file, one))]
    if fixes:
        result["fixes"] = fixes
    return result


def _fix(checked: Checked, file: CheckedFile, fix: Fix) -> JsonObject | None:
    """None: the fix has no edit for this text."""
    changes: dict[str, list[Json]] = {}
    for edit in file.edits(fix):
        path = checked.path_of(edit.uri) if edit.uri else file.path
        change: JsonObject = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
        changes.setdefault(path, []).append(change)
    if not changes:
        return None
    return {
        "description": {"text": f"{fix.title} ({fix.tier.value})"},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }


def _fingerprint(file: CheckedFile, finding: Finding, seen: dict[tuple[str, str, str], int]) -> str:
    """The same as long as the line reads the same, wherever it moves in the file."""
    line = finding.span.start.line
    entry = (file.path, finding.rule, file.lines[line].strip() if line < len(file.lines) else "")
    seen[entry] = seen.get(entry, 0) + 1
    return sha256("\0".join((*entry, str(seen[entry]))).encode("utf-8", "replace")).hexdigest()[:32]


def _place(path: str, span: Span) -> JsonObject:
    return {"artifactLocation": _artifact(path), "region": _region(span)}


def _artifact(path: str) -> JsonObject:
    if path.startswith("/") or path[1:3] == ":/":
        return {"uri": f"file://{'' if path.startswith('/') else '/'}{_quoted(path)}"}
    return {"uri": _quoted(path), "uriBaseId": ROOT}


def _quoted(path: str) -> str:
    return quote(path, safe="/~!$&'()*+,;=@-._", errors="surrogateescape")


def _region(span: Span) -> JsonObject:
    start, end = _counted(span.start), _counted(max(span.start, span.end))
    return {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}


def _counted(at: Position) -> tuple[int, int]:
    return at.line + 1, at.column + 1
