"""The callers of a workflow are looked for again only when one of them, or a name, changed."""

from __future__ import annotations

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.workspace_queries import Neighbours
from loop_ls.text.position import Position, Span

HEAD = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\nexecution: {{provider: ollama, model: llama3.2}}\n"
CALLEE = HEAD.format("callee") + "steps:\n  - {name: write, run: 'Write {{draft}}.'}\n"
CALLER = HEAD.format("caller") + (
    "steps:\n  - {name: one, run: Say it}\n  - {name: two, template: {name: callee, with: {draft: x}}}\n"
    "  - {name: three, run: 'Use {{two}} and {{one}}', needs: [two]}\n"
)


class Counted:
    """A checker of a called workflow, with how often its callers were looked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.searches = 0
        plain = Workspace.callers

        def callers(workspace: Workspace, document: Document) -> object:
            self.searches += 1
            return plain(workspace, document)

        monkeypatch.setattr(Workspace, "callers", callers)
        self.checker = Checker()
        files = {"callee": CALLEE, "caller": CALLER}
        self.workspace = Workspace.of(
            Roots("/w"), [Document.open(f"file:///w/{name}.yaml", text) for name, text in files.items()]
        )
        self.told = self._told()

    def _told(self) -> list[str]:
        found = self.checker.findings(self.workspace, self.workspace.documents["file:///w/callee.yaml"])
        return [one.message for one in found]

    def edit(self, name: str, old: str, new: str) -> int:
        """How often the callers are looked for because of this edit."""
        document = self.workspace.documents[f"file:///w/{name}.yaml"]
        text = document.text
        line = next(at for at, written in enumerate(text.lines) if old in written)
        column = text.line(line).index(old)
        span = Span(Position(line, column), Position(line, column + len(old)))
        self.workspace = self.workspace.with_document(document.edit(span, new))
        before, self.searches = self.searches, 0
        self.told = self._told()
        found, self.searches = self.searches, before
        fresh = Checker().findings(self.workspace, self.workspace.documents["file:///w/callee.yaml"])
        assert self.told == [one.message for one in fresh]
        return found


def test_a_key_in_a_called_workflow_looks_for_no_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)
    assert counted.edit("callee", "Write", "Rewrite") == 0
    assert counted.edit("callee", "{{draft}}", "{{draft}} {{more}}") == 0


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("caller", "draft: x", "other: x"),
        ("caller", "name: callee", "name: calle"),
        ("caller", "name: caller", "name: other"),
        ("callee", "name: callee", "name: gone"),
    ],
)
def test_a_change_of_a_caller_or_a_name_is_seen(monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    counted = Counted(monkeypatch)
    counted.edit("callee", "{{draft}}", "{{draft}} {{more}}")
    assert counted.edit(name, old, new) > 0


def test_a_caller_reads_the_result_by_the_steps_that_mention_it(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Counted(monkeypatch).workspace
    checker = Checker()
    callee = workspace.documents["file:///w/callee.yaml"]
    checker.findings(workspace, callee)
    neighbours = checker._neighbours
    assert isinstance(neighbours, Neighbours)
    [call] = neighbours.callers(callee).calls
    assert call.taken_as == ("three",)
