"""A file that was checked in another thread, before somebody opened it: the same findings, also after edits."""

from __future__ import annotations

from threading import Thread

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.text.position import Position, Span

FLOW = """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
execution: {provider: ollama, model: llama3.2}
steps:
  - name: draft
    run: Write about {{input}}
  - name: review
    needs: [drift]
    run: Review {{draft}} and {{nothing}}
"""


def world() -> tuple[Workspace, Document]:
    document = Document.open("file:///r/flow.yaml", FLOW)
    return Workspace.of(Roots("/r"), [document]), document


def test_what_was_found_beside_is_taken_over() -> None:
    workspace, document = world()
    checker = Checker()
    other = checker.beside(workspace)
    thread = Thread(target=other.findings, args=(workspace, document))
    thread.start()
    thread.join(60)
    checker.take_over(other, document.uri)
    opened = document.at_version(7)
    now = workspace.with_document(opened)
    found = checker.findings(now, opened)
    assert [one.rule for one in found] == [one.rule for one in Checker().findings(*world())]
    assert opened.version == 7
    at = Position(8, 16)
    edited = opened.edit(Span(Position(8, 13), at), "a", 8)
    after = checker.findings(now.with_document(edited), edited)
    fresh = Document.open(edited.uri, str(edited.text))
    again = Checker().findings(Workspace.of(Roots("/r"), [fresh]), fresh)
    assert [(one.rule, one.span, one.message) for one in after] == [(one.rule, one.span, one.message) for one in again]


def test_what_this_one_knows_stays() -> None:
    workspace, document = world()
    checker = Checker()
    other = checker.beside(workspace)
    other.findings(workspace, document)
    edited = document.edit(Span(Position(8, 13), Position(8, 14)), "a", 2)
    newer = workspace.with_document(edited)
    found = checker.findings(newer, edited)
    checker.take_over(other, document.uri)
    assert checker.findings(newer, edited) is not None
    assert [one.message for one in checker.findings(newer, edited)] == [one.message for one in found]


def test_other_rules_are_not_taken_over() -> None:
    workspace, document = world()
    checker = Checker(disable=["WF301"])
    other = Checker().beside(workspace)
    other.findings(workspace, document)
    checker.findings(workspace, document)
    checker.forget(document.uri)
    checker.take_over(other, document.uri)
    assert "WF301" not in [one.rule for one in checker.findings(workspace, document)]


def test_of_what_nobody_looked_at_nothing_is_taken_over() -> None:
    workspace, document = world()
    checker = Checker()
    checker.take_over(checker.beside(workspace), document.uri)
    assert [one.rule for one in checker.findings(workspace, document)] == ["WF103", "WF301", "WF502"]
