"""An assistant whose agent touches protected files: a person is asked before the check of that iteration begins."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.assistants.support.project import EngineProject, Facts

GOOD, WEAK = "raise SystemExit(1)\n", "raise SystemExit(0)\n"


class Guarded(EngineProject):
    """Judged by `test_sum.py`, which fails as long as it is what it was."""

    def prepare(self, bash: str, **more: Any) -> None:
        (self.root / "test_sum.py").write_text(GOOD)
        (self.root / "package.json").write_text("{}\n")
        self.criterion("test_pass", f"{sys.executable} test_sum.py", maxIterations=2)
        self.agent.say({"text": "done", "bash": bash, **more}, {"text": "again"})

    async def asked(self, run_id: str) -> dict[str, Any]:
        return await self.until_kind(run_id, "manual_approval_required")

    async def answer(self, run_id: str, decision: str) -> dict[str, Any]:
        assert self.engine is not None
        answer = await self.engine.approve(run_id, None, decision == "approve", decision)
        return dict(answer)

    async def facts(self, run_id: str) -> Facts:
        assert self.engine is not None
        return Facts((await self.engine.events(run_id, limit=1000))["events"])


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Guarded]:
    project = Guarded(tmp_path)
    yield project
    await project.close()


@pytest.mark.parametrize(
    ("bash", "touched"),
    [
        (f"printf '{WEAK}' > test_sum.py", [{"path": "test_sum.py", "change": "changed"}]),
        ("rm package.json", [{"path": "package.json", "change": "deleted"}]),
        ("echo ' ' >> fixer.assistant.json", [{"path": "fixer.assistant.json", "change": "changed"}]),
        ("echo >> .loop-ls.yaml", [{"path": ".loop-ls.yaml", "change": "changed"}]),
        ("echo 'assert: []' > a.checks.yaml", [{"path": "a.checks.yaml", "change": "created"}]),
        ("mkdir .claude && echo {} > .claude/settings.json", [{"path": ".claude/settings.json", "change": "created"}]),
        ("mkdir deep && echo > deep/CLAUDE.md", [{"path": "deep/CLAUDE.md", "change": "created"}]),
        ("chmod 755 package.json", [{"path": "package.json", "change": "changed"}]),
        ("rm package.json && ln -s /etc/hosts package.json", [{"path": "package.json", "change": "changed"}]),
    ],
)
async def test_UP_91_an_agent_that_edits_what_judges_it_is_stopped_before_the_check_counts(
    project: Guarded, bash: str, touched: list[dict[str, str]]
) -> None:
    project.prepare(bash)
    run_id = await project.started()
    asked = await project.asked(run_id)
    assert asked["protected"] == touched
    assert all(one["path"] in asked["output"] for one in touched)
    assert (await project.facts(run_id)).of("judged") == []
    state = await project.state(run_id)
    assert (state["status"], state["pendingApproval"]["protected"]) == ("waiting_approval", touched)
    await project.answer(run_id, "reject")
    facts = await project.ended(run_id)
    assert facts.of("judged") == []
    assert (facts.end["kind"], facts.end["reason"]) == ("failed", "rejected")
    assert touched[0]["path"] in facts.end["error"]["message"]
    assert len(project.agent.calls) == 1


async def test_UP_91_a_module_that_takes_the_place_of_the_test_runner_is_asked_about(project: Guarded) -> None:
    project.prepare("echo 'raise SystemExit(0)' > unittest.py")
    project.criterion("test_pass", f"{sys.executable} -m unittest test_sum", maxIterations=2)
    run_id = await project.started()
    assert (await project.asked(run_id))["protected"] == [{"path": "unittest.py", "change": "created"}]
    await project.answer(run_id, "restore")
    facts = await project.ended(run_id)
    assert not (project.root / "unittest.py").exists()
    assert [judged["verdict"] for judged in facts.of("judged")] == ["no", "no"]


async def test_UP_91_what_is_not_protected_is_nobodys_question(project: Guarded) -> None:
    project.prepare(
        "echo 1 > sum.py; mkdir -p src .pytest_cache && echo 2 > src/a.py && echo > .pytest_cache/README.md"
    )
    facts = await project.run()
    assert facts.of("manual_approval_required") == []
    assert [fact["verdict"] for fact in facts.of("judged")] == ["no", "no"]


async def test_UP_92_what_a_person_puts_back_judges_as_before_and_the_agent_hears_of_it(project: Guarded) -> None:
    project.prepare(f"printf '{WEAK}' > test_sum.py; rm package.json; echo > AGENTS.md")
    run_id = await project.started()
    await project.asked(run_id)
    assert (await project.answer(run_id, "restore"))["ok"]
    facts = await project.ended(run_id)
    assert [fact["verdict"] for fact in facts.of("judged")] == ["no", "no"]
    assert (project.root / "test_sum.py").read_text() == GOOD
    assert (project.root / "package.json").read_text() == "{}\n"
    assert not (project.root / "AGENTS.md").exists()
    taken = project.data / "protected" / run_id / "taken"
    assert (taken / "test_sum.py").read_text() == WEAK
    assert (taken / "AGENTS.md").exists()
    assert not (taken.parent / "copies").exists()
    assert facts.of("warning")[0]["code"] == "protected_restored"
    assert "restored these files: AGENTS.md, package.json, test_sum.py" in project.agent.messages[1]


async def test_UP_91_what_a_person_allows_counts(project: Guarded) -> None:
    project.prepare(f"printf '{WEAK}' > test_sum.py")
    run_id = await project.started()
    await project.asked(run_id)
    await project.answer(run_id, "approve")
    facts = await project.ended(run_id)
    assert (facts.end["reason"], len(facts.of("manual_approval_required"))) == ("condition_met", 1)


async def test_UP_91_an_agent_that_fails_after_its_edit_asks_all_the_same(project: Guarded) -> None:
    project.prepare("rm package.json", exit=1)
    run_id = await project.started()
    assert (await project.asked(run_id))["protected"] == [{"path": "package.json", "change": "deleted"}]
    await project.answer(run_id, "approve")
    assert (await project.ended(run_id)).end["kind"] == "failed"


async def test_UP_93_the_settings_protect_more_and_allow_some(project: Guarded) -> None:
    project.settings["protect"] = {"files": ["golden/**"], "allow": ["package.json"]}
    project.prepare("rm package.json; mkdir golden; echo > golden/a.txt")
    run_id = await project.started()
    assert (await project.asked(run_id))["protected"] == [{"path": "golden/a.txt", "change": "created"}]
    await project.answer(run_id, "reject")
    await project.ended(run_id)


async def test_answers_that_the_question_does_not_offer_are_refused(project: Guarded) -> None:
    project.prepare("rm package.json")
    project.settings["assistants"] = {"revise": True}
    project.write()
    run_id = await project.started()
    await project.asked(run_id)
    assert (await project.answer(run_id, "revise"))["code"] == "bad_argument"
    await project.answer(run_id, "reject")
    await project.ended(run_id)
    project.criterion("manual", maxIterations=1)
    project.agent.say({"text": "plain"})
    run_id = await project.started()
    await project.asked(run_id)
    assert (await project.answer(run_id, "restore"))["code"] == "bad_argument"
    await project.answer(run_id, "approve")
    await project.ended(run_id)
