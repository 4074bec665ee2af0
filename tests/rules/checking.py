"""Fixtures to findings: the rules on a small workspace that exists in memory only."""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.formats.settings.model import Settings
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding
from loop_ls.testing.fixture import Fixture, differences, read_fixture

ROOT = "/ws"


def workspace_of(fixture: Fixture, settings: Settings | None = None) -> Workspace:
    documents = [Document.open(f"file://{ROOT}/{path}", text) for path, text in fixture.texts.items()]
    return Workspace.of(Roots(ROOT), documents, settings)


def document_of(workspace: Workspace, path: str) -> Document:
    return workspace.documents[f"file://{ROOT}/{path}"]


def findings_of(fixture: Fixture, enable: Iterable[str] = (), **more: Settings) -> dict[str, tuple[Finding, ...]]:
    workspace = workspace_of(fixture, **more)
    checker = Checker(enable)
    return {path: checker.findings(workspace, document_of(workspace, path)) for path in fixture.texts}


def check_findings(source: str, enable: Iterable[str] = (), path: str = "flow.yaml", **more: Settings) -> None:
    """Every note of the fixture is met and nothing else is found."""
    fixture = read_fixture(source, path)
    found = findings_of(fixture, enable, **more)
    wrong = [line for file in fixture.files for line in differences(file, found[file.path])]
    assert not wrong, "\n" + "\n".join(wrong)
