"""The changes of a run in a worktree of its own, seen and decided on the command line."""

from __future__ import annotations

import json
import re
import sys

from tests.cli.conftest import CliProject
from tests.engine.isolation.kinds import git

AGENT = """\
import pathlib
made = pathlib.Path("made.txt")
made.write_text((made.read_text() if made.exists() else "") + "line\\n")
print("done")
"""
ASSISTANT = """\
name: Maker
persona: You make.
loopEnabled: true
loopCriteria: {type: max_iterations}
maxIterations: 2
isolate: worktree
"""


def test_a_run_in_a_worktree_is_shown_restored_and_applied_from_the_terminal(alone: CliProject) -> None:
    alone.write("agent.py", AGENT)
    agent = json.dumps([sys.executable, str(alone.root / "agent.py")])
    alone.write(".loop-ls.yaml", f"providers: {{claude-code: {{kind: agent-cli, cli: {agent}}}}}\n")
    alone.write("maker.assistant.yaml", ASSISTANT)
    git(alone.root, "init", "-q", "-b", "main")
    git(alone.root, "add", "-A")
    git(alone.root, "commit", "-q", "-m", "first")
    done = alone.call("run", "maker.assistant.yaml", "--input", "Make", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    run_id = re.findall(r"loop-ls runs changes (\w+)\.", done.stderr)[0]
    assert "1 file changed on branch loop-ls/maker-" in done.stderr
    assert not (alone.root / "made.txt").exists()

    shown = alone.call("runs", "changes", run_id).stdout
    assert "  A made.txt\n" in shown
    assert "+line\n+line\n" in shown
    assert f"e.g. loop-ls runs apply {run_id}" in shown
    assert "1 file changed on branch" in alone.call("runs", "status", run_id).stdout

    wrong = alone.call("runs", "restore", run_id, "--iteration", "1", "--loop", "other")
    assert (wrong.returncode, "has no commit of iteration 1" in wrong.stderr) == (2, True)
    back = alone.call("runs", "restore", run_id, "--iteration", "1", "--loop", "Maker")
    assert back.returncode == 0, back.stderr
    assert back.stdout.endswith("is as it was after iteration 1, by a new commit\n")

    applied = alone.call("runs", "apply", run_id)
    assert applied.stdout == f"{run_id}  1 file changed in your folder; nothing is committed\n", applied.stderr
    assert (alone.root / "made.txt").read_text() == "line\n"
    again = alone.call("runs", "apply", run_id, "--json")
    assert (again.returncode, json.loads(again.stdout)["code"]) == (2, "wrong_status")

    kept = alone.call("runs", "keep", run_id)
    assert "the changes are on branch loop-ls/maker-" in kept.stdout
    assert alone.call("runs", "discard", run_id).stdout == f"{run_id}  the changes are discarded\n"
    assert git(alone.root, "branch", "--list", "loop-ls/*") == ""
