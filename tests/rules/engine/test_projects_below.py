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
