"""`loop-ls check --format sarif|github|junit` through the command."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loop_ls.cli.main import main

BAD = """\
$schema: workflow/v2.0
name: bad
version: 1.0.0
description: x
execution: {provider: ollama, model: llama3.2}
steps:
  - name: greet
    rnu: "Greet {{input}}"
"""


@pytest.fixture
def flows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "bad.yaml").write_text(BAD)
    return tmp_path


def test_sarif_has_the_fix_and_paths_as_seen_from_here(flows: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "sarif", "flows"]) == 1
    captured = capfd.readouterr()
    (run,) = json.loads(captured.out)["runs"]
    (result,) = run["results"]
    assert captured.err == ""
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "flows/bad.yaml"
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "flows/bad.yaml"
    assert change["replacements"][0]["insertedContent"]["text"] == "run"


def test_github_has_one_line_for_each_finding_and_nothing_else(flows: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "github", "flows"]) == 1
    captured = capfd.readouterr()
    assert captured.out.startswith("::error file=flows/bad.yaml,line=8,endLine=8,col=5,endColumn=8,title=WF006")
    assert captured.out.count("\n") == 1
    assert "1 error in 1 file" in captured.err


def test_junit_fails_what_the_command_fails_for(flows: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "junit", "--fail-on", "never", "flows"]) == 0
    assert ElementTree.fromstring(capfd.readouterr().out).get("failures") == "0"
    assert main(["check", "--format", "junit", "flows"]) == 1
    assert ElementTree.fromstring(capfd.readouterr().out).get("failures") == "1"
