"""One finding for each merge conflict, in every format, and fixes that keep one side or both."""

from __future__ import annotations

import pytest

from loop_ls.formats.workflow.read import read_workflow
from loop_ls.formats.workflow.refusals import Refusal
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.fixes.apply import applied, fix_document

FLOW = """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: In the middle of a merge
execution: {provider: ollama, model: llama3.2}
steps:
  - name: draft
<<<<<<< HEAD
    run: "Write about {{input}}"
    colour: red
||||||| base
    run: "Write {{nothing}}"
=======
    run: |
      Write about {{input}} at length
>>>>>>> longer
  - name: post
    needs: [draft]
    run: "Post {{draft}} and {{step.drafd}}"
"""


def conflict(current: str, incoming: str) -> str:
    return f"<<<<<<< HEAD\n{current}=======\n{incoming}>>>>>>> x\n"


FILES = {
    "flow.yaml": FLOW,
    "loops/build.json": "{\n" + conflict('"name": "a",\n', '"name": "b",\n') + f'"roles": [\n{conflict("", "")}]}}',
    "fixer.assistant.yaml": conflict("name: A\n", "name: B\n") + conflict("persona: A\n", ""),
    ".loop-ls.yaml": conflict("limits: {}\n", "limit: {}\n") + "\n" + conflict("", "rules: 4\n"),
}


def findings(path: str, text: str) -> tuple[Document, tuple[Finding, ...]]:
    document = Document.open(f"file:///w/{path}", text)
    return document, Checker().findings(Workspace.of(Roots("/w"), [document]), document)


@pytest.mark.parametrize("path", FILES)
def test_a_conflict_is_one_finding_and_nothing_is_said_about_what_it_holds(path: str) -> None:
    document, found = findings(path, FILES[path])
    conflicts = document.tree.conflicts
    told = [one for one in found if "merge conflict" in one.message]
    assert [(one.span.start.line, one.span.end.line) for one in told] == [(one.first, one.last) for one in conflicts]
    assert [one for one in found if one not in told and any(c.holds(one.span.start.line) for c in conflicts)] == []


def test_what_follows_a_conflict_is_checked_and_known() -> None:
    document, found = findings("flow.yaml", FLOW)
    assert [one.name for one in document.elements] == ["draft", "post"]
    assert [one.rule for one in found] == ["WF010", "WF503"]


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Accept the current change", (8, 10)),
        ("Accept the incoming change", (13, 15)),
        ("Accept both changes", (8, 10, 13, 15)),
    ],
)
def test_a_fix_keeps_one_side_or_both(title: str, kept: tuple[int, ...], eol: str) -> None:
    document, found = findings("flow.yaml", FLOW.replace("\n", eol))
    [fix] = [fix for one in found if one.rule == "WF010" for fix in one.fixes if fix.title == title]
    lines = FLOW.split("\n")
    sides = [line for first, end in zip(kept[::2], kept[1::2], strict=True) for line in lines[first:end]]
    expected = eol.join([*lines[:7], *sides, *lines[16:]])
    assert str(applied(document, fix.edits(document)).text) == expected


def test_a_marker_that_is_left_over_is_removed() -> None:
    document, found = findings("flow.yaml", FLOW + ">>>>>>> longer\n")
    [fix] = [fix for one in found if "left over" in one.message for fix in one.fixes]
    assert str(applied(document, fix.edits(document)).text) == FLOW


def test_nobody_but_a_person_chooses_a_side() -> None:
    document, _ = findings("flow.yaml", FLOW)
    fixed = fix_document(Checker(), Workspace.of(Roots("/w"), [document]), document, True)
    assert len(fixed.document.tree.conflicts) == 1


def test_a_file_with_a_conflict_is_not_run() -> None:
    refusals = read_workflow(FLOW.replace("    colour: red\n", "").replace("{{step.drafd}}", ""))
    assert isinstance(refusals, list)
    assert Refusal("WF010", refusals[0].message, refusals[0].span) in refusals
    assert "keep the current text (`HEAD`), the incoming text (`longer`)" in refusals[0].message
