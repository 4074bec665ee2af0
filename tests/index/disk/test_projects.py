"""The project of a file: the nearest settings upwards, asked in one place by everything that reads settings."""

from __future__ import annotations

import re
from pathlib import Path

from loop_ls.formats.settings.model import Settings
from loop_ls.index.disk.discovery import discover, load_settings
from loop_ls.index.disk.projects import Project, home_of, project_folder
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace

HEAD = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\n"


def write(root: Path, path: str, text: str = "") -> Path:
    found = root / path
    found.parent.mkdir(parents=True, exist_ok=True)
    found.write_text(text)
    return found


def test_the_nearest_settings_upwards_count(tmp_path: Path) -> None:
    write(tmp_path, ".loop-ls.yaml", "judge: {local: true}\n")
    write(tmp_path, "svc/.loop-ls.yaml", "rules: {WF701: error}\n")
    write(tmp_path, "svc/deep/flow.yaml")
    assert project_folder(tmp_path / "svc" / "deep") == f"{tmp_path}/svc"
    assert load_settings(f"{tmp_path}/svc/deep")[0].rules == {"WF701": "error"}
    assert load_settings(f"{tmp_path}/other")[0].judge_locally
    assert home_of(str(tmp_path), "svc/deep/flow.yaml") == f"{tmp_path}/svc"
    assert home_of(f"{tmp_path}/svc/deep", "flow.yaml") == f"{tmp_path}/svc/deep"  # the project begins above


def test_what_lies_above_a_repository_is_not_its_project(tmp_path: Path) -> None:
    write(tmp_path, ".loop-ls.yaml", "judge: {local: true}\n")
    write(tmp_path, "repository/.git/HEAD")
    assert project_folder(tmp_path / "repository" / "flows") is None
    assert not load_settings(f"{tmp_path}/repository")[0].judge_locally


def test_a_project_below_has_a_workspace_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, "svc/.loop-ls.yaml", "workflowRoots: [flows]\n")
    for name in ("main", "svc/flows/a/called", "svc/other"):
        write(tmp_path, f"{name}.yaml", HEAD.format(name.rpartition("/")[2]))
    outer = discover(str(tmp_path)).workspace
    inner = outer.project(f"{tmp_path}/svc/other.yaml")
    assert outer.project(f"{tmp_path}/main.yaml") is outer
    assert set(outer.keys) == {"main", "svc/flows/a/called", "svc/other"}
    assert set(inner.keys) == {"a/called", "other"}


def test_an_edit_reaches_the_workspace_of_the_project_below() -> None:
    project = Project(Roots("/w/svc"), Settings(judge_locally=True))
    one = Document.open("file:///w/svc/one.yaml", HEAD.format("one"))
    outer = Workspace.of(Roots("/w"), [one], None, {"/w/svc": project})
    assert set(outer.project(one.path).keys) == {"one"}
    after = outer.with_document(Document.open(one.uri, HEAD.format("two")))
    assert set(after.project(one.path).keys) == {"two"}
    assert set(after.without(one.uri).project(one.path).keys) == set()
    assert after.project(one.path).settings.judge_locally


def test_settings_files_are_read_in_one_place() -> None:
    """Whoever opens the file of a project on its own would not look upwards."""
    package = Path(__file__).parents[3] / "loop_ls"
    reading = re.compile(r"(read_text|open|_read)\(.*SETTINGS_NAME|\bfile_values\(")
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if reading.search(path.read_text())}
    assert found == {"formats/settings/model.py", "index/disk/discovery.py", "engine/starting/settings_guard.py"}
