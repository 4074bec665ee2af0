"""Settings that are a link out of their project: whoever wrote the project would have a file of the user quoted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CliProject

SECRET = "swordfish-9934"


def planted(project: CliProject, tmp_path: Path, where: str, name: str = ".loop-ls.yaml") -> Path:
    """A file of the user, and a link to it in the project."""
    outside = tmp_path / "home" / "credentials.yaml"
    outside.parent.mkdir()
    outside.write_text(f"{SECRET}: [unclosed\n")
    link = project.root / where / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    return outside


@pytest.mark.parametrize("where", ["", "part/of/it"])
@pytest.mark.parametrize("words", [("check",), ("check", "--format", "json"), ("fix", "--diff"), ("doctor",)])
def test_settings_that_are_a_link_out_of_the_project_are_not_read(
    alone: CliProject, tmp_path: Path, where: str, words: tuple[str, ...]
) -> None:
    outside = planted(alone, tmp_path, where)
    done = alone.call(*words)
    assert SECRET not in done.stdout + done.stderr
    if words[0] == "check":
        assert "link to a place outside the project" in done.stdout
        assert done.returncode == 1
    assert outside.read_text().startswith(SECRET)


def test_nor_are_they_read_for_a_start(alone: CliProject, tmp_path: Path) -> None:
    planted(alone, tmp_path, "")
    done = alone.call("run", "develop.yaml", "--input", "x", "--json")
    assert SECRET not in done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert (answer["ok"], answer["code"]) == (False, "file_has_errors")
    assert "link to a place outside the project" in answer["message"]


def test_a_config_file_of_the_other_tool_is_no_other(alone: CliProject, tmp_path: Path) -> None:
    outside = tmp_path / "home" / "config.yaml"
    outside.parent.mkdir()
    outside.write_text("execution: {provider: openai, model: swordfish-9934}\n")
    (alone.root / "config.yaml").symlink_to(outside)
    done = alone.call("check")
    assert SECRET not in done.stdout + done.stderr


def test_a_link_inside_of_the_project_or_its_repository_is_read(alone: CliProject) -> None:
    (alone.root / "shared").mkdir()
    (alone.root / "shared" / "settings.yaml").write_text("limits: {maxIterations: none}\n")
    (alone.root / ".loop-ls.yaml").symlink_to("shared/settings.yaml")
    assert "maxIterations" in alone.call("check").stdout
    (alone.root / ".git").mkdir()
    (alone.root / "part").mkdir()
    (alone.root / "part" / ".loop-ls.yaml").symlink_to("../shared/settings.yaml")
    assert "part/.loop-ls.yaml" in alone.call("check").stdout
