"""Caps through the whole engine: in force before each call, kept across crashes, and never a failure."""

from __future__ import annotations

import asyncio

import pytest

from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.projections.history import iterations
from loop_ls.testing.models import SILENCE
from tests.engine.control.support.project import Project

PARALLEL = """
    execution: {provider: ollama, model: m, max_tokens: 100, parallel: true, max_workers: 8}
    steps:
""" + "".join(f'      - {{name: s{n}, run: "Write {{{{input}}}}"}}\n' for n in range(8))


async def test_UP_46_a_run_ends_before_the_call_that_could_pass_its_dollars(project: Project) -> None:
    """Each draft costs 50 cents and might cost a dollar; a verdict costs 2 cents and might cost 64."""
    project.models.script["judge"] = ["NO"]
    facts = await project.run(limits={"budgetUsd": 2.2})
    end = facts[-1]
    assert (end["kind"], end["reason"]) == ("completed", "budget")
    assert end["lastOutput"] == "w" * 50
    assert "`budgetUsd`" in end["because"]
    spent = sum(fact["usd"] for fact in facts if fact["kind"] == "call")
    assert 0 < spent <= 2.2


async def test_a_cap_of_the_settings_is_as_good_and_is_seen_in_every_state(project: Project) -> None:
    project.settings("limits: {budgetUsd: 1.2}\njudge: {local: true}\n" + (project.root / ".loop-ls.yaml").read_text())
    project.write(polish=(project.root / "polish.yaml").read_text().split("\n", 3)[3].replace("is good", "says GOOD"))
    facts = await project.run()
    assert facts[-1]["reason"] == "budget"
    state = await project.state(facts[0]["runId"])
    assert state["caps"] == {"budgetUsd": 1.2}
    assert state["costUsd"] == 0.5
    assert (state["status"], state["exitCode"]) == ("completed", 3)
    assert "budgetUsd" in state["because"]


async def test_UP_46_parallel_calls_share_the_cap_and_do_not_overshoot_it(project: Project) -> None:
    project.write(many=PARALLEL)
    project.models.default = "w" * 100
    project.models.wait = lambda request: 0.001
    facts = await project.run("many", limits={"budgetUsd": 3.5})
    assert facts[-1]["reason"] == "budget"
    calls = [fact for fact in facts if fact["kind"] == "call"]
    assert len(calls) == len(project.models.requests) == 3
    assert sum(fact["usd"] for fact in calls) == 3.0
    assert project.models.most_at_once == 3


async def test_UP_46_a_called_workflow_and_its_loop_share_the_cap_of_the_run(project: Project) -> None:
    project.write(outer='steps:\n  - {name: inner, template: {name: polish, with: {input: "y"}}}\n')
    project.models.script["judge"] = ["NO"]
    facts = await project.run("outer", limits={"maxTokens": 1200})
    assert facts[-1]["reason"] == "budget"
    used = sum(sum(fact["tokens"].values()) for fact in facts if fact["kind"] == "call")
    assert 0 < used <= 1200


async def test_the_warning_stands_in_the_journal_once(project: Project) -> None:
    project.models.script["judge"] = ["NO", "NO", "NO", "YES"]
    facts = await project.run(limits={"budgetUsd": 2.6, "maxTokens": 100000})
    warnings = [fact for fact in facts if fact["kind"] == "budget_warning"]
    assert len(warnings) <= 1
    project.write(one='execution: {provider: ollama, model: m, max_tokens: 60}\nsteps: [{name: write, run: "Write"}]\n')
    facts = await project.run("one", limits={"budgetUsd": 0.6})
    assert [fact["spentUsd"] for fact in facts if fact["kind"] == "budget_warning"] == [0.5]
    assert facts[-1]["reason"] == "completed"


async def test_on_failure_does_not_swallow_a_cap(project: Project) -> None:
    text = (project.root / "polish.yaml").read_text().split("\n", 3)[3]
    for policy in ("continue", "retry"):
        project.write(polish=text + f"    on_failure: {policy}\n")
        facts = await project.run(limits={"budgetUsd": 0.7})
        assert facts[-1]["reason"] == "budget", policy
        assert not [fact for fact in facts if fact["kind"] == "retrying"]


async def test_UP_51_a_run_at_its_cap_keeps_the_best_it_has(project: Project) -> None:
    project.models.script |= {"write": ["v1", "v2", "v3"], "judge": ["NO"]}
    facts = await project.run()
    assert (facts[-1]["reason"], facts[-1]["finalOutput"]) == ("max_iterations", "v3")
    assert [fact["output"] for fact in facts if fact["kind"] == "iteration"][:2] == ["v1", "v2"]
    assert (await project.state(facts[0]["runId"]))["exitCode"] == 3


async def test_UP_46_a_run_ends_when_its_time_is_over_and_keeps_what_it_has(project: Project) -> None:
    project.models.script |= {"write": ["one", SILENCE], "judge": ["NO"]}
    facts = await project.run(limits={"wallClock": 0.2})
    assert (facts[-1]["kind"], facts[-1]["reason"], facts[-1]["lastOutput"]) == ("completed", "time_limit", "one")
    assert "`wallClock` of 0.2 s" in facts[-1]["because"]


async def test_what_a_lost_answer_cost_is_counted(project: Project) -> None:
    project.models.script["write"] = [ModelFailure("truncated", "the answer broke off")]
    facts = await project.run(limits={"budgetUsd": 50, "maxTokens": 5000})
    lost = next(fact for fact in facts if fact["kind"] == "call")
    assert lost["error"]["code"] == "truncated"
    assert lost["tokens"]["input"] > 0


async def test_a_mock_run_costs_nothing_and_so_meets_no_cap(project: Project) -> None:
    project.models.script["judge"] = ["YES"]
    facts = await project.run(mock=True, limits={"budgetUsd": 0.01})
    assert facts[-1]["reason"] == "condition_met"


async def test_UP_46_what_was_spent_before_a_crash_is_spent(project: Project) -> None:
    project.models.script |= {"write": ["w" * 50, SILENCE], "judge": ["NO"]}
    answer = await project.start(limits={"budgetUsd": 1.8})
    assert project.engine is not None
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(0):
            if event["kind"] == "step_started" and event.get("iteration") == 2:
                break
    await project.close()
    project.models.script["write"] = ["w" * 50]
    await project.open()
    facts = await project.ended(answer["runId"])
    assert facts[-1]["reason"] == "budget"
    assert sum(fact["usd"] for fact in facts if fact["kind"] == "call") <= 1.8


async def test_UP_78_every_step_of_every_iteration_can_be_looked_into(project: Project) -> None:
    """Output, verdict, question, duration and cost of each, and the file in which it is written."""
    text = (project.root / "draft.yaml").read_text()
    project.write(draft=text.split("\n", 3)[3] + '  - {name: check, needs: [write], run: "Check {{write}}"}\n')
    project.models.script |= {"check": ["fine"], "judge": ["NO", "NO", "YES"]}
    rows = iterations("r", await project.run(limits={"budgetUsd": 100}))
    assert [row["verdict"] for row in rows] == ["no", "no", "yes"]
    assert all("The draft is good" in row["question"] and row["usd"] > 0.5 for row in rows)
    stages = [stage for row in rows for stage in row["stages"]]
    assert [stage["name"] for stage in stages] == ["write", "check"] * 3
    for stage in stages:
        assert (stage["file"], stage["status"]) == ("draft.yaml", "completed")
        assert stage["output"] and stage["usd"] > 0
        assert stage["completed_at"] >= stage["started_at"]


async def test_a_forked_iteration_costs_the_fork_nothing(project: Project) -> None:
    project.models.script["judge"] = ["NO", "YES"]
    first = await project.run(limits={"budgetUsd": 100})
    assert project.engine is not None
    fork = await project.engine.fork(first[0]["runId"], 2)
    rows = iterations("r", await project.ended(fork["runId"]))
    assert "usd" not in rows[0]
    assert rows[1]["usd"] > 0


async def test_every_fact_says_what_was_spent_so_far_also_after_a_crash(project: Project) -> None:
    project.settings("providers: {ollama: {price: {input: 1000, output: 1000}}}\n")
    project.models.script |= {"write": ["v1", "v2"], "judge": ["NO", SILENCE]}
    run_id = (await project.start())["runId"]
    engine = project.engine
    assert engine is not None
    async with asyncio.timeout(60):
        while len(project.models.asked("judge")) < 2:
            await asyncio.sleep(0)
    await engine.control("pause", run_id)
    await project.close()
    project.models.script["judge"] = ["NO", "YES", "YES"]
    await project.open()
    engine = project.engine
    assert engine is not None
    await engine.control("resume", run_id)
    facts = await project.ended(run_id)
    so_far, tokens = 0.0, 0
    for fact in facts:
        if fact["kind"] == "call":
            so_far += fact.get("usd") or 0.0
            tokens += fact["tokens"]["input"] + fact["tokens"]["output"]
        # What a person did while nobody had the run, and its recovery, are told without an account.
        if fact["kind"] not in ("recovered", "resumed") and tokens:
            assert fact["spent"]["tokens"] == tokens, fact
            assert fact["spent"].get("usd", 0.0) == pytest.approx(so_far, abs=1e-6)
    assert tokens > 0
    assert {"paused", "completed", "judged", "iteration"} <= {fact["kind"] for fact in facts if "spent" in fact}
