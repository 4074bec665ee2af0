"""Code lenses of test cases: Run case above each, with its checks."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Command, Lens
from loop_ls.formats.checks.parts import cases_in
from loop_ls.formats.registry import TEST_CASES
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace


def case_lenses(workspace: Workspace, document: Document) -> Iterator[Lens]:
    subject = workspace.subject(document)
    if subject is None or document.format != TEST_CASES:
        return
    for case in cases_in(document.whole.parts):
        node = case.node("name")
        if node is None or not case.name or case.block.text("skip"):
            continue
        argument = {"uri": subject.uri, "target": {"kind": "workflow"}, "check": {"case": case.name}}
        yield Lens(document.absolute(case.piece, node.span), "▶ Run case", Command("loopLs.run", argument))
