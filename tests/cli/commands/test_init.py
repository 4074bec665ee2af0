"""`loop-ls init`: a folder that checks clean and runs at once; what is there already stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from loop_ls.cli.commands.new import WHO_ANSWERS
from loop_ls.cli.main import main
from tests.cli.conftest import CliProject


def test_UP_90_an_empty_folder_has_a_loop_that_runs(alone: CliProject) -> None:
    made = alone.call("init", "--into", "own")
    assert made.returncode == 0, made.stderr
    lines = made.stdout.splitlines()
    assert {"own/.loop-ls.yaml", "own/first_loop.yaml", "own/first_loop.answers.yaml"} <= set(lines)
    check, run = (line.partition(": ")[2] for line in lines[-2:])
    assert check == "loop-ls check own"
    assert "no findings" in alone.call(*check.split()[1:]).stdout
    assert run == "loop-ls run own/first_loop.yaml --input 'your wish'"
    ended = alone.call("run", "own/first_loop.yaml", "--input", "a wish")
    assert (ended.returncode, "example" in ended.stdout) == (0, True), ended.stderr


@pytest.mark.parametrize("provider", WHO_ANSWERS)
def test_UP_90_every_provider_checks_clean_and_judges_itself(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--provider", provider]) == 0
    capfd.readouterr()
    assert main(["check", "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["findings"] == []
    workflow = yaml.safe_load(Path("first_loop.yaml").read_text())
    judge = yaml.safe_load(Path(".loop-ls.yaml").read_text()).get("judge", {})
    assert workflow["execution"]["provider"] == provider
    assert judge.get("provider", provider) == provider


def test_UP_90_settings_that_are_there_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".loop-ls.yaml").write_text("limits: {maxIterations: 3}\n")
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert main(["init"]) == 2
    told = capfd.readouterr().err
    assert f"{tmp_path / '.loop-ls.yaml'} exists already" in told
    assert "loop-ls new loop NAME --provider scripted" in told
    assert not list(Path().iterdir())


def test_UP_90_a_file_in_the_way_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("first_loop.yaml").write_text("mine")
    assert main(["init"]) == 2
    assert "first_loop.yaml already exists; nothing was written" in capfd.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["first_loop.yaml"]
