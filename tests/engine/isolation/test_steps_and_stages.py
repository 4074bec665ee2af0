"""Steps of workflows and stages of role loops whose agents work in a worktree of their own."""

from __future__ import annotations

import json
from pathlib import Path

from loop_ls.testing.models import calls
from tests.engine.isolation.kinds import git
from tests.engine.roles.conftest import EngineProject
from tests.engine.roles.conftest import project as roles
from tests.engine.runners.test_agents_in_workflows import AgentProject
from tests.engine.runners.test_agents_in_workflows import project as steps

__all__ = ["roles", "steps"]


def tracked(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")


async def test_a_step_of_an_agent_that_says_it_works_there(steps: AgentProject) -> None:
    settings = json.loads((steps.root / ".loop-ls.yaml").read_text())
    settings["providers"]["claude-code"]["isolate"] = "worktree"
    (steps.root / ".loop-ls.yaml").write_text(json.dumps(settings))
    tracked(steps.root)
    steps.agent.say({"text": "one", "bash": "echo hi > made.txt"}, {"text": "YES"})
    ended = await steps.ended((await steps.start())["runId"])
    (made,) = [fact for fact in ended if fact["kind"] == "worktree_made"]
    commits = [fact for fact in ended if fact["kind"] == "worktree_committed"]
    assert [(one.get("loop"), one.get("iteration"), one.get("verdict")) for one in commits] == [
        ("polish", 1, "yes"),
        (None, None, None),
    ]
    assert git(steps.root, "show", f"{made['branch']}:made.txt") == "hi\n"
    assert not (steps.root / "made.txt").exists()


async def test_a_role_that_says_it_works_there_and_its_loop_with_it(roles: EngineProject) -> None:
    settings = (roles.root / ".loop-ls.yaml").read_text()
    roles.write(".loop-ls.yaml", settings + "roles: {coder: {isolate: worktree}}\n")
    tracked(roles.root)
    roles.say(write=[calls(("shell", {"command": "echo hi > made.txt"})), "done"])
    run_id = await roles.start()
    facts = await roles.ended(run_id)
    assert not (roles.root / "made.txt").exists(), facts
    (made,) = await roles.facts(run_id, "worktree_made")
    assert git(roles.root, "show", f"{made['branch']}:made.txt") == "hi\n"
    assert len(await roles.facts(run_id, "worktree_committed")) >= 2
