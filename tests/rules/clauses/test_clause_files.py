"""Clauses of rules that their pages and the variations of their examples do not show, as annotated files.

What is noted in a file is found, word for word, and nothing else is. `.pedantic` or `.compat` in its name switches that
profile on.
What the fixes of these findings make of the file is recorded beside it; `LOOP_LS_RECORD=1` writes that anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.fixes.apply import applied
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import ROOT, check_findings, document_of, workspace_of

FILES = sorted(Path(__file__).with_name("files").iterdir())
FIXED = Path(__file__).with_name("fixed")


def _profiles(file: Path) -> tuple[str, ...]:
    return tuple(file.name.split(".")[1:-1])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_noted_is_found(file: Path) -> None:
    check_findings(file.read_text("utf-8"), _profiles(file))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_the_fixes_make_of_it(file: Path) -> None:
    told = FIXED / f"{file.stem}.txt"
    made = list(_fixed(file))
    if os.environ.get("LOOP_LS_RECORD"):
        told.write_text("".join(f"{line}\n" for line in made), "utf-8")
    assert made == (told.read_text("utf-8").splitlines())


def _fixed(file: Path) -> Iterator[str]:
    fixture = read_fixture(file.read_text("utf-8"))
    workspace, checker = workspace_of(fixture), Checker(_profiles(file))
    for path in fixture.texts:
        document = document_of(workspace, path)
        for finding in checker.findings(workspace, document):
            yield from _by_the_fixes(finding, document, workspace)


def _by_the_fixes(finding: Finding, document: Document, workspace: Workspace) -> Iterator[str]:
    place = f"{document.path.removeprefix(ROOT)[1:]}:{finding.span.start.line + 1} {finding.rule}"
    for related in finding.related:
        yield f"{place}: see line {related.span.start.line + 1}: {related.message}"
    for fix in finding.fixes:
        signs = f"{fix.tier.value}{', preferred' if fix.preferred else ''}{', by hand' if fix.only_by_hand else ''}"
        yield f"{place}: {fix.title} ({signs})"
        edits = fix.edits(document)
        for uri in dict.fromkeys(edit.uri for edit in edits):
            other = document if uri is None else workspace.documents[uri]
            after = applied(other, [edit for edit in edits if edit.uri == uri])
            before = other.text.lines
            yield from (f"  {line}" for line in after.text.lines if line not in before)
