"""What a checker keeps from one version to the next: enough to work once, and nothing of what is gone."""

from __future__ import annotations

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.object_files import WholeFiles
from loop_ls.rules.engine.rule_selection import Selection, plan
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.engine.work_unit import Unit
from loop_ls.testing.fixture import HEAD, MODEL
from loop_ls.text.position import Position, Span

FLOW = (
    HEAD.format(name="flow")
    + MODEL
    + "steps:\n  - {name: a, run: '{{input}}'}\n"
    + "  - {name: b, needs: [a], template: {name: draft, with: {input: '{{a}}'}}}\n"
)
DRAFT = HEAD.format(name="draft") + MODEL + "steps:\n  - {name: write, run: '{{inptu}}'}\n"
ASSISTANT = "name: Fixer\npersona: You repair.\nmaxIteratons: 3\n"
TEXTS = {"flow.yaml": FLOW, "draft.yaml": DRAFT, "team.assistant.yaml": ASSISTANT}


@pytest.fixture
def workspace() -> Workspace:
    return Workspace.of(Roots("/ws"), [Document.open(f"file:///ws/{path}", text) for path, text in TEXTS.items()])


@pytest.mark.parametrize("path", TEXTS)
def test_of_a_file_that_is_forgotten_nothing_is_kept(workspace: Workspace, path: str) -> None:
    checker, uri = Checker(), f"file:///ws/{path}"
    for document in workspace.documents.values():
        checker.findings(workspace, document)
    remembered = [checker._sessions, checker._errors, checker._summaries._known]
    remembered.append(checker._wholes._answers if checker._wholes is not None else {})
    assert any(uri in one for one in remembered)
    checker.forget(uri)
    assert not any(uri in one for one in remembered)


def test_a_check_of_all_files_keeps_none_of_them(workspace: Workspace) -> None:
    checker = Checker()
    kept = [len(checker._sessions) for _ in checker.check_all(workspace)]
    assert len(kept) == len(TEXTS)
    assert max(kept) <= 1  # that of the called one, for its errors
    assert checker._sessions == {}


def test_nothing_that_an_edit_took_away_is_asked_again(workspace: Workspace) -> None:
    checker = Checker()
    document = workspace.documents["file:///ws/flow.yaml"]
    checker.findings(workspace, document)
    session = checker._sessions[document.uri]
    known = {unit for readers in session._readers.values() for unit in readers}
    last = len(document.text.lines) - 2
    edited = document.edit(Span(Position(last, 0), Position(last + 1, 0)), "")
    checker.findings(workspace.with_document(edited), edited)
    left = {unit for units in session._elements.values() for unit in units}
    gone = {unit for unit in known if unit.view is not None} - left - set(session._whole)
    gone -= {unit for units in session._tops.values() for unit in units}
    assert gone
    for kept in (*session._readers.values(), session._late, session._stale_late, session._speaking):
        assert not gone & kept
    assert all(session._readers.values())


def test_of_the_world_that_was_asked_nothing_is_kept(workspace: Workspace) -> None:
    checker = Checker(("compat", "pedantic"))
    document = workspace.documents["file:///ws/flow.yaml"]
    checker.findings(workspace, document)
    views = {unit.view for readers in checker._sessions[document.uri]._readers.values() for unit in readers}
    assert len(views) > 1
    assert [view for view in views if view is None or view._world is not None] == []


def test_nothing_runs_twice_for_one_version(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Unit] = []
    run = Unit.run
    monkeypatch.setattr(Unit, "run", lambda unit, *of: (ran.append(unit), run(unit, *of))[1])
    checker = Checker()
    document = workspace.documents["file:///ws/flow.yaml"]
    checker.findings(workspace, document)
    assert len(ran) == len(set(ran))
    ran.clear()
    edited = document.edit(Span(Position(6, 11), Position(6, 12)), "c")
    checker.findings(workspace.with_document(edited), edited)
    assert len(ran) == len(set(ran)) > 0
    ran.clear()
    checker.findings(workspace.with_document(edited), edited)
    assert ran == []


def test_what_has_just_run_is_not_asked_whether_it_is_still_true(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Unit] = []
    asked: list[View] = []
    run, still_true = Unit.run, View.still_true
    checker = Checker()
    document = workspace.documents["file:///ws/flow.yaml"]
    checker.findings(workspace, document)
    monkeypatch.setattr(Unit, "run", lambda unit, *of: (ran.append(unit), run(unit, *of))[1])
    monkeypatch.setattr(View, "still_true", lambda view, *of: (asked.append(view), still_true(view, *of))[1])
    edited = document.edit(Span(Position(6, 11), Position(6, 12)), "c")
    checker.findings(workspace.with_document(edited), edited)
    assert ran
    assert asked
    assert not {unit.view for unit in ran} & set(asked)


def test_a_file_that_is_no_workflow_is_checked_once_for_each_version(workspace: Workspace) -> None:
    files, selection = WholeFiles(), Selection.of()
    document = workspace.documents["file:///ws/team.assistant.yaml"]
    found = files.findings(selection, workspace, document)
    assert [one.rule for one in found] == ["AL003"]
    assert files.findings(selection, workspace, document) is found
    quiet = files.findings(Selection.of(disable=["AL003"]), workspace, document)
    assert quiet == ()
    edited = Document.open(document.uri, ASSISTANT.replace("Iteratons", "Iterations"))
    assert files.findings(selection, workspace, edited) == ()


def test_the_choice_of_rules_for_sets_of_keys_does_not_grow_without_end() -> None:
    chosen = plan(Selection.of())
    first = chosen.local_on("step", ("0",))
    assert chosen.local_on("step", ("0",)) is first
    for number in range(2500):
        chosen.local_on("step", (str(number),))
    assert 0 < len(chosen.picked) <= 2001
