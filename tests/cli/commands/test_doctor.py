"""`loop-ls doctor`: what is said of this machine, above all which sandbox is in force."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.main import main
from loop_ls.engine.subprocesses import sandbox
from loop_ls.engine.subprocesses.sandbox import Landlock, NoSandbox, find_sandbox

KEY = "sk-a-secret-key-1234567890"


def told(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["doctor", *words]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (Landlock(4), "Landlock 4 with seccomp"),
        (NoSandbox("This machine has none."), "none: `readonly-shell` roles have no shell"),
    ],
)
def test_it_says_which_sandbox_is_in_force(
    found: Any, line: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "find_sandbox", lambda: found)
    text = told(capfd)
    assert line in text
    assert ("This machine has none." in text) is isinstance(found, NoSandbox)


def test_as_an_object_it_names_keys_and_never_shows_them(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    text = told(capfd, "--json")
    found = json.loads(text)
    assert "OPENAI_API_KEY" in found["keys"]
    assert KEY not in text + told(capfd)
    real = find_sandbox()
    assert found["sandbox"]["name"] == (None if isinstance(real, NoSandbox) else real.name)
    assert found["extras"]["mcp"] is True
    assert set(found["agents"]) == {"claude-code", "codex", "opencode"}


def test_it_says_which_agents_of_the_project_nobody_can_fence_in(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".loop-ls.yaml").write_text(
        "providers:\n"
        "  claude-code: {kind: agent-cli, cli: [my-agent, --file, '{message_file}']}\n"
        "  planted: {kind: agent-cli, cli: [./claude]}\n"
        "  codex: {kind: agent-cli, cli: [/opt/bin/codex]}\n"
        "  escaped: {kind: agent-cli, cli: ['a\\e[2J']}\n"
        "  broken: {kind: agent-cli}\n"
        "  house: {kind: openai, baseUrl: 'https://models.example/v1'}\n"
    )
    text = told(capfd, "--root", str(tmp_path))
    assert "claude-code: not sandboxed: `my-agent --file '{message_file}'` uses all of its own tools" in text
    assert "planted: not sandboxed" in text
    assert text.count("not sandboxed") == 3
    assert "\x1b" not in text
    assert set(json.loads(told(capfd, "--root", str(tmp_path), "--json"))["notFenced"]) == {
        *("claude-code", "planted", "escaped"),
    }
