"""A project in Git whose assistant works in a worktree of its own, and what is the user's there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.engine.assistants.support.project import EngineProject, Facts
from tests.engine.isolation.kinds import git, picture

#: Done again after a crash, it leaves the same.
WORK = "test -e one && touch done; touch one; echo new > a.py"


def prepare(project: EngineProject, *script: dict[str, Any], **keys: Any) -> None:
    (project.root / "a.py").write_text("old\n")
    (project.root / "check.py").write_text("import os\nraise SystemExit(not os.path.exists('done'))\n")
    project.criterion("test_pass", f"{sys.executable} check.py", **{"isolate": "worktree", **keys})
    git(project.root, "init", "-q", "-b", "main")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "first")
    (project.root / "mine.txt").write_text("untracked\n")
    project.agent.say(*(script or [{"text": "done", "bash": WORK}] * 9))


class Isolated(EngineProject):
    """Its test passes once `done` is there."""

    def prepare(self, *script: dict[str, Any], **keys: Any) -> None:
        prepare(self, *script, **keys)

    def users(self) -> dict[str, object]:
        return picture(self.root)

    async def facts(self, run_id: str) -> Facts:
        assert self.engine is not None
        return Facts((await self.engine.events(run_id, limit=1000))["events"])

    async def decide(self, run_id: str, decision: str) -> dict[str, Any]:
        assert self.engine is not None
        return dict(await self.engine.decide_changes(run_id, decision))

    def branches(self) -> list[str]:
        return [line.strip(" *+") for line in git(self.root, "branch").splitlines()]


def files_of(root: Path, commit: str) -> dict[str, str]:
    names = git(root, "ls-tree", "-r", "--name-only", commit).split()
    return {name: git(root, "show", f"{commit}:{name}") for name in names if name in ("a.py", "one", "done")}
