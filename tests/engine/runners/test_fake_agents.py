"""The fakes refuse what the real programs refuse; `tests/real_clis` tries the same with those."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.runners.support import agents
from tests.engine.runners.support.cli_contract import REFUSED

FAKE = Path(agents.__file__).with_name("fake_agent.py")
CLAUDE = Path(agents.__file__).with_name("fake_claude.py")
SESSION = "89badb13-db8e-4fe7-8133-6f283ed344ad"


def fake(tmp_path: Path, speaks: str, words: tuple[str, ...], message: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FAKE), speaks, str(tmp_path / "log"), "fine", *words]
    return subprocess.run(command, input=message, text=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("why", REFUSED)
def test_a_fake_refuses_what_the_real_program_refuses(tmp_path: Path, why: str) -> None:
    ended = fake(tmp_path, *REFUSED[why])
    assert ended.returncode != 0
    assert ended.stderr
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("speaks", "words"),
    [
        ("claude-code", ("--print", "--verbose", "--output-format", "stream-json", "--session-id", SESSION)),
        ("codex", ("exec", "--json", "--skip-git-repo-check", "-c", "a=1", "-")),
        ("opencode", ("run", "--format", "json", "--pure")),
    ],
)
def test_a_fake_takes_what_the_real_program_takes(tmp_path: Path, speaks: str, words: tuple[str, ...]) -> None:
    ended = fake(tmp_path, speaks, words, "hi")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "fine" in ended.stdout
    assert json.loads((tmp_path / "log").read_text())["words"] == list(words)


@pytest.mark.parametrize(("kept", "status"), [((), 1), (("--no-session-persistence",), 0)])
def test_a_session_that_was_kept_is_not_begun_again(tmp_path: Path, kept: tuple[str, ...], status: int) -> None:
    (tmp_path / "script.json").write_text('[{"text": "fine"}]')
    command = [sys.executable, str(CLAUDE), str(tmp_path), "--print", "--session-id", SESSION, *kept]
    ends = [subprocess.run(command, input="hi", text=True, capture_output=True, timeout=60) for _ in range(2)]
    assert [end.returncode for end in ends] == [0, status]
