"""`loop-ls new`: what it writes checks clean in every profile that is on by default, and runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from loop_ls.cli.commands.new import KINDS, snake
from loop_ls.cli.main import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_checks_clean(here: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", kind, "my_first"]) == 0
    printed = capfd.readouterr().out.splitlines()
    for path in KINDS[kind].values():
        assert path.format(name="my_first") in printed
    assert main(["check", "--format", "json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["findings"] == []
    assert data["files"] == len(KINDS[kind])


def test_all_kinds_go_together_in_one_workspace(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        assert main(["new", kind, kind.replace("-", "_"), "--into", "deep/er"]) == 0
    capfd.readouterr()
    assert main(["check", "deep", "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["findings"] == []


def test_nothing_is_written_over(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "mine_draft.yaml").write_text("mine")
    assert main(["new", "loop", "mine"]) == 2
    assert "mine_draft.yaml already exists" in capfd.readouterr().err
    assert not (here / "mine.yaml").exists()
    assert (here / "mine_draft.yaml").read_text() == "mine"


@pytest.mark.parametrize(("name", "better"), [("MyLoop", "my_loop"), ("a-b", "a_b"), ("../up", "up"), ("1x", "x")])
def test_a_name_that_is_none_gets_a_better_one(
    here: Path, name: str, better: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "workflow", name]) == 2
    assert f", such as {better}" in capfd.readouterr().err
    assert snake(name) == better
    assert list(here.iterdir()) == []


def test_a_name_that_no_file_can_have_is_one_sentence(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "workflow", "x" * 300]) == 2
    assert capfd.readouterr().err.startswith(f"loop-ls: {'x' * 300}.yaml cannot be written: ")


def test_a_missing_name_is_asked_for(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "loop"]) == 2
    assert "such as loop-ls new loop my_loop" in capfd.readouterr().err
    assert main(["new", "settings"]) == 0


@pytest.mark.parametrize("kind", ["workflow", "loop"])
def test_what_is_written_runs_with_mock(alone: Any, kind: str) -> None:
    assert alone.call("new", kind, "fresh").returncode == 0
    ended = alone.call("run", "fresh.yaml", "--mock", "--input", "a wish")
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("kind", ["workflow", "loop"])
def test_a_loop_of_ones_own_needs_no_key_with_scripted_answers(alone: Any, kind: str) -> None:
    (alone.root / ".loop-ls.yaml").unlink(missing_ok=True)
    made = alone.call("new", kind, "fresh", "--provider", "scripted", "--into", "own")
    assert made.returncode == 0 and "no key needed: loop-ls run own/fresh.yaml" in made.stdout
    assert "no findings" in alone.call("check", "own").stdout
    ended = alone.call("run", "own/fresh.yaml", "--input", "a wish")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "example" in ended.stdout


def test_a_loop_for_the_model_of_this_machine_names_it_and_its_limits(here: Path) -> None:
    assert main(["new", "loop", "fresh", "--provider", "local"]) == 0
    for name in ("fresh.yaml", "fresh_draft.yaml"):
        execution = yaml.safe_load((here / name).read_text())["execution"]
        assert execution == {"provider": "local", "model": "smollm2", "temperature": 0, "max_tokens": 80}
    assert yaml.safe_load((here / ".loop-ls.yaml").read_text())["providers"] == {"local": {"kind": "local"}}


def test_a_provider_and_model_of_ones_choice_stand_in_every_file(here: Path) -> None:
    assert main(["new", "loop", "fresh", "--provider", "openai", "--model", "gpt-5"]) == 0
    for name in ("fresh.yaml", "fresh_draft.yaml"):
        assert yaml.safe_load((here / name).read_text())["execution"] == {"provider": "openai", "model": "gpt-5"}
    assert not (here / ".loop-ls.yaml").exists()


def test_settings_that_are_there_stay_and_are_told_what_to_add(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / ".loop-ls.yaml").write_text("limits: {maxIterations: 4}\n")
    assert main(["new", "loop", "a", "--provider", "local", "--into", "deep"]) == 0
    told = capfd.readouterr().out
    assert f"Before you run it, add to {here / '.loop-ls.yaml'} under `judge`: local: true\n" in told
    assert "providers" not in told and "deep/.loop-ls.yaml" not in told
    (here / ".loop-ls.yaml").write_text("judge: {local: true}\nproviders: {local: {kind: openai}}\n")
    assert main(["new", "loop", "b", "--provider", "local"]) == 0
    assert "under `providers`: local: {kind: local}\n" in capfd.readouterr().out
    assert main(["new", "loop", "c", "--provider", "scripted"]) == 0
    assert "Before you run it" not in capfd.readouterr().out


def test_an_assistant_without_a_key_ends_by_its_pattern(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "assistant", "fresh", "--provider", "scripted"]) == 0
    found = yaml.safe_load((here / "fresh.assistant.yaml").read_text())
    said = yaml.safe_load((here / "fresh.assistant.answers.yaml").read_text())["answers"][0]["say"]
    assert [bool(re.search(found["loopCriteria"]["value"], one)) for one in said] == [False, True]
    capfd.readouterr()
    (here / ".loop-ls.yaml").write_text("limits: {maxIterations: 4}\n")
    assert main(["new", "assistant", "more", "--provider", "scripted", "--approval"]) == 0
    told = capfd.readouterr().out
    assert "under `providers`: claude-code: {kind: scripted}" in told and "under `assistants`: revise: true" in told
    (here / ".loop-ls.yaml").write_text("providers: {claude-code: {kind: agent-cli, cli: [codex]}}\n")
    assert main(["new", "assistant", "other", "--provider", "scripted"]) == 0
    assert "under `providers`: claude-code: {kind: scripted}" in capfd.readouterr().out


def test_a_missing_name_is_said_with_an_example(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "role-loop"]) == 2
    assert "NAME is missing, such as loop-ls new role-loop my_role_loop" in capfd.readouterr().err
    assert main(["new", "loop", "a", "--approval"]) == 2
    assert "--approval is only for assistants" in capfd.readouterr().err
    assert list(here.iterdir()) == []


def test_a_provider_is_no_matter_of_other_kinds(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "assistant", "a", "--provider", "local"]) == 2
    assert "only for workflows and loops" in capfd.readouterr().err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("model", ["a: b", "#x", "true", "1e5", "- x", "x\nenv: {K: v}", "'", "{a}", "qwen2.5:32b"])
def test_a_model_stands_in_the_file_as_it_was_named(here: Path, model: str) -> None:
    assert main(["new", "workflow", "fresh", "--provider", "ollama", "--model", model]) == 0
    read = yaml.safe_load((here / "fresh.yaml").read_text())
    assert read["execution"] == {"provider": "ollama", "model": model}
    assert "env" not in read


@pytest.mark.parametrize("link", ["fresh.yaml", "loops"])
def test_nothing_is_written_where_a_link_leads_out_of_the_folder(
    here: Path, tmp_path_factory: pytest.TempPathFactory, capfd: pytest.CaptureFixture[str], link: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (here / link).symlink_to(outside / "new.yaml" if link.endswith(".yaml") else outside)
    assert main(["new", "workflow" if link.endswith(".yaml") else "role-loop", "fresh"]) == 2
    assert "a link points to" in capfd.readouterr().err
    assert list(outside.iterdir()) == []
