"""Files that workflows name: inside of the workspace, nothing hidden, nothing that holds keys."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.capabilities.guard import permitting
from loop_ls.engine.capabilities.values import Capabilities, WritesFile
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.ports import Failure

needs_owners = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")


def _of_another_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        os.chown(folder, 4321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)


@pytest.fixture
def project(tmp_path: Path) -> ProjectFiles:
    (tmp_path / "secret.txt").write_text("key")
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "near.txt").write_text("near")
    (root / "far.txt").write_text("\ufefffar")
    return ProjectFiles.of(str(root), {})


def test_WB_159_a_file_is_looked_for_beside_the_workflow_then_in_the_root(project: ProjectFiles) -> None:
    assert project.read("file://near.txt", "sub", "items file") == "near"
    assert project.read("far.txt", "sub", "items file") == "far"


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "/outputs/../../etc/passwd", "sub", "gone.txt"])
def test_WB_159_a_file_outside_of_the_workspace_is_not_read(project: ProjectFiles, path: str) -> None:
    with pytest.raises(Failure, match="items file not found"):
        project.read(f"file://{path}", "", "items file")


@pytest.mark.parametrize("name", [".env", ".env.local", ".git/config", ".ENV", ".Git/config"])
def test_WB_159_nothing_that_holds_keys_is_read(project: ProjectFiles, name: str) -> None:
    path = project.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("KEY=1")
    with pytest.raises(Failure, match="items file not found"):
        project.read(name, "", "items file")


def test_WB_159_a_link_that_leads_out_of_the_workspace_is_not_followed(project: ProjectFiles) -> None:
    (project.root / "inside.txt").symlink_to(project.root.parent / "secret.txt")
    with pytest.raises(Failure, match="in the workspace"):
        project.read("file://inside.txt", "", "items file")
    with pytest.raises(Failure, match="outside"):
        project.write("inside.txt", "", "x", "output file")


def test_WB_159_writing_makes_folders_and_tells_the_path(project: ProjectFiles) -> None:
    assert project.write("out/vectors.json", "sub", "[1]", "output file") == "sub/out/vectors.json"
    assert (project.root / "sub/out/vectors.json").read_text() == "[1]"


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", ".git/hooks/pre-commit", "a/.hidden", ".GIT/x", "/outputs/../x", "a\0b", "sub"]
)
def test_WB_159_nothing_is_written_outside_or_hidden(project: ProjectFiles, path: str) -> None:
    with pytest.raises(Failure):
        project.write(path, "", "x", "output file")


@pytest.mark.parametrize("written", ["out", "./out/deep", "/tmp/mcp-outputs", None, 3, " "])
def test_WB_159_outputs_have_a_folder_of_their_own(tmp_path: Path, written: Any) -> None:
    found = ProjectFiles.of(str(tmp_path), {"outputsDir": written}).outputs
    assert found.is_relative_to(tmp_path / "out") or found.name == "mcp-outputs"


@pytest.mark.parametrize(
    "written", ["/tmp", "/etc", "..", "../..", ".", "a/..", "/", "out/../../x", ".git", "a/.B", "a\0b"]
)
def test_WB_159_no_other_folder_is_taken_for_outputs(tmp_path: Path, written: str) -> None:
    (tmp_path / "project").mkdir()
    with pytest.raises(Failure, match="`outputsDir` cannot be"):
        ProjectFiles.of(str(tmp_path / "project"), {"outputsDir": written})


@pytest.fixture
def data(project: ProjectFiles) -> Path:
    """The data folder of an engine, inside of the workspace: a setting or a variable may say so."""
    folder = project.root / "out" / "engine"
    folder.mkdir(parents=True)
    for name in ("engine.lock", "consent.key", "journal.db"):
        (folder / name).write_text("of the engine")
    return folder


@pytest.mark.parametrize("written", ["out/engine", "./out/engine/outputs", "out/../out/engine", "link"])
def test_WB_159_outputs_are_not_what_an_engine_keeps(project: ProjectFiles, data: Path, written: str) -> None:
    (project.root / "link").symlink_to(data)
    with pytest.raises(Failure, match="the data folder of the engine"):
        ProjectFiles.of(str(project.root), {"outputsDir": written})


@pytest.mark.parametrize("path", ["out/engine/consent.key", "/outputs/engine/journal.db", "out/link/consent.key"])
def test_WB_159_what_an_engine_keeps_is_neither_read_nor_written(project: ProjectFiles, data: Path, path: str) -> None:
    (data.parent / "link").symlink_to("engine")
    files = ProjectFiles.of(str(project.root), {"outputsDir": "out"})
    with pytest.raises(Failure, match="not found"):
        files.read(f"file://{path}", "", "items file")
    with pytest.raises(Failure, match="the data folder of the engine"):
        files.write(path, "", "x", "output file")
    assert (data / "consent.key").read_text() == "of the engine"


def test_WB_159_a_lock_of_another_program_keeps_nobody_away(project: ProjectFiles) -> None:
    (project.root / "engine.lock").write_text("")
    assert project.read("file://far.txt", "", "items file") == "far"


def test_WB_159_outputs_are_no_link_that_leads_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "out").symlink_to(tmp_path)
    with pytest.raises(Failure, match="inside the workspace"):
        ProjectFiles.of(str(tmp_path / "project"), {"outputsDir": "out"})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "mcp-outputs").symlink_to("/etc")
    with pytest.raises(Failure, match="a link"):
        ProjectFiles.of(str(tmp_path / "project"), {})


@pytest.fixture
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that outputs usually have, among temporary files where everybody may lay one."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / "mcp-outputs"


@needs_owners
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o775])
def test_WB_159_outputs_among_temporary_files_are_ours(project: ProjectFiles, usual: Path, mode: int) -> None:
    usual.mkdir()
    usual.chmod(mode)
    (usual / "a.txt").write_text("a")
    files = ProjectFiles.of(str(project.root), {})
    assert files.read("file:///outputs/a.txt", "", "items file") == "a"
    with permitting(lambda: Capabilities.of([WritesFile(str(usual))])):
        assert files.write("/outputs/b.txt", "", "b", "output file") == "b.txt"


@needs_owners
def test_WB_159_outputs_of_another_user_are_neither_read_nor_written(
    project: ProjectFiles, usual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual.mkdir()
    _of_another_user(usual, monkeypatch)
    for settings in ({}, {"outputsDir": str(usual)}):
        with pytest.raises(Failure, match="it belongs to another user"):
            ProjectFiles.of(str(project.root), settings)


@needs_owners
def test_WB_159_outputs_into_which_everybody_may_write_are_not_taken(project: ProjectFiles, usual: Path) -> None:
    usual.mkdir()
    usual.chmod(0o1777)
    with pytest.raises(Failure, match="anyone can write to it"):
        ProjectFiles.of(str(project.root), {})


@needs_owners
def test_WB_159_a_folder_that_another_user_lays_there_in_the_meantime_is_not_written_to(
    project: ProjectFiles, usual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ProjectFiles.of(str(project.root), {})
    usual.mkdir()
    _of_another_user(usual, monkeypatch)
    with permitting(lambda: Capabilities.of([WritesFile(str(usual))])), pytest.raises(Failure, match="another user"):
        files.write("/outputs/b.txt", "", "b", "output file")
    assert list(usual.iterdir()) == []


@needs_owners
def test_WB_159_outputs_that_nobody_made_are_made_for_us_alone(project: ProjectFiles, usual: Path) -> None:
    with permitting(lambda: Capabilities.of([WritesFile(str(usual))])):
        ProjectFiles.of(str(project.root), {}).write("/outputs/deep/b.txt", "", "b", "output file")
    assert usual.stat().st_mode & 0o077 == 0
