"""Which rules are asked where a project lies below another one."""

from __future__ import annotations

from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.projects import Project
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker


def test_a_rule_speaks_where_a_project_below_asks_it() -> None:
    off = settings_of({"rules": {"WF215": "off", "WF217": "off"}})[0]
    on = settings_of({"rules": {"WF217": "off"}})[0]
    document = Document.open("file:///ws/below/flow.yaml", "steps: []")
    workspace = Workspace.of(Roots("/ws"), [document], off, {"/ws/below": Project(Roots("/ws/below"), on)})
    checker = Checker()
    assert not checker.speaks(workspace, "WF215"), "nobody has looked below yet"
    checker.findings(workspace, document)
    assert checker.speaks(workspace, "WF215")
    assert checker.speaks(workspace, "WF202")
    assert not checker.speaks(workspace, "WF217")
    assert checker.speaks(workspace, "WF999"), "nobody knows it any more"


def test_what_was_found_beside_is_taken_over_in_a_project_below() -> None:
    document = Document.open("file:///ws/below/flow.yaml", "$schema: workflow/v2.0\nname: flow\nsteps: []\n")
    none = settings_of({})[0]
    workspace = Workspace.of(Roots("/ws"), [document], none, {"/ws/below": Project(Roots("/ws/below"), none)})
    checker = Checker()
    found = checker.findings(workspace, document)
    checker.forget(document.uri)
    other = checker.beside(workspace)
    other.findings(workspace, document)
    checker.take_over(other, document.uri)
    assert document.uri in checker._nested["/ws/below"]._sessions
    assert checker.findings(workspace, document) == found


def test_of_a_closed_file_of_a_project_below_nothing_is_kept() -> None:
    document = Document.open("file:///ws/below/flow.yaml", "$schema: workflow/v2.0\nname: flow\nsteps: []\n")
    none = settings_of({})[0]
    workspace = Workspace.of(Roots("/ws"), [document], none, {"/ws/below": Project(Roots("/ws/below"), none)})
    checker = Checker()
    checker.findings(workspace, document)
    assert document.uri in checker._nested["/ws/below"]._sessions
    checker.forget(document.uri)
    assert document.uri not in checker._nested["/ws/below"]._sessions
