"""What the pages for users promise about commands, hooks and builds."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from loop_ls.cli.main import COMMANDS, main
from loop_ls.formats.schema.published import FORMATS
from loop_ls.rules.docs.render import PAGES

TOP = Path(__file__).resolve().parents[2]
README = (TOP / "README.md").read_text("utf-8")
COMMAND_PAGE = (TOP / "docs" / "reference" / "commands.md").read_text("utf-8")
BUILD_PAGE = (TOP / "docs" / "guides" / "ci.md").read_text("utf-8")
HOOKS: list[dict[str, Any]] = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text("utf-8"))


def example(name: str) -> Any:
    text = BUILD_PAGE.partition(f"<!-- example: {name} -->\n")[2].partition("<!-- end -->")[0]
    return yaml.load(text.strip().removeprefix("```yaml").removesuffix("```"), yaml.BaseLoader)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_table(command: str) -> None:
    assert re.search(rf"^\| `loop-ls {command}\b", COMMAND_PAGE, re.MULTILINE)


def test_every_command_has_help_and_a_module(capfd: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        with pytest.raises(SystemExit) as caught:
            main([command, "--help"])
        assert caught.value.code == 0
        assert capfd.readouterr().out.startswith(f"usage: loop-ls {command}")


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_hooks_call_commands_that_exist(
    hook: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(hook["entry"])
    assert program == "loop-ls"
    assert hook["language"] == "python"
    assert main(words) == 0


def test_the_example_of_pre_commit_names_a_hook() -> None:
    ids = {hook["id"] for repo in example("pre-commit")["repos"] for hook in repo["hooks"]}
    assert ids <= {hook["id"] for hook in HOOKS}


def test_the_commands_of_the_action_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [step["run"] for step in example("action")["jobs"]["check"]["steps"] if "run" in step]
    ours = [shlex.split(command)[1:] for command in commands if command.startswith("loop-ls ")]
    assert ours == [["check", "--format", "github"]]
    assert main(ours[0]) == 0


def test_links_lead_to_files() -> None:
    assert len(README.splitlines()) <= 200
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (TOP / target).exists(), target
    assert (PAGES / "settings.md").exists()
    assert {f"{name}.schema.json" for name in FORMATS} == {path.name for path in (TOP / "schemas").iterdir()}
