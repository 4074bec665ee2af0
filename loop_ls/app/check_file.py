"""Findings and estimates of one file for programs that write loop files: agents over MCP, clients over HTTP.

The engine may not know the checker, so both come from here. Nothing is written, run or asked of a model.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from loop_ls.app.prices import prices
from loop_ls.contract.answers import CheckedFile, CheckFinding, FileEstimate, Refusal
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers.config import chosen_model
from loop_ls.features.estimate.estimate import estimate, estimate_of_workflow
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.registry import ASSISTANT, can_run
from loop_ls.index.disk.discovery import discover, load
from loop_ls.index.disk.uris import uri_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker, checkable
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.fixes.apply import applied, chosen_fix
from loop_ls.text.json_value import as_object

#: Findings that are told; a file with more has one cause for most of them.
MOST_FINDINGS = 100


def check_file(root: Path, path: str, text: str | None) -> CheckedFile | Refusal:
    opened = _opened(root, path, text)
    if isinstance(opened, Refused):
        return opened.answer()
    workspace, document, untold = opened
    found = [
        one
        for checked, findings in Checker().check_all(workspace, {document.uri})
        if checked.uri == document.uri
        for one in findings
        if one.rule not in untold
    ]
    return {
        "ok": True,
        "path": path,
        "format": None if document.format is None else str(document.format),
        "findings": [_told(document, one) for one in found[:MOST_FINDINGS]],
        "count": len(found),
    }


def estimate_file(
    root: Path, path: str, name: str | None, provider: str | None = None, model: str | None = None
) -> FileEstimate | Refusal:
    """`name`: only this step, loop or assistant. `provider` and `model`: whom the run asks in place of those that the
    files name."""
    opened = _opened(root, path, None)
    if isinstance(opened, Refused):
        return opened.answer()
    workspace, document, _ = opened
    if document.fault is not None:
        return Refused("bad_argument", f"{path} cannot be read: {document.fault.message}").answer()
    if not can_run(document.format):
        return Refused("bad_argument", f"{path} cannot be run.").answer()
    assistant = name if document.format == ASSISTANT else None
    element = document.element(name) if name and assistant is None else None
    if name and assistant is None and element is None:
        near = nearest(name, [one.name for one in document.elements if one.name])
        hint = f"Did you mean `{near}`?" if near else ""
        return Refused("not_found", f"No step or loop `{name}` in {path}.", hint).answer()
    price = prices(workspace, document)
    if not provider and not model:
        return estimate(workspace, document, element, price, assistant).answer()
    if not document.is_workflow:
        return Refused(
            "bad_argument", f"`provider` and `model` work only for workflows, and {path} is not one."
        ).answer()
    try:
        instead = chosen_model(provider, model, as_object(workspace.settings.raw.get("providers")))
    except ModelFailure as failure:
        return Refused("bad_argument", failure.message, failure.hint).answer()
    return estimate_of_workflow(workspace, document, element, price, instead).answer()


def _opened(root: Path, path: str, text: str | None) -> tuple[Workspace, Document, frozenset[str]] | Refused:
    """The file in its project, with `text` in place of what the disk has, and the rules that cannot speak of it."""
    place = Path(os.path.abspath(root / path))  # noqa: PTH100 - a link stays what it is called
    try:
        inside, there = place.resolve().is_relative_to(root.resolve()), place.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, a link in a circle
        return Refused("bad_argument", "This is not a file path.", "Choose a file in the workspace folder.")
    if not inside:
        return Refused("bad_argument", f"{path} is outside the workspace.", "Choose a file inside it.")
    if text is None and not there:
        return Refused("not_found", f"File not found: {path}.", "Pass its `text`, or save it first.")
    found = discover(root.as_posix(), named=(place.as_posix(),))
    document = load(place.as_posix()) if text is None else Document.open(uri_of(place), text)
    if document is None:
        return Refused("bad_argument", f"{path} cannot be read.")
    if document.format is None:
        return Refused("bad_argument", f"{path} is not a loop file: unknown format.", FORMATS)
    workspace, untold = checkable(found, found.workspace.with_document(document), (document,))
    return workspace.project(document.path), document, untold


FORMATS = "See `loop-ls schema --help` for the formats; a workflow starts with `$schema: workflow/v2.0`."


def _told(document: Document, finding: Finding) -> CheckFinding:
    start = finding.span.start
    told: CheckFinding = {
        "line": start.line + 1,
        "column": start.column + 1,
        "rule": finding.rule,
        "severity": finding.severity.name.lower(),
        "message": " ".join(finding.message.split()),
    }
    fix = chosen_fix(finding, unsafe=True)
    if fix is not None:
        told["fix"] = fix.title
        told["diff"] = _diff(document, applied(document, fix.edits(document)))
    return told


def _diff(before: Document, after: Document) -> str:
    """A unified diff without file names and with no lines around: what a model has to change."""
    old, new = str(before.text).splitlines(), str(after.text).splitlines()
    return "\n".join(list(difflib.unified_diff(old, new, lineterm="", n=0))[2:])
