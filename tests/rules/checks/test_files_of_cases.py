"""Files that test cases name: looked for where a run looks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker

HEAD = "$schema: workflow/v2.0\nname: report\nversion: 1.0.0\ndescription: Reports\n"
FLOW = HEAD + 'execution: {provider: ollama, model: llama3.2}\nsteps: [{name: write, run: "Write about {{input}}"}]\n'


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("file://cases/long.txt", False),
        ("file://below.txt", False),
        ("file:///outputs/made.txt", False),
        ("file://cases", True),
        ("file://../outside.txt", True),
        ("file://gone.txt", True),
        ("plain text", False),
    ],
)
def test_CK021_a_file_of_a_case_is_looked_for_beside_it_and_in_the_workspace(
    named: str, found: bool, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    (root / "flows" / "cases").mkdir(parents=True)
    for name in ("flows/cases/long.txt", "below.txt", "../outside.txt"):
        (root / name).write_text("the sea")
    (root / "flows/report.yaml").write_text(FLOW)
    cases = f"tests: [{{name: sea, vars: {{input: '{named}'}}, assert: [{{type: is-json}}]}}]\n"
    files = {"report.yaml": FLOW, "report.cases.yaml": cases}
    documents = [
        Document.open((root / "flows" / name).as_uri(), text, path=str(root / "flows" / name))
        for name, text in files.items()
    ]
    told = Checker().findings(Workspace.of(Roots(str(root)), documents), documents[1])
    assert [one.rule for one in told] == (["CK021"] if found else [])


def test_WF218_a_skill_is_one_where_its_file_is(tmp_path: Path) -> None:
    (tmp_path / "skills" / "tables").mkdir(parents=True)
    (tmp_path / "skills" / "tables" / "SKILL.md").write_text("Write tables.")
    text = FLOW.replace("llama3.2}", "llama3.2, skills: [tables, charts]}").replace(
        "run:", "skills: [tables, maps], run:"
    )
    document = Document.open((tmp_path / "report.yaml").as_uri(), text, path=str(tmp_path / "report.yaml"))
    told = Checker().findings(Workspace.of(Roots(str(tmp_path)), [document]), document)
    assert [one.message.partition(";")[0] for one in told if one.rule == "WF218"] == [
        "Unknown skill `charts`",
        "Unknown skill `maps`",
    ]


def test_WF218_where_there_is_no_folder_of_skills_they_are_kept_elsewhere(tmp_path: Path) -> None:
    text = FLOW.replace("run:", "skills: [maps], run:")
    document = Document.open((tmp_path / "report.yaml").as_uri(), text, path=str(tmp_path / "report.yaml"))
    workspace = Workspace.of(Roots(str(tmp_path)), [document])
    assert "WF218" not in {one.rule for one in Checker().findings(workspace, document)}
    (tmp_path / "skills").mkdir()
    assert "WF218" in {one.rule for one in Checker().findings(workspace, document)}


def test_WF218_a_server_of_that_name_has_the_skills() -> None:
    text = FLOW.replace("run:", "skills: [maps], run:")
    document = Document.open("file:///w/report.yaml", text)
    for servers, found in (({}, True), ({"skills": {"command": "serve"}}, False)):
        workspace = Workspace.of(Roots("/w"), [document], settings_of({"servers": servers})[0])
        told = {one.rule for one in Checker().findings(workspace, document)}
        assert ("WF218" in told) is found
